"""A WebSocket as an asyncio protocol: what comes is handed on as it is read, what is sent is written at once.

websockets' own connections pass each message through tasks and queues, both ways; a call has a hundred
messages a second. The protocol itself is theirs (their Sans-I/O layer), but for sound on an open connection,
whose messages pass it by in both directions: it would take most of what a call costs.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import cast

from websockets.client import ClientProtocol
from websockets.exceptions import ConnectionClosed, InvalidState
from websockets.frames import CloseCode, Frame, Opcode
from websockets.http11 import Response
from websockets.protocol import State
from websockets.uri import WebSocketURI

from pytest_voiceeval.wire.framing import MessageSplitter, masked_frame, random_masks
from pytest_voiceeval.wire.limits import KEEPALIVE_SECONDS, MAX_MESSAGE_BYTES

CLOSE_SECONDS = 1.0
"""How long a peer may take to agree to a closing."""

HEAD_END = b"\r\n\r\n"
"""What ends the head of an HTTP response."""

NORMAL_CODES = (CloseCode.NORMAL_CLOSURE, CloseCode.GOING_AWAY, CloseCode.NO_STATUS_RCVD)


@dataclass(frozen=True)
class Ending:
    """How a connection ended.

    Attributes:
        text: for a person.
        code: of the peer's close message; ``None`` if there was none.
    """

    text: str
    code: int | None = None

    @property
    def is_normal(self) -> bool:
        """Whether the peer closed the connection in good order."""
        return self.code in NORMAL_CODES

    def __str__(self) -> str:
        return self.text


class ConnectionLostError(Exception):
    """The peer closed the connection, or it broke; ``ending`` says how."""

    def __init__(self, ending: Ending | str) -> None:
        super().__init__(str(ending))
        self.ending = Ending(ending) if isinstance(ending, str) else ending


class WebSocketConnection(asyncio.Protocol):
    """The client's end of a WebSocket.

    Attributes:
        opened: done when the handshake is; fails as that does.
        backlog: messages that were given to be sent since the peer stopped reading; 0 while it reads.
    """

    def __init__(self, uri: WebSocketURI) -> None:
        self._loop = asyncio.get_running_loop()
        self._wire = ClientProtocol(uri, max_size=MAX_MESSAGE_BYTES)
        self._masks = random_masks()
        self._splitter = MessageSplitter(self._take_whole, self._digest)
        self._head_so_far = b""
        self._parts = bytearray()
        self._opcode = Opcode.BINARY
        self._early: list[bytes | str] = []
        self._take: Callable[[bytes | str], object] = self._early.append
        self._lose: Callable[[Ending], object] = str
        self._lost: asyncio.Future[Ending] = self._loop.create_future()
        self._keepalive: asyncio.TimerHandle | None = None
        self._paused = False
        self.opened: asyncio.Future[None] = self._loop.create_future()
        self.backlog = 0

    def listen(self, take: Callable[[bytes | str], object], lose: Callable[[Ending], object]) -> None:
        """Hand each message to ``take``, what has come already first; to ``lose``, how it ended."""
        early, self._early = self._early, []
        self._take, self._lose = take, lose
        for message in early:
            take(message)
        if self._lost.done():
            lose(self._lost.result())

    def send(self, content: bytes | str) -> None:
        """Send one message, binary or of text; raises ConnectionLostError."""
        if isinstance(content, bytes) and self._wire.state is State.OPEN:
            self._transport.write(masked_frame(content, next(self._masks)))
            self.backlog = self.backlog + 1 if self._paused else 0
            return
        try:
            if isinstance(content, bytes):
                self._wire.send_binary(content)
            else:
                self._wire.send_text(content.encode())
        except (ConnectionClosed, InvalidState):
            raise ConnectionLostError(self._ending()) from None
        self._flush()
        self.backlog = self.backlog + 1 if self._paused else 0

    async def close(self) -> None:
        """Close, waiting a second at most for the peer to agree."""
        with suppress(ConnectionClosed, InvalidState):
            self._wire.send_close(CloseCode.NORMAL_CLOSURE)
        self._flush()
        await asyncio.wait([self._lost], timeout=CLOSE_SECONDS)
        self.abort()

    def abort(self) -> None:
        """Drop the connection."""
        if not self._lost.done():
            self._transport.abort()

    # asyncio's side

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Ask for the upgrade."""
        self._transport = cast("asyncio.Transport", transport)
        self._wire.send_request(self._wire.connect())
        self._flush()

    def data_received(self, data: bytes) -> None:
        """Take what is complete with ``data``."""
        if self._wire.state is State.CONNECTING:
            # Messages may follow the head of the response at once.
            seen = self._head_so_far + data
            behind_head = seen.find(HEAD_END) + len(HEAD_END) - len(self._head_so_far)
            cut = behind_head if HEAD_END in seen else len(data)
            self._head_so_far = seen[1 - len(HEAD_END) :]
            self._digest(data[:cut])
            data = data[cut:]
        if self._wire.state is State.OPEN:
            self._splitter.feed(data)
        elif data:
            self._digest(self._splitter.give_up() + data)

    def _take_whole(self, content: bytes) -> None:
        """Take a message, unless what came before it has ended the connection."""
        if self._wire.state is State.OPEN:
            self._take(content)

    def _digest(self, data: bytes) -> None:
        """Have the protocol read ``data``."""
        self._wire.receive_data(data)
        for event in self._wire.events_received():
            if isinstance(event, Frame):
                self._receive(event)
            elif isinstance(event, Response) and self._wire.handshake_exc is None:
                self._keepalive = self._loop.call_later(KEEPALIVE_SECONDS, self._ping)
                self.opened.set_result(None)
        self._flush()
        if self._wire.close_expected():
            self._loop.call_later(CLOSE_SECONDS, self.abort)

    def eof_received(self) -> None:
        """Take the end of the peer's stream; the transport closes itself."""
        self._wire.receive_eof()
        self._flush()

    def connection_lost(self, exc: Exception | None) -> None:
        """Tell how it ended."""
        self._wire.receive_eof()
        if self._keepalive is not None:
            self._keepalive.cancel()
        self._lost.set_result(self._ending())
        if not self.opened.done():
            self.opened.set_exception(
                self._wire.handshake_exc or exc or ConnectionError("closed during the handshake")
            )
            self.opened.exception()  # who would have waited for it may have been broken off before
        self._lose(self._lost.result())

    def pause_writing(self) -> None:
        """Note that the peer does not read as fast as we send."""
        self._paused = True

    def resume_writing(self) -> None:
        """Note that it does again."""
        self._paused = False
        self.backlog = 0

    def _receive(self, frame: Frame) -> None:
        """Take a frame; a message may come in several."""
        if frame.opcode in (Opcode.BINARY, Opcode.TEXT):
            self._opcode = frame.opcode
        elif frame.opcode is not Opcode.CONT:
            return  # the protocol has answered it
        self._parts += frame.data  # one buffer: parts may be many, and as small as none
        if frame.fin:
            content, self._parts = bytes(self._parts), bytearray()
            self._take(content if self._opcode is Opcode.BINARY else content.decode(errors="replace"))

    def _flush(self) -> None:
        for content in self._wire.data_to_send():
            if content:
                self._transport.write(content)
            elif self._transport.can_write_eof():
                self._transport.write_eof()

    def _ping(self) -> None:
        """Keep whatever is between us and the peer from forgetting the connection."""
        with suppress(ConnectionClosed, InvalidState):
            self._wire.send_ping(b"")
            self._flush()
            self._keepalive = self._loop.call_later(KEEPALIVE_SECONDS, self._ping)

    def _ending(self) -> Ending:
        close, ours = self._wire.close_rcvd, self._wire.close_sent
        if close is not None:
            why = f" ({close.reason})" if close.reason else ""
            return Ending(f"closed with code {close.code}{why}", close.code)
        if ours is not None and ours.code == CloseCode.MESSAGE_TOO_BIG:
            return Ending(f"it sent a message of more than {MAX_MESSAGE_BYTES} bytes")
        if ours is not None and ours.code != CloseCode.NORMAL_CLOSURE:
            return Ending(f"it broke the WebSocket protocol: {ours.reason or ours.code}")
        return Ending("dropped without a close message")
