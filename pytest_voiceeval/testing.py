"""Fakes for tests of packs, of agents, and of this project: a virtual clock, a scripted bot, and judges."""

from __future__ import annotations

import asyncio
import math
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from typing import Any

import numpy as np
from websockets.asyncio.server import ServerConnection, serve

from pytest_voiceeval.bridge.clock import ChargedClock
from pytest_voiceeval.errors import WireError
from pytest_voiceeval.model.turns import Side
from pytest_voiceeval.testing_connections import (
    BotConnection,
    MemoryConnection,
    ServerSide,
    Utterance,
    memory_pipe,
)
from pytest_voiceeval.testing_judge import FakeJudge, JudgeReply, JudgeRequest, JudgeServer
from pytest_voiceeval.testing_sound import FakePcmAgent, FakeTwilioAgent
from pytest_voiceeval.wire import rtvi
from pytest_voiceeval.wire.connection import ConnectionLostError
from pytest_voiceeval.wire.frames import Audio, Message, decode, encode_audio, encode_message
from pytest_voiceeval.wire.limits import MAX_MESSAGE_BYTES

__all__ = [
    "BotConnection",
    "FakeBot",
    "FakeJudge",
    "FakePcmAgent",
    "FakeTwilioAgent",
    "JudgeReply",
    "JudgeRequest",
    "JudgeServer",
    "MemoryConnection",
    "Utterance",
    "VirtualClock",
    "exit_message",
    "memory_pipe",
]


class VirtualClock(ChargedClock):
    """Time that jumps to the next timer as soon as nothing else is to be done, whatever the bots are."""


def exit_message(text: str = "The task is finished.") -> dict[str, str]:
    """Return the server message with which an agent ends a call."""
    return {"text": f"<exit>{text}</exit>"}


