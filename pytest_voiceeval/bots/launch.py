"""Launchers: three ways to have a bot listening for a call."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import TYPE_CHECKING

from pytest_voiceeval.bots.command import ProcessSettings
from pytest_voiceeval.bots.process import BotProcess
from pytest_voiceeval.model.turns import Side
from pytest_voiceeval.model.work import ClockName
from pytest_voiceeval.scenarios.checks import check_tools
from pytest_voiceeval.wire.address import shown, websocket_url, without_secrets
from pytest_voiceeval.wire.connection import Connection
from pytest_voiceeval.wire.dialect import Dialect, Mode, PcmEncoding, ProtocolName, dialect_of

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
        """The clocks that a call with it can run on: what takes its time elsewhere cannot be declared."""
        return ("charged", "measured", "real") if self.profile.runs_here else ("measured", "real")

    @property
    def fingerprint(self) -> str:
        """A digest of its profile."""
        return self.profile.digest

    @asynccontextmanager
    async def open(self, scenario: Scenario) -> AsyncIterator[str]:
        """Run a fresh bot for one call of ``scenario``; yields its URL.

        Raises:
            DefinitionError: if the scenario's tools are not as they must be, or the rehearsal plays the
                model's part and the scenario has none.
            ProfileError: if a service of the profile cannot be had.
        """
        check_tools(scenario, [self.side], rehearsed=self.profile.is_rehearsed)
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

    Args:
        side: which side of a call it takes.
        url: where it listens.
        protocol: what it speaks: ``rtvi``, ``pcm`` (raw PCM) or ``twilio`` (Twilio Media Streams).
        mode: whether an agent takes prompt, tools and world of a scenario (``evaluated``), or has its own
            (``black-box``); ``auto`` finds out.
        pcm_rate: samples a second of raw PCM: 16000 without it, 8000 of mu-law and A-law.
        pcm_encoding: ``s16le`` (without it), ``f32le``, ``mulaw`` or ``alaw``.
        twilio_parameters: custom parameters of Twilio's message ``start``.

    Attributes:
        clocks: the clocks that a call with it can run on: time elsewhere is real.
        dialect: how it is spoken to.

    Raises:
        DefinitionError: if ``url`` is no WebSocket URL, or the rest does not go together.
    """

    clocks: tuple[ClockName, ...] = ("real",)

    def __init__(  # noqa: PLR0913 -- all that may be special of a bot, by keyword
        self,
        side: Side,
        url: str,
        *,
        protocol: ProtocolName = "rtvi",
        mode: Mode = "auto",
        pcm_rate: int | None = None,
        pcm_encoding: PcmEncoding | None = None,
        twilio_parameters: Mapping[str, str] | None = None,
    ) -> None:
        self.side = side
        self.url = websocket_url(url)
        self.dialect = dialect_of(
            side, Dialect(protocol, mode, pcm_rate, pcm_encoding, dict(twilio_parameters or {}))
        )

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
    """A bot that runs as a process of ours, started at the first call and kept for the next ones.

    One that has crashed between two calls is started again, once; one that ends with exit code 0 after a call
    is started anew for each.

    Args:
        side: which side of the call it plays.
        command: what is run, with ``{port}`` where it takes its port; words are split as in a shell.
        log_path: file to which all that it prints is appended.
        start_seconds: time that it has from its start until it is ready for a call.
        cwd: folder that it runs in; ``None`` for that of this process.
        env: environment variables beside those of this process.
        packs: folders of packs that it is to know (``VOICEEVAL_PACKS``).
        path: where on its port it takes calls, such as ``/ws``.
        dialect: how it is spoken to; without it, it speaks RTVI, and whether an agent is a black box is
            found out.

    Raises:
        DefinitionError: if ``command`` cannot be read, or has no place for the port.
    """

    clocks: tuple[ClockName, ...] = ("real",)

    def __init__(  # noqa: PLR0913 -- all that may be special of a process, by keyword
        self,
        side: Side,
        command: str,
        log_path: Path,
        *,
        start_seconds: float = 60.0,
        cwd: Path | None = None,
        env: Mapping[str, str] | None = None,
        packs: Sequence[Path] = (),
        path: str = "",
        dialect: Dialect | None = None,
    ) -> None:
        self.side = side
        self.dialect = dialect_of(side, dialect or Dialect(mode="auto"))
        settings = ProcessSettings(start_seconds, cwd, dict(env or {}), tuple(packs), path)
        self._process = BotProcess(side, command, log_path, settings)

    @property
    def label(self) -> str:
        """What it is, for messages: its command without secrets."""
        return f"cmd:{without_secrets(self._process.command)}"

    @property
    def trace_file(self) -> Path:
        """Where an agent may write figures of its own of a call."""
        return self._process.trace_file

    @property
    def ready_seconds(self) -> float:
        """How long it may take to say that it is ready."""
        return self._process.ready_seconds

    @property
    def restarted(self) -> str:
        """Why its process was started again before this call; empty if it was not."""
        return self._process.restarted

    def open(self, scenario: Scenario) -> AbstractAsyncContextManager[str]:
        """Have the process running; yields the URL at which it is to listen: ``connect`` waits until it does.

        Raises:
            BotProcessError: if it cannot be started, or dies.
        """
        return self._process.running()

    async def connect(self, url: str, limit: float) -> Connection:
        """Return a connection to it at ``url``; one that is coming up is waited for.

        Raises:
            OSError: if it is up and accepts none within ``limit`` seconds.
            BotProcessError: if it is coming up and dies, or takes too long.
        """
        return await self._process.connect(url, limit)

    async def ended(self, patience: float) -> str:
        """Return how its process ended, if it does within ``patience`` seconds; empty if it runs on."""
        return await self._process.ended(patience)

    def close(self) -> None:
        """End the process and all that it started; may be called twice."""
        self._process.close()
