"""One WebSocket connection to a bot."""

from __future__ import annotations

import asyncio
import ssl
from typing import Any, Protocol

from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidHandshake, InvalidURI
from websockets.frames import CloseCode

from pytest_voiceeval.wire.address import shown
from pytest_voiceeval.wire.limits import KEEPALIVE_SECONDS, MAX_MESSAGE_BYTES

RETRY_SECONDS = (0.1, 0.2, 0.4, 0.8, 1.6, 3.2)


class ConnectionLostError(Exception):
    """The peer closed the connection, or it broke; the text says how."""


class Connection(Protocol):
    """Whole messages, both ways."""

    async def send(self, content: bytes) -> None:
        """Send one message; raises ConnectionLostError."""

    async def receive(self) -> bytes | str:
        """Return the next message; raises ConnectionLostError."""

    async def close(self) -> None:
        """Close, waiting a second at most for the peer to agree."""


class WebSocketConnection:
    """A connection over a WebSocket."""

    def __init__(self, socket: ClientConnection) -> None:
        self._socket = socket

    async def send(self, content: bytes) -> None:
        """Send one message; raises ConnectionLostError."""
        try:
            await self._socket.send(content)
        except ConnectionClosed as exc:
            raise ConnectionLostError(_closing(exc)) from None

    async def receive(self) -> bytes | str:
        """Return the next message; raises ConnectionLostError."""
        try:
            return await self._socket.recv()
        except ConnectionClosed as exc:
            raise ConnectionLostError(_closing(exc)) from None

    async def close(self) -> None:
        """Close, waiting a second at most for the peer to agree."""
        await self._socket.close()


async def open_connection(url: str, limit: float) -> Connection:
    """Return an open connection to the bot at ``url``, tried again until ``limit`` seconds are over.

    Raises:
        OSError: if none could be opened; the text is that of the last attempt, without a password.
    """
    loop = asyncio.get_running_loop()
    deadline = loop.time() + limit
    waits = iter(RETRY_SECONDS)
    while True:
        left = deadline - loop.time()
        try:
            return WebSocketConnection(await connect(url, open_timeout=max(left, 0.05), **_options()))
        except (InvalidURI, ssl.SSLError) as exc:
            raise OSError(shown(str(exc))) from exc
        except (OSError, TimeoutError, InvalidHandshake, ConnectionClosed, EOFError) as exc:
            wait = next(waits, RETRY_SECONDS[-1])
            if loop.time() + wait >= deadline:
                raise OSError(_reason(exc)) from exc
        await asyncio.sleep(wait)


def _options() -> dict[str, Any]:
    return {
        "max_size": MAX_MESSAGE_BYTES,
        "ping_interval": KEEPALIVE_SECONDS,
        "ping_timeout": None,
        "close_timeout": 1.0,
        "compression": None,
        "proxy": None,
        "user_agent_header": None,
    }


def _reason(exc: BaseException) -> str:
    if isinstance(exc, TimeoutError):
        return "no answer to the WebSocket handshake"
    return shown(str(exc)) or type(exc).__name__


def _closing(exc: ConnectionClosed) -> str:
    if exc.rcvd is not None:
        return f"closed with code {exc.rcvd.code}" + (f" ({exc.rcvd.reason})" if exc.rcvd.reason else "")
    if exc.sent is not None and exc.sent.code == CloseCode.MESSAGE_TOO_BIG:
        return f"it sent a message of more than {MAX_MESSAGE_BYTES} bytes"
    return "dropped without a close message"