class FakeBot:
    """A bot that knows only the wire: it says its lines in turn, each when the other side is silent.

    Args:
        side: which side it plays.
        lines: what it says; the agent's first line answers the kickoff, every other one the other side.
        answers: replies by request name, in place of the right ones; an exception becomes an error-response,
            ``...`` no reply at all, and a function is called with the request's arguments for one of these.
        rate_hz: rate of its sound.
        chunk_seconds: length of its audio frames.
        answer_after: silence that it waits for before it answers, in seconds.
        announces: whether it sends speaking events.
    """

    def __init__(  # noqa: PLR0913 -- a script of independent choices, all by keyword
        self,
        side: Side,
        lines: Sequence[Utterance] = (),
        *,
        answers: Mapping[str, Any] | None = None,
        rate_hz: int = 24_000,
        chunk_seconds: float = 0.02,
        answer_after: float = 0.5,
        announces: bool = True,
    ) -> None:
        self.side = side
        self.lines = list(lines)
        self.answers: dict[str, Any] = {
            "reset": True,
            "update_system_prompt": True,
            "apply_initialization": {"success": True, "errors": []},
            "apply_sync_delta": {"success": True, "errors": []},
            "get_context_history": {"context": "[]"},
            "get_scenario_summary": {"actions": [], "db_hash": None},
            **(answers or {}),
        }
        self.requests: list[tuple[str, Any]] = []
        self.heard: list[tuple[float, bytes]] = []
        self.spoken: list[tuple[float, float]] = []
        self.connections = 0
        self._rate_hz = rate_hz
        self._chunk_seconds = chunk_seconds
        self._answer_after = answer_after
        self._announces = announces
        self._next_line = 0
        self._speaking: asyncio.Task[None] | None = None

    async def open(self, _url: str, _limit: float) -> MemoryConnection:
        """Return a connection to this bot in memory; fits ``CallSettings.opener``."""
        near, far = memory_pipe()
        self._background = asyncio.get_running_loop().create_task(self.play(far))
        return near

    @asynccontextmanager
    async def serve(self, port: int = 0, **options: Any) -> AsyncIterator[str]:
        """Listen on 127.0.0.1; yields the URL. ``options`` are for the server of websockets."""

        async def session(socket: ServerConnection) -> None:
            await self.play(ServerSide(socket))

        limits: dict[str, Any] = {"max_size": MAX_MESSAGE_BYTES, "compression": None, **options}
        async with serve(session, "127.0.0.1", port, **limits) as server:
            yield f"ws://127.0.0.1:{next(iter(server.sockets)).getsockname()[1]}"

    async def play(self, connection: BotConnection) -> None:
        """Play the bot over one connection until that is lost."""
        self.connections += 1
        quiet_since = math.inf
        try:
            while True:
                try:
                    frame = decode(await connection.receive())
                except WireError:
                    continue
                if isinstance(frame, Message):
                    await self._answer(connection, frame.envelope)
                elif isinstance(frame, Audio):
                    quiet_since = self._listen(connection, frame, quiet_since)
        except ConnectionLostError:
            return
        finally:
            if self._speaking is not None:
                self._speaking.cancel()

    def _listen(self, connection: BotConnection, frame: Audio, quiet_since: float) -> float:
        now = asyncio.get_running_loop().time()
        self.heard.append((now, frame.pcm))
        if np.abs(np.frombuffer(frame.pcm, "<i2").astype(int)).max(initial=0) > 1000:
            return now
        if now - quiet_since >= self._answer_after and self._say_next(connection):
            return math.inf
        return quiet_since

    async def _answer(self, connection: BotConnection, message: rtvi.Envelope) -> None:
        if message.type == rtvi.CLIENT_READY:
            data = {"version": "1.1.0", "about": {"library": "fake"}}
            await self._tell(connection, rtvi.BOT_READY, data, message.id)
        elif message.type == rtvi.SEND_TEXT:
            self._say_next(connection)
        elif message.type == rtvi.CLIENT_MESSAGE:
            name = message.fields["t"]
            self.requests.append((name, message.fields.get("d")))
            answer = self.answers.get(name, ValueError(f"unknown message type: {name}"))
            if callable(answer):
                answer = answer(message.fields.get("d"))
            if isinstance(answer, Exception):
                await self._tell(connection, rtvi.ERROR_RESPONSE, {"error": str(answer)}, message.id)
            elif answer is not ...:
                await self._tell(connection, rtvi.SERVER_RESPONSE, {"t": name, "d": answer}, message.id)

    def _say_next(self, connection: BotConnection) -> bool:
        busy = self._speaking is not None and not self._speaking.done()
        if busy or self._next_line >= len(self.lines):
            return False
        line = self.lines[self._next_line]
        self._next_line += 1
        self._speaking = asyncio.get_running_loop().create_task(self._say(connection, line))
        return True

    async def _say(self, connection: BotConnection, line: Utterance) -> None:
        loop = asyncio.get_running_loop()
        with suppress(ConnectionLostError):
            for payload in line.sends:
                await self._tell(connection, rtvi.SERVER_MESSAGE, payload)
            if self._announces and line.seconds:
                await self._tell(connection, rtvi.BOT_STARTED_SPEAKING, None)
            times = np.arange(round(line.seconds * self._rate_hz)) / self._rate_hz
            pcm = (16_000 * np.sin(2 * np.pi * line.hz * times)).astype("<i2")
            size = round(self._chunk_seconds * self._rate_hz)
            begun = loop.time()
            for number, at in enumerate(range(0, len(pcm), size)):
                await asyncio.sleep(max(begun + number * self._chunk_seconds - loop.time(), 0))
                await connection.send(encode_audio(pcm[at : at + size].tobytes(), self._rate_hz))
            self.spoken.append((begun, begun + line.seconds))
            await asyncio.sleep(max(begun + line.seconds - loop.time(), 0))
            if line.text:
                await self._tell(connection, rtvi.BOT_TTS_TEXT, {"text": line.text})
            if self._announces and line.seconds:
                await self._tell(connection, rtvi.BOT_STOPPED_SPEAKING, None)
            for payload in line.late_sends:
                await self._tell(connection, rtvi.SERVER_MESSAGE, payload)

    async def _tell(
        self, connection: BotConnection, kind: str, data: Any, message_id: str | None = None
    ) -> None:
        with suppress(ConnectionLostError):
            await connection.send(encode_message(rtvi.Envelope(type=kind, id=message_id, data=data)))
