"""Messages as they are cut out of a server's stream, wherever its chunks end."""

from __future__ import annotations

import asyncio
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from websockets.frames import Frame, Opcode
from websockets.protocol import CLIENT, State
from websockets.protocol import Protocol as Wire
from websockets.server import ServerProtocol
from websockets.uri import parse_uri

from pytest_voiceeval.wire.framing import MessageSplitter, masked_frame, random_masks
from pytest_voiceeval.wire.limits import MAX_MESSAGE_BYTES
from pytest_voiceeval.wire.websocket import Ending, WebSocketConnection

MASK = b"\x01\x02\x03\x04"


def frame(opcode: Opcode, content: bytes, *, fin: bool = True) -> bytes:
    return Frame(opcode, content, fin).serialize(mask=False)


def in_parts(parts: list[bytes]) -> bytes:
    opcodes = [Opcode.BINARY, *[Opcode.CONT] * (len(parts) - 1)]
    frames = [
        frame(opcode, part, fin=number == len(parts))
        for number, (opcode, part) in enumerate(zip(opcodes, parts, strict=True), 1)
    ]
    return frame(Opcode.PING, b"?").join(frames)


SIZES = st.sampled_from([0, 1, 125, 126, 640, 65_535, 65_536])
WHOLE = SIZES.map(lambda size: frame(Opcode.BINARY, b"w" * size))
TEXT = SIZES.map(lambda size: frame(Opcode.TEXT, b"t" * size))
PARTS = st.lists(SIZES.map(lambda size: b"p" * size), min_size=2, max_size=3).map(in_parts)
CONTROL = st.sampled_from([frame(Opcode.PING, b"!"), frame(Opcode.PONG, b"")])
CLOSE = frame(Opcode.CLOSE, b"\x03\xe8")
BROKEN = st.sampled_from(
    [
        frame(Opcode.BINARY, b"begun", fin=False) + frame(Opcode.BINARY, b"another"),
        frame(Opcode.CONT, b"of nothing"),
        b"\xc2\x01x",  # a reserved bit
        b"\x82\x81" + MASK + b"x",  # masked, by a server
    ]
)
STREAMS = st.lists(WHOLE | TEXT | PARTS | CONTROL, max_size=6)


def whole_stream(wire: Wire, data: bytes) -> list[tuple[Opcode, bytes]]:
    """Return the frames that websockets itself reads."""
    wire.receive_data(data)
    return [(event.opcode, bytes(event.data)) for event in wire.events_received() if isinstance(event, Frame)]


def split_stream(wire: Wire, data: bytes, cuts: list[int]) -> list[tuple[Opcode, bytes]]:
    frames: list[tuple[Opcode, bytes]] = []

    def take(content: bytes) -> None:
        if wire.state is State.OPEN:
            frames.append((Opcode.BINARY, content))

    splitter = MessageSplitter(take, lambda left: frames.extend(whole_stream(wire, left)))
    for begin, end in pairwise([0, *sorted(cut % (len(data) + 1) for cut in cuts), len(data)]):
        splitter.feed(data[begin:end])
    return frames


@given(STREAMS, st.none() | st.just(CLOSE) | BROKEN, STREAMS, st.lists(st.integers(0, 1 << 19), max_size=12))
def test_frames_are_those_that_websockets_reads(
    before: list[bytes], ending: bytes | None, behind: list[bytes], cuts: list[int]
) -> None:
    data = b"".join([*before, ending or b"", *behind])
    expected, wire = Wire(CLIENT, state=State.OPEN), Wire(CLIENT, state=State.OPEN)

    assert split_stream(wire, data, cuts) == whole_stream(expected, data)
    assert wire.state == expected.state
    assert str(wire.parser_exc) == str(expected.parser_exc)


@pytest.mark.parametrize("size", [0, 1, 125, 126, 65_535, 65_536])
def test_a_masked_frame_is_one_that_websockets_makes(size: int) -> None:
    content = bytes(range(256)) * (size // 256 + 1)
    server = ServerProtocol(state=State.OPEN)
    mask = next(random_masks())

    server.receive_data(masked_frame(content[:size], mask))

    (received,) = server.events_received()
    assert isinstance(received, Frame)
    assert (received.opcode, bytes(received.data)) == (Opcode.BINARY, content[:size])


def test_masks_are_random_and_do_not_end() -> None:
    masks = random_masks()
    drawn = [next(masks) for _ in range(1000)]
    assert {len(mask) for mask in drawn} == {4}
    assert len(set(drawn)) > 990


class Recorded(asyncio.Transport):
    """A transport that keeps what is written."""

    def __init__(self) -> None:
        super().__init__()
        self.written = b""

    def write(self, data: bytes | bytearray | memoryview) -> None:
        self.written += bytes(data)

    def can_write_eof(self) -> bool:
        return False

    def abort(self) -> None:
        pass


def begun() -> tuple[WebSocketConnection, Recorded, bytes]:
    """Return a connection that has asked for the upgrade, its transport, and what grants it."""
    transport = Recorded()
    connection = WebSocketConnection(parse_uri("ws://127.0.0.1:1/"))
    connection.connection_made(transport)
    server = ServerProtocol()
    server.receive_data(transport.written)
    (request,) = server.events_received()
    server.send_response(server.accept(request))  # type: ignore[arg-type]
    return connection, transport, b"".join(server.data_to_send())


@pytest.mark.asyncio
async def test_what_follows_the_handshake_at_once_is_heard_wherever_it_is_cut() -> None:
    messages = [frame(Opcode.BINARY, b"sound"), frame(Opcode.TEXT, b"text"), frame(Opcode.BINARY, b"more")]
    cuts = 260
    for cut in range(1, cuts):
        connection, _, granted = begun()
        heard: list[bytes | str] = []
        connection.listen(heard.append, str)
        data = b"".join([granted, *messages])
        assert len(data) < cuts

        connection.data_received(data[:cut])
        if data[cut:]:
            connection.data_received(data[cut:])

        assert connection.opened.done()
        assert heard == [b"sound", "text", b"more"], cut
        connection.connection_lost(None)


@pytest.mark.asyncio
async def test_a_message_that_is_too_long_ends_the_connection_before_it_has_come() -> None:
    connection, _, granted = begun()
    ended: list[Ending] = []
    connection.listen(str, ended.append)
    connection.data_received(granted)

    connection.data_received(b"\x82\x7f" + (MAX_MESSAGE_BYTES + 1).to_bytes(8, "big") + b"the first bytes")

    connection.connection_lost(None)
    assert str(ended[0]) == f"it sent a message of more than {MAX_MESSAGE_BYTES} bytes"


@pytest.mark.asyncio
async def test_a_server_that_does_not_speak_http_is_told_at_once() -> None:
    connection, _, _ = begun()

    connection.data_received(b"220 mail.example ESMTP\r\n")
    connection.connection_lost(None)

    with pytest.raises(Exception, match="did not receive a valid HTTP response"):
        await connection.opened
