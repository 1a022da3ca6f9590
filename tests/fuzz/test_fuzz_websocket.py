"""Whatever bytes come over a connection, it goes on or ends with a reason: it never raises."""

from __future__ import annotations

import asyncio
from typing import Any

from hypothesis import example, given
from hypothesis import strategies as st
from websockets.http11 import Request
from websockets.server import ServerProtocol
from websockets.streams import StreamReader
from websockets.uri import parse_uri

from pytest_voiceeval.wire.websocket import Ending, WebSocketConnection


class Pipe(asyncio.Transport):
    """A transport that keeps what is written, and is closed once."""

    def __init__(self) -> None:
        super().__init__()
        self.written = bytearray()
        self.closed = False

    def write(self, data: Any) -> None:
        self.written += data

    def can_write_eof(self) -> bool:
        return True

    def write_eof(self) -> None: ...

    def abort(self) -> None:
        self.closed = True


def upgrade(request: bytes) -> bytes:
    """Return a server's answer to the request for an upgrade."""
    reader = StreamReader()
    reader.feed_data(request)
    parsing = Request.parse(reader.read_line)
    try:
        next(parsing)
    except StopIteration as exc:
        server = ServerProtocol()
        server.send_response(server.accept(exc.value))
        return b"".join(server.data_to_send())
    raise AssertionError("the request is not whole")


@st.composite
def frames(draw: st.DrawFn) -> bytes:
    """Return a frame as servers send it, or not: of any kind, masked or not, in order or not."""
    first = draw(st.sampled_from([0x82, 0x81, 0x02, 0x80, 0x00, 0x88, 0x89, 0x8A]) | st.integers(0, 255))
    data = draw(st.binary(max_size=200) | st.sampled_from([b"\x03\xe8bye", b"\x00", b"\xff\xfe"]))
    mask = draw(st.sampled_from([0, 0, 0, 0x80]))
    length = bytes([mask | len(data)]) if len(data) < 126 else bytes([mask | 126]) + len(data).to_bytes(2)
    content = bytes([first]) + length + (b"mask" if mask else b"") + data
    if draw(st.sampled_from([False, False, True])):
        at = draw(st.integers(0, len(content)))
        content = content[:at] + draw(st.binary(max_size=10)) + content[at + draw(st.integers(0, 3)) :]
    return content


pieces = st.lists(frames() | st.binary(max_size=20), max_size=12)


def received(contents: list[bytes], *, handshake: bytes | None, eof: bool) -> tuple[list[Any], Ending]:
    """Return the messages that come of what a server sends after the handshake, and how it ended."""
    messages: list[Any] = []
    endings: list[Ending] = []

    async def main() -> None:
        connection = WebSocketConnection(parse_uri("ws://127.0.0.1:1"))
        pipe = Pipe()
        connection.connection_made(pipe)
        connection.data_received(upgrade(bytes(pipe.written)) if handshake is None else handshake)
        connection.listen(messages.append, endings.append)
        for content in contents:
            connection.data_received(content)
        if eof:
            connection.eof_received()
        connection.connection_lost(None)
        if connection.opened.done():
            connection.opened.exception()
        await connection.close()

    asyncio.run(main())
    (ending,) = endings
    return messages, ending


@given(pieces, st.booleans())
@example([b"\x89\x7e\xff\xff"], True)
@example([b"\x82\x7f\xff\xff\xff\xff\xff\xff\xff\xff"], False)
@example([b"\xf2\x00", b"\x88\x00", b"\x82\x01x"], True)
def test_any_frames_are_messages_and_an_ending(contents: list[bytes], eof: bool) -> None:
    messages, ending = received(contents, handshake=None, eof=eof)
    assert all(isinstance(message, bytes | str) for message in messages)
    assert ending.text


@given(
    st.binary(max_size=300) | st.sampled_from([b"HTTP/1.1 101 x\r\n\r\n", b"HTTP/1.1 200 OK\r\n\r\n"]), pieces
)
def test_any_answer_to_the_handshake_is_an_ending(answer: bytes, contents: list[bytes]) -> None:
    _, ending = received(contents, handshake=answer, eof=False)
    assert ending.text


def test_a_frame_that_breaks_the_protocol_is_told_as_that() -> None:
    _, ending = received([b"\xf2\x00"], handshake=None, eof=False)
    assert ending.text.startswith("it broke the WebSocket protocol: ")
    _, ending = received([b"\x82\x7f\x00\x00\x00\x00\x02\x00\x00\x00"], handshake=None, eof=False)
    assert ending.text == "it sent a message of more than 16777216 bytes"
