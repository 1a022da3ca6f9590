"""Bots that go wrong on the wire, each in one way."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import Any

import numpy as np

from pytest_voiceeval.testing import BotConnection, FakeBot, Utterance
from pytest_voiceeval.wire import rtvi
from pytest_voiceeval.wire.connection import ConnectionLostError
from pytest_voiceeval.wire.frames import encode_audio, encode_message, frames_pb2
from pytest_voiceeval.wire.rtvi import Envelope


def raw_message(text: str) -> bytes:
    """Return a message frame whose text is sent as it stands."""
    content: bytes = frames_pb2.Frame(message=frames_pb2.MessageFrame(data=text)).SerializeToString()
    return content


class Dumb(FakeBot):
    """Takes the connection and never says anything."""

    async def _answer(self, connection: BotConnection, message: Envelope) -> None:
        return


class Late(FakeBot):
    """Answers one request late."""

    request = "reset"
    seconds = 20.0

    async def _answer(self, connection: BotConnection, message: Envelope) -> None:
        if message.fields.get("t") == self.request:
            self._late = asyncio.create_task(self._answer_late(connection, message))
        else:
            await super()._answer(connection, message)

    async def _answer_late(self, connection: BotConnection, message: Envelope) -> None:
        await asyncio.sleep(self.seconds)
        await super()._answer(connection, message)


class LittleLate(Late):
    """Answers every request late, and within its limit."""

    seconds = 10.0


class LateWithEvidence(Late):
    """Answers the request for its summary after the limit for that."""

    request = "get_scenario_summary"


class Echoing(FakeBot):
    """Sends each reply twice."""

    async def _tell(
        self, connection: BotConnection, kind: str, data: Any, message_id: str | None = None
    ) -> None:
        await super()._tell(connection, kind, data, message_id)
        if message_id is not None:
            await super()._tell(connection, kind, data, message_id)


class WrongId(FakeBot):
    """Answers under an id of its own."""

    async def _tell(
        self, connection: BotConnection, kind: str, data: Any, message_id: str | None = None
    ) -> None:
        other = "mine_1" if kind == rtvi.SERVER_RESPONSE else message_id
        await super()._tell(connection, kind, data, other)


class Flapping(FakeBot):
    """Says that it begins and stops to speak, fifty times a second, whatever it does."""

    async def _say(self, connection: BotConnection, line: Utterance) -> None:
        flapping = asyncio.create_task(self._flap(connection))
        try:
            await super()._say(connection, line)
        finally:
            flapping.cancel()

    async def _flap(self, connection: BotConnection) -> None:
        while True:
            for kind in (rtvi.BOT_STARTED_SPEAKING, rtvi.BOT_STOPPED_SPEAKING):
                await connection.send(encode_message(Envelope(type=kind)))
            await asyncio.sleep(0.02)


class FlappingForEver(Flapping):
    """Does nothing but that."""

    async def _say(self, connection: BotConnection, line: Utterance) -> None:
        with suppress(ConnectionLostError):
            await self._flap(connection)


class HangingUp(FakeBot):
    """Hangs up a second after it has begun to speak."""

    async def _say(self, connection: BotConnection, line: Utterance) -> None:
        speaking = asyncio.create_task(super()._say(connection, line))
        await asyncio.sleep(1.0)
        speaking.cancel()
        await connection.close()


GARBAGE = (
    *(b"\xff\xff\xff", b"", b"\x12\x7f\x1a", b"\x22\x04\x0a\x02xx", raw_message("[1, 2"), raw_message("[]")),
    *(raw_message('{"label": "rtvi-ai"}'), raw_message("\ufeff{}"), raw_message("[" * 50_000)),
)


class Garbling(FakeBot):
    """Sends text, truncated protobuf and broken messages before it speaks; and frames that nobody knows."""

    async def _say(self, connection: BotConnection, line: Utterance) -> None:
        for garbage in (*GARBAGE, "text"):
            await connection.send(garbage)  # type: ignore[arg-type] # as a broken bot does
        unknown = frames_pb2.Frame(text=frames_pb2.TextFrame(text="x")).SerializeToString()
        await connection.send(unknown)
        await self._tell(connection, "no-such-event", {"x": 1})
        await super()._say(connection, line)


class Infinite(FakeBot):
    """Sends numbers that JSON does not have."""

    async def _say(self, connection: BotConnection, line: Utterance) -> None:
        for number in ("NaN", "Infinity", "1e999", "9" * 5000):
            tokens = f'[{{"prompt_tokens": {number}}}], "ttfb": [{{"processor": "LLM#0", "value": {number}}}]'
            message = f'{{"label": "rtvi-ai", "type": "metrics", "data": {{"tokens": {tokens}}}}}'
            await connection.send(raw_message(message))
        await super()._say(connection, line)


class RateChanging(FakeBot):
    """Speaks each line at another rate than the one before; stereo, too."""

    async def _say(self, connection: BotConnection, line: Utterance) -> None:
        self._rate_hz = {24_000: 8_000, 8_000: 44_100}.get(self._rate_hz, 24_000)
        await super()._say(connection, line)


class Odd(FakeBot):
    """Puts frames of an odd number of bytes, and of impossible rates, between those of its sound."""

    async def _say(self, connection: BotConnection, line: Utterance) -> None:
        for pcm, rate_hz in ((b"\x01\x02\x03", 24_000), (b"\x01\x02", 0), (b"\x01\x02", 4_000_000)):
            await connection.send(encode_audio(pcm, rate_hz))
        await super()._say(connection, line)


class Soundless(FakeBot):
    """Announces and tells what it says, and sends no sound."""

    async def _say(self, connection: BotConnection, line: Utterance) -> None:
        await self._tell(connection, rtvi.BOT_STARTED_SPEAKING, None)
        await self._tell(connection, rtvi.BOT_TTS_TEXT, {"text": line.text})
        await self._tell(connection, rtvi.BOT_STOPPED_SPEAKING, None)


class Unheard(FakeBot):
    """Tells texts that are empty or blank, beside those of its lines."""

    async def _say(self, connection: BotConnection, line: Utterance) -> None:
        for text in ("", "   ", "\n\t", None, 5):
            await self._tell(connection, rtvi.BOT_TTS_TEXT, {"text": text})
            await self._tell(connection, rtvi.USER_TRANSCRIPTION, {"text": text, "final": True})
        await super()._say(connection, line)
        await self._tell(connection, rtvi.BOT_TTS_TEXT, {"text": "  "})


class Hallucinating(FakeBot):
    """Hears words in silence, again and again, and tells so."""

    async def _say(self, connection: BotConnection, line: Utterance) -> None:
        await super()._say(connection, line)
        for _ in range(3):
            await asyncio.sleep(8.0)
            await self._tell(connection, rtvi.USER_TRANSCRIPTION, {"text": "Thank you.", "final": True})


class Flooding(FakeBot):
    """Sends eleven minutes of sound at once, and a thousand broken frames."""

    async def _say(self, connection: BotConnection, line: Utterance) -> None:
        second = (8_000 * np.ones(24_000)).astype("<i2").tobytes()
        for _ in range(660):
            await connection.send(encode_audio(second, 24_000))
        for _ in range(1000):
            await connection.send(b"\xff")
        await super()._say(connection, line)


class Blocking(FakeBot):
    """Does nothing at all for a while, as a bot whose loop is blocked: neither reads nor sends."""

    after = 1.5
    seconds = 45.0

    async def play(self, connection: BotConnection) -> None:
        await super().play(_Blocked(connection, self.after, self.seconds))


class Unreading(Blocking):
    """Never does anything again, though its connection stands."""

    seconds = 10_000.0


class _Blocked:
    def __init__(self, connection: Any, after: float, seconds: float) -> None:
        self._connection = connection
        now = asyncio.get_running_loop().time()
        self._blocked = now + after, now + after + seconds

    async def send(self, content: bytes) -> None:
        await self._wait()
        await self._connection.send(content)

    async def receive(self) -> bytes | str:
        await self._wait()
        content: bytes | str = await self._connection.receive()
        return content

    async def close(self) -> None:
        await self._connection.close()

    async def _wait(self) -> None:
        """Wait until the block is over; a process that is blocked still dies with its connection."""
        loop = asyncio.get_running_loop()
        while self._blocked[0] <= loop.time() < self._blocked[1]:
            if self._connection.near.is_closed:
                raise ConnectionLostError("closed")
            await asyncio.sleep(min(0.5, self._blocked[1] - loop.time()))
