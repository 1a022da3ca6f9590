"""A side of a call that speaks raw PCM over a WebSocket: binary messages with samples, and nothing else."""

from __future__ import annotations

import asyncio
from typing import Any

from pytest_voiceeval.audio.pcm import Int16s
from pytest_voiceeval.audio.samples import SampleReader, encoded
from pytest_voiceeval.bridge.endpoint import Peer
from pytest_voiceeval.bridge.party import Opener
from pytest_voiceeval.bridge.sound_party import SoundParty
from pytest_voiceeval.errors import WireError
from pytest_voiceeval.wire.frames import Audio


class PcmParty(SoundParty):
    """A bot that takes and gives samples of one rate and encoding, mono; arguments are those of its base."""

    expected = "raw PCM"

    def __init__(self, peer: Peer, opener: Opener, tasks: asyncio.TaskGroup, **options: Any) -> None:
        self.sent_hz = peer.dialect.rate_hz
        super().__init__(peer, opener, tasks, **options)
        self._encoding = peer.dialect.encoding
        self._reader = SampleReader(self._encoding)

    def send_sound(self, samples: Int16s) -> None:
        """Send samples, one message for each 20 ms."""
        self.send_frame(encoded(samples, self._encoding))

    def digest(self, content: bytes | str) -> None:
        """Hear a message, which may be of any length; raises WireError for a text."""
        if isinstance(content, str):
            raise WireError("a text message where only binary ones belong: raw PCM is nothing but samples")
        self._hear(Audio(self._reader.read(content).astype("<i2").tobytes(), self.sent_hz))
