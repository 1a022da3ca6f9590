"""The bridge's end of a WebSocket, against servers that behave and servers that do not."""

from __future__ import annotations

import asyncio
import gc
import tracemalloc
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import cast

import pytest
from websockets.asyncio.server import ServerConnection, serve
from websockets.http11 import Request
from websockets.server import ServerProtocol
from websockets.uri import parse_uri

from pytest_voiceeval.wire.connection import Connection, ConnectionLostError, Ending, open_connection
from pytest_voiceeval.wire.limits import MAX_MESSAGE_BYTES
from pytest_voiceeval.wire.websocket import WebSocketConnection

pytestmark = pytest.mark.asyncio


class Heard:
    """What a connection brings."""

    def __init__(self, connection: Connection) -> None:
        self.messages: asyncio.Queue[bytes | str] = asyncio.Queue()
        self.ended: asyncio.Future[Ending] = asyncio.get_running_loop().create_future()
        connection.listen(self.messages.put_nowait, self.ended.set_result)

    async def next(self) -> bytes | str:
        return await asyncio.wait_for(self.messages.get(), 10)

    async def end(self) -> Ending:
        return await asyncio.wait_for(self.ended, 10)


@asynccontextmanager
async def server(
    session: Callable[[ServerConnection], Awaitable[None]], **options: object
) -> AsyncIterator[str]:
    async with serve(session, "127.0.0.1", 0, max_size=MAX_MESSAGE_BYTES, **options) as running:  # type: ignore[arg-type]
        yield f"ws://127.0.0.1:{next(iter(running.sockets)).getsockname()[1]}"


async def echo(socket: ServerConnection) -> None:
    async for message in socket:
        await socket.send(message)


@pytest.mark.parametrize("size", [0, 1, 125, 126, 65_535, 65_536, MAX_MESSAGE_BYTES])
async def test_messages_of_any_size_pass_both_ways(size: int) -> None:
    async with server(echo) as url:
        connection = await open_connection(url, 5)
        heard = Heard(connection)
        connection.send(b"x" * size)
        assert await heard.next() == b"x" * size
        await connection.close()
        assert str(await heard.end()) == "closed with code 1000"


async def test_many_messages_keep_their_order() -> None:
    async with server(echo) as url:
        connection = await open_connection(url, 5)
        heard = Heard(connection)
        for number in range(1000):
            connection.send(number.to_bytes(2, "big"))
        assert [await heard.next() for _ in range(1000)] == [n.to_bytes(2, "big") for n in range(1000)]
        await connection.close()


async def test_a_message_in_fragments_comes_whole_and_text_as_text() -> None:
    async def session(socket: ServerConnection) -> None:
        await socket.send([b"a" * 5, b"b" * 5, b"c"])
        await socket.send("grüße")
        await socket.wait_closed()

    async with server(session) as url:
        connection = await open_connection(url, 5)
        heard = Heard(connection)
        assert await heard.next() == b"aaaaabbbbbc"
        assert await heard.next() == "grüße"
        await connection.close()


class Written(asyncio.Transport):
    """Keeps what is written."""

    def __init__(self) -> None:
        super().__init__()
        self.content = b""

    def write(self, data: bytes | bytearray | memoryview) -> None:
        self.content += data


def connected() -> WebSocketConnection:
    """Return a connection whose handshake is done, to which the test gives what comes."""
    connection, written, server = WebSocketConnection(parse_uri("ws://bot/")), Written(), ServerProtocol()
    connection.connection_made(written)
    server.receive_data(written.content)
    server.send_response(server.accept(cast("Request", server.events_received()[0])))
    connection.data_received(b"".join(server.data_to_send()))
    return connection


