"""Fakes of agents of which only the sound is had: over raw PCM, and over Twilio Media Streams."""

from __future__ import annotations

import asyncio
import base64
import json
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from typing import Any

import numpy as np
from websockets.asyncio.server import ServerConnection, serve

from pytest_voiceeval.audio.pcm import Int16s
from pytest_voiceeval.audio.samples import Encoding, SampleReader, encoded
from pytest_voiceeval.testing_connections import (
    BotConnection,
    MemoryConnection,
    ServerSide,
    Utterance,
    memory_pipe,
)
from pytest_voiceeval.wire.connection import ConnectionLostError
from pytest_voiceeval.wire.limits import MAX_MESSAGE_BYTES

LOUD = 1000
"""Level from which a sample counts as speech."""


class _SoundAgent:
    """An agent that is called: it greets or waits, and says its lines, each when the caller is silent.

    Attributes:
        heard: for each message of sound, when it came and its samples.
        spoken: when each line began and ended.
        connections: how many calls it got.

    """

    encoding: Encoding = "s16le"

    def __init__(
        self,
        lines: Sequence[Utterance] = (),
        *,
        rate_hz: int,
        greets: bool = True,
        hangs_up: bool = False,
        answer_after: float = 0.5,
    ) -> None:
        self.lines = list(lines)
        self.heard: list[tuple[float, Int16s]] = []
        self.spoken: list[tuple[float, float]] = []
        self.connections = 0
        self._rate_hz = rate_hz
        self._greets = greets
        self._hangs_up = hangs_up
        self._answer_after = answer_after
        self._next_line = 0
        self._quiet_since: float | None = None
        self._reader = SampleReader(self.encoding)
        self._speaking: asyncio.Task[None] | None = None

    async def open(self, _url: str, _limit: float) -> MemoryConnection:
        """Return a connection to this agent in memory; fits ``CallSettings.opener``."""
        near, far = memory_pipe()
        self._background = asyncio.get_running_loop().create_task(self.play(far))
        return near

    @asynccontextmanager
    async def serve(self, port: int = 0) -> AsyncIterator[str]:
        """Listen on 127.0.0.1; yields the URL."""

        async def session(socket: ServerConnection) -> None:
            await self.play(ServerSide(socket))

        async with serve(session, "127.0.0.1", port, max_size=MAX_MESSAGE_BYTES, compression=None) as server:
            yield f"ws://127.0.0.1:{next(iter(server.sockets)).getsockname()[1]}"

    async def play(self, connection: BotConnection) -> None:
        """Play the agent over one connection until that is lost."""
        self.connections += 1
        await self.answer_call(connection)
        try:
            while True:
                await self.take(connection, await connection.receive())
        except ConnectionLostError:
            return
        finally:
            if self._speaking is not None:
                self._speaking.cancel()

    async def answer_call(self, connection: BotConnection) -> None:
        """Greet, if it does."""
        if self._greets:
            self.say_next(connection)

    async def take(self, connection: BotConnection, message: bytes | str) -> None:
        """Take a message."""
        raise NotImplementedError

    async def send_sound(self, connection: BotConnection, samples: Int16s) -> None:
        """Send a stretch of sound."""
        raise NotImplementedError

    def listen(self, connection: BotConnection, sound: bytes) -> None:
        """Hear a stretch of sound; answer when the caller has been silent long enough."""
        now = asyncio.get_running_loop().time()
        samples = self._reader.read(sound)
        self.heard.append((now, samples))
        if np.abs(samples.astype(int)).max(initial=0) > LOUD:
            self._quiet_since = now
        elif self._has_waited(now) and self.say_next(connection):
            self._quiet_since = None

    def _has_waited(self, now: float) -> bool:
        return self._quiet_since is not None and now - self._quiet_since >= self._answer_after

    def say_next(self, connection: BotConnection) -> bool:
        """Begin to say the next line, if there is one and none is being said."""
        if self.is_speaking or self._next_line >= len(self.lines):
            return False
        line = self.lines[self._next_line]
        self._next_line += 1
        self._speaking = asyncio.get_running_loop().create_task(self._say(connection, line))
        return True

    @property
    def is_speaking(self) -> bool:
        """Whether a line is being said."""
        return self._speaking is not None and not self._speaking.done()

    async def after_line(self, connection: BotConnection, line: Utterance) -> None:
        """Do what is to be done when a line was sent."""

    async def _say(self, connection: BotConnection, line: Utterance) -> None:
        loop = asyncio.get_running_loop()
        times = np.arange(round(line.seconds * self._rate_hz)) / self._rate_hz
        samples = (16_000 * np.sin(2 * np.pi * line.hz * times)).astype(np.int16)
        size = round(0.02 * self._rate_hz)
        begun = loop.time()
        with suppress(ConnectionLostError):
            for number, at in enumerate(range(0, len(samples), size)):
                await asyncio.sleep(max(begun + number * 0.02 - loop.time(), 0))
                await self.send_sound(connection, samples[at : at + size])
            await asyncio.sleep(max(begun + line.seconds - loop.time(), 0))
            self.spoken.append((begun, begun + line.seconds))
            await self.after_line(connection, line)
            if self._hangs_up and self._next_line == len(self.lines):
                await connection.close()


