"""Connections to bots."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Callable
from typing import Protocol

from websockets.exceptions import InvalidHandshake, InvalidURI
from websockets.uri import parse_uri

from pytest_voiceeval.wire.address import shown
from pytest_voiceeval.wire.websocket import ConnectionLostError, Ending, WebSocketConnection

__all__ = ["Connection", "ConnectionLostError", "Ending", "open_connection"]

RETRY_SECONDS = (0.1, 0.2, 0.4, 0.8, 1.6, 3.2)


class Connection(Protocol):
    """Whole messages, both ways."""

    @property
    def backlog(self) -> int:
        """How many messages were given to be sent since the peer stopped reading; 0 while it reads."""

    def listen(self, take: Callable[[bytes | str], object], lose: Callable[[Ending], object]) -> None:
        """Hand each message to ``take``, what has come already first; to ``lose``, how it ended."""

    def send(self, content: bytes | str) -> None:
        """Send one message, binary or of text; raises ConnectionLostError."""

    async def close(self) -> None:
        """Close, waiting a second at most for the peer to agree."""


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
            return await _connect(url, max(left, 0.05))
        except (InvalidURI, ssl.SSLError) as exc:
            raise OSError(shown(str(exc))) from exc
        except (OSError, TimeoutError, InvalidHandshake, EOFError) as exc:
            wait = next(waits, RETRY_SECONDS[-1])
            if loop.time() + wait >= deadline:
                raise OSError(_reason(exc)) from exc
        await asyncio.sleep(wait)


async def _connect(url: str, limit: float) -> WebSocketConnection:
    uri = parse_uri(url)
    async with asyncio.timeout(limit):
        _, connection = await asyncio.get_running_loop().create_connection(
            lambda: WebSocketConnection(uri), uri.host, uri.port, ssl=True if uri.secure else None
        )
        try:
            await connection.opened
        except BaseException:
            connection.abort()
            raise
    return connection


def _reason(exc: BaseException) -> str:
    if isinstance(exc, TimeoutError):
        return "no answer to the WebSocket handshake"
    return shown(str(exc)) or type(exc).__name__
