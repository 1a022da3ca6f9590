"""A client that knows the wire and nothing else: protobuf frames, RTVI messages, sound at a steady pace."""

from __future__ import annotations

import ast
import asyncio
import itertools
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from pipecat.frames.protobufs import frames_pb2
from websockets.asyncio.client import ClientConnection, connect

PROMPT = "You are the agent of a small shop."
LIMIT_SECONDS = 15.0
FRAME = 640  # 20 ms at 16 kHz
SILENCE = bytes(FRAME)


class WireClient:
    """One connection to a bot: sends, and keeps what comes."""

    def __init__(self, socket: ClientConnection) -> None:
        self.socket = socket
        self.messages: list[dict[str, Any]] = []
        self.audio = bytearray()
        self.rates: set[int] = set()
        self._numbers = itertools.count(1)
        self._news = asyncio.Condition()
        self._to_say = bytearray()

    @classmethod
    @asynccontextmanager
    async def connected(cls, url: str) -> AsyncIterator[WireClient]:
        async with connect(url, max_size=None, compression=None, proxy=None) as socket:
            client = cls(socket)
            tasks = [asyncio.create_task(client._receive()), asyncio.create_task(client._speak())]
            try:
                yield client
            finally:
                for task in tasks:
                    task.cancel()
                await asyncio.gather(*tasks, return_exceptions=True)

    async def send(self, kind: str, data: Any) -> str:
        """Send an RTVI message; returns its id."""
        key = f"id_{next(self._numbers)}"
        frame = frames_pb2.Frame()
        frame.message.data = json.dumps({"label": "rtvi-ai", "type": kind, "id": key, "data": data})
        await self.socket.send(frame.SerializeToString())
        return key

    async def handshake(self) -> dict[str, Any]:
        key = await self.send("client-ready", {"version": "1.1.0", "about": {"library": "test"}})
        return await self.wait_for("bot-ready", id=key)

    async def ask(self, request: str, **arguments: Any) -> Any:
        """Send one of the six requests; returns what the handler gave back."""
        key = await self.send("client-message", {"t": request, "d": arguments})
        reply = await self.reply(key)
        assert reply["type"] == "server-response", reply
        assert reply["data"]["t"] == request
        return reply["data"].get("d")

    async def reply(self, key: str) -> dict[str, Any]:
        return await self.wait_for(id=key)

    async def prepare(self, prompt: str, **tools: Any) -> bool:
        """Send the prompt and the tools of a scenario."""
        answer = await self.ask(
            "update_system_prompt",
            prompt=prompt,
            tools=json.dumps(tools),
            add_suffix=False,
            tool_domain="bots_test",
        )
        return bool(answer)

    async def kick_off(self) -> None:
        await self.send(
            "send-text",
            {"content": "Hello", "options": {"run_immediately": True, "audio_response": True}},
        )

    async def wait_for(
        self, kind: str | None = None, *, id: str | None = None, after: int = 0
    ) -> dict[str, Any]:
        """Return the first message of that kind and id since the first ``after`` messages."""

        def found() -> dict[str, Any] | None:
            return next(
                (
                    m
                    for m in self.messages[after:]
                    if (kind is None or m["type"] == kind) and (id is None or m.get("id") == id)
                ),
                None,
            )

        async with asyncio.timeout(LIMIT_SECONDS), self._news:
            await self._news.wait_for(found)
        message = found()
        assert message is not None
        return message

    async def hear(self) -> bytes:
        """Return what the bot says until it stops speaking, int16 at 24 kHz."""
        start, after = len(self.audio), len(self.messages)
        await self.wait_for("bot-stopped-speaking", after=after)
        return bytes(self.audio[start:])

    def say(self, pcm: bytes) -> None:
        """Have int16 at 16 kHz sent at the pace of speech."""
        self._to_say += pcm

    async def history(self) -> list[dict[str, Any]]:
        answer = await self.ask("get_context_history")
        history: list[dict[str, Any]] = ast.literal_eval(answer["context"])
        return history

    async def _receive(self) -> None:
        async for content in self.socket:
            frame = frames_pb2.Frame.FromString(content)
            async with self._news:
                if frame.WhichOneof("frame") == "audio":
                    self.audio += frame.audio.audio
                    self.rates.add(frame.audio.sample_rate)
                elif frame.WhichOneof("frame") == "message":
                    self.messages.append(json.loads(frame.message.data))
                self._news.notify_all()

    async def _speak(self) -> None:
        loop = asyncio.get_running_loop()
        due = loop.time()
        while True:
            piece = bytes(self._to_say[:FRAME]) or SILENCE
            del self._to_say[:FRAME]
            frame = frames_pb2.Frame()
            frame.audio.audio = piece.ljust(FRAME, b"\0")
            frame.audio.sample_rate = 16_000
            frame.audio.num_channels = 1
            await self.socket.send(frame.SerializeToString())
            due += 0.02
            await asyncio.sleep(max(0.0, due - loop.time()))
