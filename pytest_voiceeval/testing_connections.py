"""What fake bots say, and the ends of the connections that they say it over."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

from websockets.asyncio.server import ServerConnection
from websockets.exceptions import ConnectionClosed

from pytest_voiceeval.wire.connection import ConnectionLostError, Ending


@dataclass(frozen=True)
class Utterance:
    """What a fake bot says: a tone of ``seconds`` at ``hz``, announced with ``text``.

    Attributes:
        sends: server-message payloads that go out when the tone begins.
        late_sends: those that go out when it has ended.
    """

    text: str
    seconds: float = 1.0
    hz: float = 300.0
    sends: tuple[Any, ...] = ()
    late_sends: tuple[Any, ...] = ()


class BotConnection(Protocol):
    """A bot's end of a connection: whole messages, both ways."""

    async def send(self, content: bytes | str) -> None:
        """Send one message; raises ConnectionLostError."""

    async def receive(self) -> bytes | str:
        """Return the next message; raises ConnectionLostError."""

    async def close(self) -> None:
        """Close it."""


def memory_pipe() -> tuple[MemoryConnection, BotConnection]:
    """Return the two ends of a connection in memory, the bridge's and a bot's."""
    far = _MemoryBotEnd()
    return MemoryConnection(far), far


class MemoryConnection:
    """The bridge's end of a connection in memory."""

    backlog = 0

    def __init__(self, far: _MemoryBotEnd) -> None:
        self._loop = asyncio.get_running_loop()
        self._far = far
        self._early: list[bytes | str] = []
        self._take: Callable[[bytes | str], object] = self._early.append
        self._lose: Callable[[Ending], object] = str
        self._closed = False
        far.near = self

    def listen(self, take: Callable[[bytes | str], object], lose: Callable[[Ending], object]) -> None:
        """Hand each message to ``take``, what has come already first; to ``lose``, how it ended."""
        early, self._early = self._early, []
        self._take, self._lose = take, lose
        for message in early:
            self._loop.call_soon(take, message)
        if self._closed:
            self._loop.call_soon(lose, _CLOSED)

    def send(self, content: bytes | str) -> None:
        """Send one message; raises ConnectionLostError."""
        if self._closed:
            raise ConnectionLostError(_CLOSED)
        self._far.incoming.put_nowait(content)

    @property
    def is_closed(self) -> bool:
        """Whether one of the ends has closed it."""
        return self._closed

    async def close(self) -> None:
        """Close both ends; what is on the way is still received."""
        self.end()

    def arrive(self, content: bytes | str) -> None:
        """Take a message of the bot's."""
        if self._closed:
            raise ConnectionLostError(_CLOSED)
        self._loop.call_soon(lambda: self._take(content))

    def end(self) -> None:
        """Tell both ends that it is over."""
        if not self._closed:
            self._closed = True
            self._far.incoming.put_nowait(None)
            self._loop.call_soon(lambda: self._lose(_CLOSED))


_CLOSED = Ending("closed with code 1000", 1000)


class _MemoryBotEnd:
    near: MemoryConnection

    def __init__(self) -> None:
        self.incoming: asyncio.Queue[bytes | str | None] = asyncio.Queue()
        self._over = False

    async def send(self, content: bytes | str) -> None:
        self.near.arrive(content)

    async def receive(self) -> bytes | str:
        content = None if self._over else await self.incoming.get()
        if content is None:
            self._over = True
            raise ConnectionLostError(_CLOSED)
        return content

    async def close(self) -> None:
        self.near.end()


class ServerSide:
    """A bot's end of a socket."""

    def __init__(self, socket: ServerConnection) -> None:
        self._socket = socket

    async def send(self, content: bytes | str) -> None:
        """Send one message; raises ConnectionLostError."""
        try:
            await self._socket.send(content)
        except ConnectionClosed as exc:
            raise ConnectionLostError(str(exc)) from None

    async def receive(self) -> bytes | str:
        """Return the next message; raises ConnectionLostError."""
        try:
            return await self._socket.recv()
        except ConnectionClosed as exc:
            raise ConnectionLostError(str(exc)) from None

    async def close(self) -> None:
        """Close it."""
        await self._socket.close()