@pytest.mark.parametrize("part", [b"", b"x"])
async def test_a_message_in_many_small_parts_takes_no_more_memory_than_its_content(part: bytes) -> None:
    connection, messages, parts = connected(), [], 20_000
    connection.listen(messages.append, str)
    connection.data_received(b"\x02\x03abc")
    some = bytes([0, len(part)]) + part
    tracemalloc.start()
    try:
        for _ in range(parts // 100):
            connection.data_received(some * 100)
        kept, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert kept < len(part) * parts + 20_000
    connection.data_received(b"\x80\x01z")
    connection.data_received(b"\x02\x01a\x80\x01b")
    assert messages == [b"abc" + part * parts + b"z", b"ab"]


async def sends_until(connection: Connection, deadline: float) -> None:
    while asyncio.get_running_loop().time() < deadline:
        connection.send(b"")
        await asyncio.sleep(0.001)


async def test_what_comes_before_anybody_listens_is_kept() -> None:
    async def session(socket: ServerConnection) -> None:
        await socket.send(b"first")
        await socket.close(1011, "broken")

    async with server(session) as url:
        connection = await open_connection(url, 5)
        deadline = asyncio.get_running_loop().time() + 10
        with pytest.raises(ConnectionLostError, match="broken"):
            await sends_until(connection, deadline)
        heard = Heard(connection)
        assert await heard.next() == b"first"
        assert str(await heard.end()) == "closed with code 1011 (broken)"


async def test_a_connection_that_breaks_is_told() -> None:
    async def session(socket: ServerConnection) -> None:
        await socket.recv()
        socket.transport.abort()

    async with server(session) as url:
        connection = await open_connection(url, 5)
        heard = Heard(connection)
        connection.send(b"x")
        assert str(await heard.end()) == "dropped without a close message"
        with pytest.raises(ConnectionLostError, match="dropped"):
            connection.send(b"y")
        await connection.close()


async def test_a_ping_is_answered() -> None:
    answered = asyncio.get_running_loop().create_future()

    async def session(socket: ServerConnection) -> None:
        await (await socket.ping())
        answered.set_result(True)
        await socket.wait_closed()

    async with server(session) as url:
        connection = await open_connection(url, 5)
        assert await asyncio.wait_for(answered, 10)
        await connection.close()


async def test_a_peer_that_stops_reading_leaves_a_backlog_until_it_reads_again() -> None:
    go_on = asyncio.Event()

    async def session(socket: ServerConnection) -> None:
        await go_on.wait()
        async for _ in socket:
            pass

    async with server(session, max_queue=1) as url:
        connection = await open_connection(url, 5)
        assert connection.backlog == 0
        for _ in range(200):
            connection.send(bytes(100_000))
        assert connection.backlog > 10
        go_on.set()
        deadline = asyncio.get_running_loop().time() + 20
        while connection.backlog:
            assert asyncio.get_running_loop().time() < deadline
            await asyncio.sleep(0.001)
        await connection.close()


async def raw_server(answer: bytes) -> tuple[asyncio.Server, str]:
    async def session(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(answer)
        writer.close()

    listening = await asyncio.start_server(session, "127.0.0.1", 0)
    return listening, f"ws://127.0.0.1:{listening.sockets[0].getsockname()[1]}"


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        (b"", "did not receive a valid HTTP response"),
        (b"SSH-2.0-OpenSSH\r\n\r\n", "did not receive a valid HTTP response"),
        (b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n", "HTTP 404"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi", "HTTP 200"),
    ],
    ids=["nothing", "another protocol", "no such path", "a web page"],
)
async def test_what_is_no_websocket_is_told(answer: bytes, told: str) -> None:
    listening, url = await raw_server(answer)
    async with listening:
        with pytest.raises(OSError, match=told):
            await open_connection(url, 0.2)


async def test_an_opening_that_nobody_waits_for_any_more_is_no_matter() -> None:
    loop = asyncio.get_running_loop()
    told: list[dict[str, object]] = []
    loop.set_exception_handler(lambda _, context: told.append(context))
    hangs_up = await asyncio.start_server(lambda _, writer: writer.close(), "127.0.0.1")
    port = hangs_up.sockets[0].getsockname()[1]
    uri = parse_uri(f"ws://127.0.0.1:{port}")
    _, connection = await loop.create_connection(lambda: WebSocketConnection(uri), uri.host, uri.port)
    gone = loop.create_future()
    connection.listen(lambda _: None, gone.set_result)
    await asyncio.wait_for(gone, 5)
    del connection
    gc.collect()
    hangs_up.close()
    assert told == []


async def test_a_server_that_never_answers_is_told_in_time() -> None:
    gone = asyncio.Event()

    async def session(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await asyncio.wait([asyncio.ensure_future(reader.read())])  # it may be reset
        writer.close()
        gone.set()

    async with await asyncio.start_server(session, "127.0.0.1", 0) as listening:
        url = f"ws://127.0.0.1:{listening.sockets[0].getsockname()[1]}"
        with pytest.raises(OSError, match="no answer to the WebSocket handshake"):
            await open_connection(url, 0.1)
        await asyncio.wait_for(gone.wait(), 10)


async def test_tls_is_asked_of_a_server_that_has_none() -> None:
    async with server(echo) as url:
        with pytest.raises(OSError, match=r"."):  # the system's words
            await open_connection(url.replace("ws://", "wss://"), 0.2)


async def test_an_url_that_is_none_is_told() -> None:
    with pytest.raises(OSError, match="isn't a valid URI"):
        await open_connection("http://127.0.0.1:1", 0.1)
