"""What the bridge asks of a bot, wherever it runs."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from pytest_voiceeval.model.turns import Side
from pytest_voiceeval.model.work import ClockName
from pytest_voiceeval.scenarios.base import Scenario
from pytest_voiceeval.wire.address import shown
from pytest_voiceeval.wire.dialect import Dialect
from pytest_voiceeval.wire.limits import HANDSHAKE_SECONDS

if TYPE_CHECKING:
    from pytest_voiceeval.wire.connection import Connection


class Endpoint(Protocol):
    """A bot that calls can be held with, one at a time. Subclass it to bring your own.

    One that can take part in several calls at once says so by an attribute ``concurrent_calls``, how many
    (``SeveralCalls``); ``open`` is then entered that many times at once, on one event loop. With any other,
    calls are held one after another, whatever ``--voice-concurrency`` says.
    """

    @property
    def side(self) -> Side:
        """Which side of a call it takes."""

    @property
    def label(self) -> str:
        """What it is, for messages: an URL without a password, a command, an embedded bot and its profile."""

    @property
    def clocks(self) -> tuple[ClockName, ...]:
        """The clocks that a call with it can run on: for whatever runs elsewhere, only the real one."""
        return ("real",)

    def open(self, scenario: Scenario) -> AbstractAsyncContextManager[str]:
        """Have the bot listening for one call of ``scenario``; yields its ``ws://`` URL.

        Raises:
            BotProcessError: if a process that we run for it does not start.
        """

    def close(self) -> None:
        """Give up what outlives a call, such as a process; may be called twice."""


@runtime_checkable
class Traced(Protocol):
    """A bot that may leave figures of its own of each call in a file, before it gives its evidence."""

    @property
    def trace_file(self) -> Path:
        """Where it writes them, JSON, over those of the call before."""


@runtime_checkable
class Fingerprinted(Protocol):
    """A bot of which is known what it is made of."""

    @property
    def fingerprint(self) -> str | None:
        """A digest of all that its results depend on; ``None`` if it is not known."""


@runtime_checkable
class SeveralCalls(Protocol):
    """A bot that can take part in several calls at once, each with what its own ``open`` yields."""

    @property
    def concurrent_calls(self) -> int:
        """How many, 1 or more."""


@runtime_checkable
class TakesPieces(Protocol):
    """A bot that joins what it hears to pieces (``audio.pieces``), so that it may as well get these."""

    @property
    def takes_pieces(self) -> bool:
        """Whether it does."""


@runtime_checkable
class RunsProcess(Protocol):
    """A bot with a process of ours behind it, which may still come up when it is opened, and may die."""

    @property
    def ready_seconds(self) -> float:
        """How long it may take to say that it is ready, once it has accepted the connection."""

    @property
    def restarted(self) -> str:
        """Why the process was started again before this call; empty if it was not."""

    async def connect(self, url: str, limit: float) -> Connection:
        """Return a connection to it at ``url``; while it is coming up, it is waited for.

        Raises:
            OSError: if it is up and accepts none within ``limit`` seconds.
            BotProcessError: if it is coming up and dies, or takes too long.
        """

    async def ended(self, patience: float) -> str:
        """Return how the process ended, if it does within ``patience`` seconds; empty if it runs on."""


@runtime_checkable
class HasDialect(Protocol):
    """A bot that may be spoken to otherwise than embedded ones are."""

    @property
    def dialect(self) -> Dialect:
        """How it is spoken to."""


@dataclass(frozen=True)
class Peer:
    """A bot that listens: its side, its URL, and what to call it in messages.

    Attributes:
        takes_pieces: whether it may get the other side's sound in pieces, in place of 20 ms frames.
        ready_seconds: how long it may take to say that it is ready, the first time.
        opener: opens a connection to it; ``None`` for the call's own way.
        dialect: how it is spoken to.
    """

    side: Side
    url: str = field(repr=False)
    label: str
    takes_pieces: bool = False
    ready_seconds: float = HANDSHAKE_SECONDS
    opener: Callable[[str, float], Awaitable[Connection]] | None = field(default=None, repr=False)
    dialect: Dialect = field(default_factory=Dialect)

    @property
    def shown(self) -> str:
        """Its side and URL, for messages: without user and password."""
        return f"{self.side} bot at {shown(self.url)}"
