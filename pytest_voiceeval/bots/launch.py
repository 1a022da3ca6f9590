"""Launchers: three ways to have a bot listening for a call."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import TYPE_CHECKING

from pytest_voiceeval.bots.process import BotProcess
from pytest_voiceeval.model.turns import Side
from pytest_voiceeval.model.work import ClockName
from pytest_voiceeval.scenarios.checks import check_tools
from pytest_voiceeval.wire.address import shown, websocket_url

if TYPE_CHECKING:
    from pathlib import Path

    from pytest_voiceeval.bots.profile import Profile
    from pytest_voiceeval.bots.speech_cache import SpeechCache
    from pytest_voiceeval.scenarios.base import Scenario


class LocalBot:
    """A bot in this process, on the call's own event loop, made of the services of a profile.

    Attributes:
        variant: which rehearsal plays the model's part, where the profile has no model.
        cache: keeps what is said of a rehearsal; ``None`` for no cache.
    """

    takes_pieces = True
    concurrent_calls = sys.maxsize  # each has a bot of its own

    def __init__(
        self, side: Side, profile: Profile, variant: str = "gold", *, cache: SpeechCache | None = None
    ) -> None:
        self.side = side
        self.profile = profile
        self.variant = variant
        self.cache = cache

    @property
    def label(self) -> str:
        """What it is, for messages."""
        return f"local bot (profile {self.profile.name})"

    @property
    def clocks(self) -> tuple[ClockName, ...]:
        """The clocks that a call with it can run on: a model's thinking time cannot be declared."""
        return ("charged", "measured", "real") if self._is_rehearsed else ("measured", "real")

    @property
    def fingerprint(self) -> str:
        """A digest of its profile."""
        return self.profile.digest

    @property
    def _is_rehearsed(self) -> bool:
        return self.profile.llm.service == "rehearsal"

    @asynccontextmanager
    async def open(self, scenario: Scenario) -> AsyncIterator[str]:
        """Run a fresh bot for one call of ``scenario``; yields its URL.

        Raises:
            DefinitionError: if the scenario's tools are not as they must be, or the rehearsal plays the
                model's part and the scenario has none.
            ProfileError: if a service of the profile cannot be had.
        """
        check_tools(scenario, [self.side], rehearsed=self._is_rehearsed)
        # Heavy: a run that only collects, or only talks to bots of others, does without.
        from pytest_voiceeval.bots.model_access import model_access  # noqa: PLC0415
        from pytest_voiceeval.bots.profile import require_packages  # noqa: PLC0415

        require_packages(self.profile)
        from pytest_voiceeval.bots.pipeline import running_bot  # noqa: PLC0415

        async with (
            model_access(self.profile, self.side, [scenario], self.variant) as access,
            running_bot(self.profile, self.side, access, cache=self.cache) as bot,
        ):
            yield bot.url

    def close(self) -> None:
        """Do nothing: such a bot is gone when its call is over."""


class RemoteBot:
    """A bot that somebody else runs.

    Attributes:
        clocks: the clocks that a call with it can run on: time elsewhere is real.

    Raises:
        DefinitionError: if ``url`` is no WebSocket URL.
    """

    clocks: tuple[ClockName, ...] = ("real",)

    def __init__(self, side: Side, url: str) -> None:
        self.side = side
        self.url = websocket_url(url)

    @property
    def label(self) -> str:
        """What it is, for messages: its URL without user and password."""
        return shown(self.url)

    @asynccontextmanager
    async def open(self, scenario: Scenario) -> AsyncIterator[str]:
        """Yield its URL."""
        yield self.url

    def close(self) -> None:
        """Do nothing: it is not ours."""


class CommandBot:
    """A bot that runs as a process of ours, started at the first call and kept for the next ones."""

    clocks: tuple[ClockName, ...] = ("real",)

    def __init__(self, side: Side, command: str, log_path: Path, *, start_seconds: float = 60.0) -> None:
        self.side = side
        self._process = BotProcess(side, command, log_path, start_seconds=start_seconds)

    @property
    def label(self) -> str:
        """What it is, for messages."""
        return f"cmd:{self._process.command}"

    @property
    def trace_file(self) -> Path:
        """Where an agent may write figures of its own of a call."""
        return self._process.trace_file

    def open(self, scenario: Scenario) -> AbstractAsyncContextManager[str]:
        """Have the process listening; yields its URL.

        Raises:
            BotProcessError: if it does not start, dies, or never listens.
        """
        return self._process.listening()

    def close(self) -> None:
        """End the process and all that it started; may be called twice."""
        self._process.close()
