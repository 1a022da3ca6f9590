"""What warped clocks cannot count, loop by loop: descriptors that lead elsewhere, threads, jobs of pools."""

from __future__ import annotations

import asyncio
import os
import socket
import threading
from collections.abc import Callable, Coroutine, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing, contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any
from unittest import mock

import pytest

from pytest_voiceeval.bridge import loose
from pytest_voiceeval.bridge.clock import ChargedClock, Clock, MeasuredClock
from pytest_voiceeval.bridge.descriptors import descriptor_of
from pytest_voiceeval.bridge.warp import WarpLoop, all_counted
from pytest_voiceeval.errors import ClockError

LIMIT = 10.0
"""Wall time after which a test has failed."""

warped = pytest.mark.parametrize("clock", [MeasuredClock, ChargedClock], ids=["measured", "charged"])


async def in_patience(waiting: Coroutine[Any, Any, Any]) -> None:
    """Wait as a tool does that has a limit of its own, and gives up then."""
    with suppress(TimeoutError):
        async with asyncio.timeout(6):
            await waiting


# descriptors


@contextmanager
def listening() -> Iterator[tuple[str, int]]:
    """A server of somebody else's, which never answers; yields its address."""
    with closing(socket.create_server(("127.0.0.1", 0))) as server:
        yield server.getsockname()


async def socket_pair(held: ExitStack) -> None:
    ends = [held.enter_context(end) for end in socket.socketpair()]
    ends[0].setblocking(False)
    await asyncio.get_running_loop().sock_recv(ends[0], 1)


async def reader_of_a_pair(held: ExitStack) -> None:
    ends = [held.enter_context(end) for end in socket.socketpair()]
    heard = asyncio.Event()
    asyncio.get_running_loop().add_reader(ends[0], heard.set)
    await heard.wait()


async def connected_socket(held: ExitStack) -> None:
    sock = socket.create_connection(held.enter_context(listening()))
    reader, writer = await asyncio.open_connection(sock=sock)
    held.callback(writer.close)
    await reader.read(1)


async def connecting_socket(held: ExitStack) -> None:
    sock = held.enter_context(socket.socket())
    sock.setblocking(False)
    sock.connect_ex(held.enter_context(listening()))
    writable = asyncio.Event()
    asyncio.get_running_loop().add_writer(sock, writable.set)
    await asyncio.Event().wait()


async def datagrams(held: ExitStack) -> None:
    transport, _ = await asyncio.get_running_loop().create_datagram_endpoint(
        asyncio.DatagramProtocol, local_addr=("127.0.0.1", 0)
    )
    held.callback(transport.close)
    await asyncio.Event().wait()


async def pipe(held: ExitStack) -> None:
    ours, theirs = os.pipe()
    held.callback(os.close, theirs)
    reader = asyncio.StreamReader()
    transport, _ = await asyncio.get_running_loop().connect_read_pipe(
        lambda: asyncio.StreamReaderProtocol(reader), os.fdopen(ours, "rb")
    )
    held.callback(transport.close)
    await reader.read(1)


@pytest.mark.parametrize(
    ("wait", "name"),
    [
        (socket_pair, r"a socket pair \(file descriptor \d+\)"),
        (reader_of_a_pair, r"a socket pair \(file descriptor \d+\)"),
        (connected_socket, r"a socket to 127\.0\.0\.1:\d+"),
        (connecting_socket, r"a socket to 127\.0\.0\.1:\d+"),
        (datagrams, r"a socket at 127\.0\.0\.1:\d+"),
        (pipe, r"a pipe \(file descriptor \d+\)"),
    ],
)
@warped
def test_a_descriptor_that_leads_out_of_the_loop_is_named(
    clock: type[Clock], wait: Callable[[ExitStack], Coroutine[Any, Any, None]], name: str
) -> None:
    async def call() -> None:
        with ExitStack() as held:
            await in_patience(wait(held))

    with pytest.raises(ClockError, match=rf"what {name} leads to is at work.*--voice-clock=real"):
        clock().run(call())