class FakePcmAgent(_SoundAgent):
    """An agent that takes and gives raw PCM.

    Args:
        lines: what it says.
        rate_hz: samples a second, both ways.
        encoding: of a sample.
        message_bytes: length of the messages that it sends, whatever a sample's is; ``None``: 20 ms each.
        options: ``greets``: it speaks first; ``hangs_up``: it closes the connection after its last line;
            ``answer_after``: silence that it waits for before it answers, in seconds.
    """

    def __init__(
        self,
        lines: Sequence[Utterance] = (),
        *,
        rate_hz: int = 16_000,
        encoding: Encoding = "s16le",
        message_bytes: int | None = None,
        **options: Any,
    ) -> None:
        self.encoding = encoding
        super().__init__(lines, rate_hz=rate_hz, **options)
        self._message_bytes = message_bytes
        self._unsent = b""

    async def take(self, connection: BotConnection, message: bytes | str) -> None:
        """Hear a message."""
        if isinstance(message, bytes):
            self.listen(connection, message)

    async def send_sound(self, connection: BotConnection, samples: Int16s) -> None:
        """Send what there is, in messages of the length that was asked for."""
        self._unsent += encoded(samples, self.encoding)
        size = self._message_bytes or len(self._unsent)
        while len(self._unsent) >= size > 0:
            message, self._unsent = self._unsent[:size], self._unsent[size:]
            await connection.send(message)

    async def after_line(self, connection: BotConnection, line: Utterance) -> None:
        """Send what is left of a line."""
        if self._unsent:
            message, self._unsent = self._unsent, b""
            await connection.send(message)


class FakeTwilioAgent(_SoundAgent):
    """An agent behind Twilio Media Streams; after each line it sets a mark of the line's text.

    Args:
        lines: what it says.
        yields: it stops and sends ``clear`` when the caller speaks over it.
        options: as of ``FakePcmAgent``.

    Attributes:
        messages: all that Twilio sent but sound, in order.
        media: the ``media`` of each message of sound.
        marks: when each mark came back, and its name.
    """

    encoding: Encoding = "mulaw"

    def __init__(self, lines: Sequence[Utterance] = (), *, yields: bool = False, **options: Any) -> None:
        super().__init__(lines, rate_hz=8_000, **options)
        self.messages: list[dict[str, Any]] = []
        self.media: list[dict[str, Any]] = []
        self.marks: list[tuple[float, str]] = []
        self._yields = yields
        self._stream_sid = ""

    async def answer_call(self, connection: BotConnection) -> None:
        """Wait for the message ``start``."""

    async def take(self, connection: BotConnection, message: bytes | str) -> None:
        """Do what a message of Twilio's asks for."""
        content: dict[str, Any] = json.loads(message)
        if content["event"] == "media":
            self.media.append(content["media"])
            self.listen(connection, base64.b64decode(content["media"]["payload"]))
            if self._yields and self.is_speaking and self._quiet_since is not None:
                await self._yield(connection)
            return
        self.messages.append(content)
        if content["event"] == "start":
            self._stream_sid = content["streamSid"]
            if self._greets:
                self.say_next(connection)
        elif content["event"] == "mark":
            self.marks.append((asyncio.get_running_loop().time(), content["mark"]["name"]))

    async def send_sound(self, connection: BotConnection, samples: Int16s) -> None:
        """Send a message of sound."""
        payload = base64.b64encode(encoded(samples, "mulaw")).decode()
        await self.tell(connection, "media", {"payload": payload})

    async def after_line(self, connection: BotConnection, line: Utterance) -> None:
        """Set a mark."""
        await self.tell(connection, "mark", {"name": line.text})

    async def tell(
        self, connection: BotConnection, event: str, content: dict[str, Any] | None = None
    ) -> None:
        """Send a message."""
        body = {"event": event, "streamSid": self._stream_sid, **({event: content} if content else {})}
        await connection.send(json.dumps(body))

    async def _yield(self, connection: BotConnection) -> None:
        if self._speaking is not None:
            self._speaking.cancel()
        await self.tell(connection, "clear")
