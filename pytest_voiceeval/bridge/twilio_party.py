"""A side of a call that speaks Twilio Media Streams; the bridge plays Twilio's part."""

from __future__ import annotations

import asyncio
from functools import partial
from typing import Any

from pytest_voiceeval.audio import g711
from pytest_voiceeval.audio.pcm import Int16s
from pytest_voiceeval.bridge.endpoint import Peer
from pytest_voiceeval.bridge.party import Opener
from pytest_voiceeval.bridge.sound_party import SoundParty
from pytest_voiceeval.wire.frames import Audio, Interruption, PlaybackMark
from pytest_voiceeval.wire.twilio import MESSAGE_SECONDS, RATE_HZ, Stream, parse

MESSAGE_BYTES = round(RATE_HZ * MESSAGE_SECONDS)


class TwilioParty(SoundParty):
    """A bot behind a telephone line, as Twilio would put it there; arguments are those of its base."""

    frames = frozenset({Audio, Interruption, PlaybackMark})
    expected = "Twilio Media Streams"
    sent_hz = RATE_HZ

    def __init__(self, peer: Peer, opener: Opener, tasks: asyncio.TaskGroup, **options: Any) -> None:
        super().__init__(peer, opener, tasks, **options)
        self._stream = Stream(peer.dialect.twilio_parameters)
        self._unsent = b""
        self._has_begun = False

    def begin(self) -> None:
        """Tell that the call is there, and hear the bot from its first sound on."""
        self._has_begun = True
        for message in self._stream.opening():
            self.send_frame(message)
        super().begin()

    def send_sound(self, samples: Int16s) -> None:
        """Send samples in messages of 20 ms."""
        sound = self._unsent + g711.encoded(samples, "mulaw")
        while len(sound) >= MESSAGE_BYTES:
            self.send_frame(self._stream.media(sound[:MESSAGE_BYTES]))
            sound = sound[MESSAGE_BYTES:]
        self._unsent = sound

    def digest(self, content: bytes | str) -> None:
        """Do what a message asks for; raises WireError."""
        message = parse(content, self._stream.sid)
        if message.event == "media":
            samples = g711.decoded(message.sound, "mulaw")
            self._hear(Audio(samples.astype("<i2").tobytes(), RATE_HZ))
        elif message.event == "clear":
            self._hear(Interruption())
        else:
            self._hear(PlaybackMark(partial(self._return_mark, message.mark_name)))

    async def close(self) -> None:
        """Tell that the call is over, and hang up; may be called twice."""
        if self._has_begun and not self.lost.done():
            self.send_frame(self._stream.stop())
        self._has_begun = False
        await super().close()

    def _return_mark(self, name: str) -> None:
        self.send_frame(self._stream.mark(name))