async def echo(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    writer.write(await reader.read(1))
    writer.close()


async def answer_over(sock: socket.socket) -> bytes:
    reader, writer = await asyncio.open_connection(sock=sock)
    await asyncio.sleep(5)
    writer.write(b"x")
    answer = await reader.read(1)
    writer.close()
    return answer


@warped
def test_a_connected_socket_to_what_the_loop_serves_is_its_own(clock: type[Clock], tmp_path: Path) -> None:
    async def call() -> list[bytes]:
        loop = asyncio.get_running_loop()
        at = str(tmp_path / "socket")
        async with await asyncio.start_server(echo, "127.0.0.1", 0) as server:
            over_tcp = await answer_over(socket.create_connection(server.sockets[0].getsockname()))
        async with await asyncio.start_unix_server(echo, at):
            ours = socket.socket(socket.AF_UNIX)
            ours.setblocking(False)
            await loop.sock_connect(ours, at)
            return [over_tcp, await answer_over(ours)]

    assert clock().run(call()) == [b"x", b"x"]


@pytest.mark.skipif(not socket.has_dualstack_ipv6(), reason="IPv6 and IPv4 at once are not to be had")
@warped
def test_a_server_of_both_versions_of_ip_is_the_loops_own(clock: type[Clock]) -> None:
    async def call() -> bytes:
        listens = socket.create_server(("::", 0), family=socket.AF_INET6, dualstack_ipv6=True)
        async with await asyncio.start_server(echo, sock=listens):
            reader, writer = await asyncio.open_connection("127.0.0.1", listens.getsockname()[1])
            writer.write(b"x")
            answer = await reader.read(1)
            writer.close()
            return answer

    assert clock().run(call()) == b"x"


@warped
def test_a_loop_may_accept_by_a_listening_socket_of_its_own(clock: type[Clock]) -> None:
    async def call() -> bytes:
        loop = asyncio.get_running_loop()
        with socket.create_server(("127.0.0.1", 0)) as server:
            server.setblocking(False)
            accepting = asyncio.create_task(loop.sock_accept(server))
            await asyncio.sleep(3)
            _, writer = await asyncio.open_connection(*server.getsockname())
            accepted, _ = await accepting
        receiving = asyncio.create_task(loop.sock_recv(accepted, 1))
        await asyncio.sleep(3)
        writer.write(b"x")
        with accepted:
            received = await receiving
        writer.close()
        return received

    assert clock().run(call()) == b"x"


def test_a_connection_is_the_same_as_long_as_its_ends_are() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        ours = socket.create_connection(server.getsockname())
        theirs, _ = server.accept()
        before = descriptor_of(ours)
        assert (before.here, before.there) == (ours.getsockname(), server.getsockname())
        assert descriptor_of(ours.fileno()).is_same_as(before)
        number = ours.detach()
        with socket.create_connection(server.getsockname()) as other:
            os.dup2(other.fileno(), number)
            assert not descriptor_of(number).is_same_as(before)
        os.close(number)
        theirs.close()


# threads


@contextmanager
def never() -> Iterator[threading.Event]:
    """What a thread waits for that is not done before the call is over."""
    event = threading.Event()
    try:
        yield event
    finally:
        event.set()


def calls_back(done: threading.Event, loop: asyncio.AbstractEventLoop, future: asyncio.Future[None]) -> None:
    if done.wait(LIMIT) and not loop.is_closed():
        with suppress(RuntimeError):  # closed meanwhile
            loop.call_soon_threadsafe(future.cancel)


@warped
def test_a_thread_is_named_though_it_calls_back_after_the_call(clock: type[Clock]) -> None:
    async def call(done: threading.Event) -> None:
        loop = asyncio.get_running_loop()
        future: asyncio.Future[None] = loop.create_future()
        threading.Thread(target=calls_back, args=(done, loop, future), name="somebody's own").start()
        await in_patience(asyncio.wait_for(future, None))

    with never() as done, pytest.raises(ClockError, match=r"thread \"somebody's own\" is at work.*=real"):
        clock().run(call(done))


@warped
def test_a_thread_that_is_only_asked_from_time_to_time_is_named(clock: type[Clock]) -> None:
    async def call(done: threading.Event) -> None:
        thread = threading.Thread(target=done.wait, args=(LIMIT,), name="polled")
        thread.start()
        for _ in range(10):
            await asyncio.sleep(0.1)

    with never() as done, pytest.raises(ClockError, match="thread 'polled' is at work"):
        clock().run(call(done))


@pytest.mark.parametrize("is_new", [True, False], ids=["made in the call", "made before"])
@warped
def test_a_job_of_a_pool_that_the_loop_does_not_know_is_named(clock: type[Clock], is_new: bool) -> None:
    async def call(pool: ThreadPoolExecutor, done: threading.Event) -> None:
        await in_patience(asyncio.wait_for(asyncio.wrap_future(pool.submit(done.wait, LIMIT)), None))

    with ThreadPoolExecutor(1, "own pool") as pool, never() as done:
        if not is_new:
            pool.submit(int).result(LIMIT)
        with pytest.raises(ClockError, match="a job of the thread pool 'own pool' is at work"):
            clock().run(call(pool, done))


@warped
def test_what_is_over_before_time_goes_on_is_no_matter(clock: type[Clock]) -> None:
    async def call(pool: ThreadPoolExecutor) -> int:
        thread = threading.Thread(target=int)
        thread.start()
        thread.join(LIMIT)
        (found,) = pool.map(len, ["four"])
        await asyncio.sleep(60)
        return found

    with ThreadPoolExecutor(1) as pool:  # whose thread stays
        assert clock().run(call(pool)) == 4


@warped
def test_threads_of_counted_jobs_are_no_matter(clock: type[Clock]) -> None:
    async def call(pool: ThreadPoolExecutor, done: threading.Event) -> str:
        loop = asyncio.get_running_loop()
        keeper = threading.Thread(target=done.wait, args=(LIMIT,))
        await loop.run_in_executor(pool, keeper.start)
        text = await asyncio.to_thread(str, "done")
        await asyncio.sleep(60)
        assert keeper.is_alive()
        return text

    with ThreadPoolExecutor(1) as pool, never() as done:
        assert clock().run(call(pool, done)) == "done"


@warped
def test_threads_that_others_start_during_a_call_are_no_matter(clock: type[Clock]) -> None:
    """Such as a timer of pytest-timeout, for a test that waits while calls of later ones are held."""
    go, started = threading.Event(), threading.Event()

    def other(done: threading.Event) -> None:
        assert go.wait(LIMIT)
        threading.Thread(target=done.wait, args=(LIMIT,)).start()
        ThreadPoolExecutor(1).submit(done.wait, LIMIT)
        started.set()

    async def call() -> str:
        go.set()
        assert started.wait(LIMIT)
        await asyncio.sleep(60)
        return "done"

    with never() as done:
        thread = threading.Thread(target=other, args=(done,))
        thread.start()
        assert clock().run(call()) == "done"
        thread.join(LIMIT)


@warped
def test_threads_that_only_look_after_something_are_no_matter(clock: type[Clock]) -> None:
    class Bystander(threading.Thread):
        __module__ = "tqdm._monitor"

    async def call(done: threading.Event) -> str:
        Bystander(target=done.wait, args=(LIMIT,)).start()
        await asyncio.sleep(60)
        return "done"

    with never() as done:
        assert clock().run(call(done)) == "done"


def test_a_thread_is_the_fault_of_the_call_that_starts_it_alone() -> None:
    async def part(name: str, work: Callable[[], object]) -> str:
        loop = asyncio.get_running_loop()
        assert isinstance(loop, WarpLoop)
        loop.begin_call(name)
        try:
            return await all_counted(waits(name, work))
        finally:
            loop.end_call(name)

    async def waits(name: str, work: Callable[[], object]) -> str:
        work()
        await asyncio.sleep(30)
        return name

    async def calls(done: threading.Event) -> list[Any]:
        thread = threading.Thread(target=done.wait, args=(LIMIT,), name="of one")
        parts = [part("one", thread.start), part("other", partial(int, 0))]
        return await asyncio.gather(*map(asyncio.create_task, parts), return_exceptions=True)

    with never() as done:
        one, other = MeasuredClock().run(calls(done))
    assert isinstance(one, ClockError)
    assert "thread 'of one'" in str(one)
    assert other == "other"


def test_threads_and_pools_are_replaced_once() -> None:
    loose.install()
    before = threading.Thread.start, ThreadPoolExecutor.submit
    loose.install()
    assert (threading.Thread.start, ThreadPoolExecutor.submit) == before


# other systems, and other tests


@warped
def test_connections_of_the_loop_are_its_own_where_a_socket_does_not_tell_that_it_listens(
    clock: type[Clock], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(socket, "SO_ACCEPTCONN", 9999)  # as on macOS, which refuses to tell

    async def echoed() -> bytes:
        async def echo(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            writer.write(await reader.readexactly(2))
            writer.close()

        async with await asyncio.start_server(echo, "127.0.0.1", 0) as server:
            host, port = server.sockets[0].getsockname()
            reader, writer = await asyncio.open_connection(host, port)
            writer.write(b"hi")
            content = await reader.read()
            writer.close()
            return content

    assert clock().run(echoed()) == b"hi"


@warped
def test_a_loop_can_be_had_while_somebody_has_replaced_threads_and_pools(clock: type[Clock]) -> None:
    with mock.patch.object(threading.Thread, "start"), mock.patch.object(ThreadPoolExecutor, "submit"):
        clock().new_loop().close()
