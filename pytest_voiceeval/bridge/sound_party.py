"""A side of a call of which nothing is had but its sound."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from pytest_voiceeval.audio.jitter import PlayedFrame
from pytest_voiceeval.audio.pcm import Int16s, to_int16
from pytest_voiceeval.audio.steady import SteadyResampler
from pytest_voiceeval.bridge.endpoint import Peer
from pytest_voiceeval.bridge.leg import Leg
from pytest_voiceeval.bridge.party import Opener
from pytest_voiceeval.wire.connection import Connection
from pytest_voiceeval.wire.frames import Audio, Frame
from pytest_voiceeval.wire.requests import RequestFailedError
from pytest_voiceeval.wire.rtvi import Request


class SoundParty(Leg):
    """A black box: it is called, and hears and speaks. Each protocol has a subclass.

    Args:
        peer: which bot.
        opener: opens a connection.
        tasks: the call's task group.
        rate_hz: rate of the sound that the call has for it.
        hear: takes what it says.
        note: takes lines for the bridge's log.

    Attributes:
        sent_hz: rate of the sound that is sent.
    """

    frames = frozenset({Audio})
    sent_hz: int

    def __init__(
        self,
        peer: Peer,
        opener: Opener,
        tasks: asyncio.TaskGroup,
        *,
        rate_hz: int,
        hear: Callable[[Frame], None],
        note: Callable[[str], None],
    ) -> None:
        super().__init__(peer, opener, tasks, hear=hear, note=note)
        self._unheard: Connection | None = None
        self._resampler = SteadyResampler(rate_hz, self.sent_hz) if rate_hz != self.sent_hz else None

    async def open(self, limit: float) -> None:
        """Connect within ``limit`` seconds; what comes is heard from the call's beginning on.

        Raises:
            BotUnreachableError: if that fails.
        """
        self._unheard = await self.connect(limit)

    def begin(self) -> None:
        """Hear the bot, from its first sound on."""
        if self._unheard is not None:
            self.listen(self._unheard)

    def play(self, frame: PlayedFrame, noisy: Int16s | None = None) -> None:
        """Send 20 ms of the other side's sound, in place of whose samples the bot may get ``noisy`` ones."""
        samples = frame.samples if noisy is None else noisy
        if self._resampler is not None:
            samples = to_int16(self._resampler.push(samples.astype(np.float32) / np.float32(32768)))
        self.send_sound(samples)

    def send_sound(self, samples: Int16s) -> None:
        """Send samples of ``sent_hz`` in the protocol's form."""
        raise NotImplementedError

    async def send_text(self, content: str) -> None:
        """Do nothing: such a bot only hears."""

    async def ask(self, request: Request, arguments: Mapping[str, Any], *, limit: float) -> Any:
        """Raise RequestFailedError: such a bot cannot be asked."""
        raise RequestFailedError(f"no answer to {request}: nothing but sound goes over {self.expected}")
