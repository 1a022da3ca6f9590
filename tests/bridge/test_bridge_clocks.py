"""The three clocks, without bots: jumps, counted and charged work, refusals, interruptions."""

from __future__ import annotations

import asyncio
import functools
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager
from typing import Any

import aiohttp
import pytest
import websockets
from aiohttp import web

from pytest_voiceeval.bots.http_client import CountedHttpClient
from pytest_voiceeval.bridge.charged import START
from pytest_voiceeval.bridge.clock import ChargedClock, Clock, MeasuredClock, RealClock, choose_clock
from pytest_voiceeval.bridge.endpoint import Endpoint
from pytest_voiceeval.errors import ClockError
from pytest_voiceeval.model.turns import Side
from pytest_voiceeval.model.work import ClockName, Job, WorkCounter
from pytest_voiceeval.scenarios.base import Scenario

ELSEWHERE = "192.0.2.1"  # reserved for documentation: nobody is there

warped = pytest.mark.parametrize("clock", [MeasuredClock, ChargedClock], ids=["measured", "charged"])
every = pytest.mark.parametrize(
    "clock", [RealClock, MeasuredClock, ChargedClock], ids=["real", "measured", "charged"]
)


@contextmanager
def within(seconds: float) -> Iterator[None]:
    """Fail if the body takes longer, by the wall clock."""
    begun = time.monotonic()
    yield
    assert time.monotonic() - begun < seconds


def now() -> float:
    return asyncio.get_running_loop().time()


async def sleeps(seconds: float, name: str, done: list[str]) -> None:
    await asyncio.sleep(seconds)
    done.append(name)


# jumps


@warped
def test_idle_time_is_skipped_and_timers_fire_in_order(clock: type[Clock]) -> None:
    async def call() -> tuple[float, list[str]]:
        begun, done = now(), []
        await asyncio.gather(*(sleeps(s, f"{s:g}", done) for s in (30.0, 0.001, 7200.0, 5.0, 86_500.0)))
        return now() - begun, done

    with within(2):
        seconds, done = clock().run(call())
    assert done == ["0.001", "5", "30", "7200", "86500"]
    assert seconds == pytest.approx(86_500, abs=0.5)


def test_charged_time_stands_still_in_callbacks_and_measured_time_runs() -> None:
    async def call() -> float:
        begun = now()
        time.sleep(0.05)  # noqa: ASYNC251 - stands for compute
        return now() - begun

    assert ChargedClock().run(call()) == 0
    assert MeasuredClock().run(call()) == pytest.approx(0.05, abs=0.04)


@warped
def test_a_deadline_is_met_to_the_instant(clock: type[Clock]) -> None:
    async def call() -> float:
        begun = now()
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(120):
                await asyncio.get_running_loop().create_future()
        return now() - begun

    with within(1):
        assert clock().run(call()) == pytest.approx(120, abs=0.1)


# jobs


def test_measured_time_runs_at_wall_speed_while_jobs_are_out() -> None:
    async def call() -> tuple[float, list[str]]:
        begun, done = now(), []
        idle = asyncio.create_task(sleeps(600, "idle", done))

        async def job(seconds: float) -> None:
            await asyncio.to_thread(time.sleep, seconds)
            done.append(f"{seconds:g}")

        await asyncio.gather(job(0.3), job(0.1), job(0.2))
        seconds = now() - begun
        await idle
        return seconds, done

    with within(3):
        seconds, done = MeasuredClock().run(call())
    assert done == ["0.1", "0.2", "0.3", "idle"]
    assert 0.3 <= seconds < 0.6


def test_a_measured_job_counts_until_it_is_done_though_nobody_waits_for_it() -> None:
    async def call() -> tuple[float, float]:
        waiting = asyncio.create_task(asyncio.to_thread(time.sleep, 0.4))
        await asyncio.sleep(0.01)
        waiting.cancel()
        begun = time.monotonic()
        await asyncio.sleep(0.2)
        at_wall_speed = time.monotonic() - begun
        await asyncio.sleep(600)
        return at_wall_speed, time.monotonic() - begun

    at_wall_speed, wall = MeasuredClock().run(call())
    assert at_wall_speed >= 0.19
    assert wall < 2


def test_a_measured_job_that_never_began_does_not_count_once_cancelled() -> None:
    async def call() -> None:
        loop = asyncio.get_running_loop()
        with ThreadPoolExecutor(1) as one:
            first = loop.run_in_executor(one, time.sleep, 0.1)
            second = loop.run_in_executor(one, time.sleep, 60)
            second.cancel()
            await first
        await asyncio.sleep(600)

    with within(2):
        MeasuredClock().run(call())


@warped
def test_a_jobs_exception_is_its_waiters(clock: type[Clock]) -> None:
    async def call() -> str:
        with pytest.raises(ZeroDivisionError):
            await asyncio.to_thread(lambda: 1 / 0)
        with pytest.raises(asyncio.InvalidStateError):
            await asyncio.get_running_loop().run_in_executor(
                None, Job("synthesis", asyncio.Future(loop=asyncio.get_running_loop()).result, len)
            )
        return await asyncio.to_thread(str, "on it goes")

    with within(2):
        assert clock().run(call()) == "on it goes"


@pytest.mark.parametrize(
    ("job", "seconds"),
    [
        (Job("recognition", lambda: "text", lambda _: 10.0), 0.08),
        (Job("synthesis", lambda: b"", lambda _: 0.0), 0.02),
        (Job("synthesis", lambda: b"", lambda _: 2.0), 0.14),
        (lambda: "neither", 0.0),
    ],
)
def test_a_charged_job_costs_what_is_declared(job: Callable[[], Any], seconds: float) -> None:
    async def call() -> tuple[float, int]:
        begun = now()
        thread = threading.get_ident()

        def slow() -> Any:
            time.sleep(0.05)
            assert threading.get_ident() == thread
            return job()

        slow_job = Job(job.kind, slow, job.seconds_of) if isinstance(job, Job) else slow
        await asyncio.get_running_loop().run_in_executor(None, slow_job)
        return now() - begun, thread

    assert ChargedClock().run(call())[0] == pytest.approx(seconds, abs=1e-9)


def test_charged_jobs_overlap_nest_and_can_be_cancelled() -> None:
    say = Job("synthesis", lambda: b"", lambda _: 1.0)  # 0.08 s
    hear = Job("recognition", lambda: "", lambda _: 1.0)  # 0.08 s

    async def call() -> list[float]:
        loop, begun, at = asyncio.get_running_loop(), now(), []

        async def both() -> None:
            await loop.run_in_executor(None, say)
            await loop.run_in_executor(None, hear)

        await asyncio.gather(both(), both())
        at.append(now() - begun)
        waiting = asyncio.ensure_future(loop.run_in_executor(None, say))
        await asyncio.sleep(0.01)
        waiting.cancel()
        await asyncio.wait([waiting])
        at.append(now() - begun)
        await asyncio.sleep(1)
        at.append(now() - begun)
        return at

    assert ChargedClock().run(call()) == pytest.approx([0.16, 0.17, 1.17], abs=1e-9)


def test_to_thread_runs_inline_under_charged_and_costs_nothing() -> None:
    async def call() -> tuple[bool, float]:
        begun = now()
        thread = await asyncio.to_thread(threading.get_ident)
        return thread == threading.get_ident(), now() - begun

    assert ChargedClock().run(call()) == (True, 0.0)


# requests over HTTP


@contextmanager
def slow_server() -> Iterator[str]:
    """A server in another thread that thinks for 0.3 s; yields its URL."""
    up, loops = threading.Event(), []
    urls: list[str] = []

    async def whole(_: web.Request) -> web.Response:
        await asyncio.sleep(0.3)
        return web.Response(text="answer", status=500 if _.path == "/broken" else 200)

    async def streamed(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse()
        await response.prepare(request)
        for piece in (b"an", b"swer"):
            await asyncio.sleep(0.15)
            await response.write(piece)
        await response.write_eof()
        return response

    async def main() -> None:
        app = web.Application()
        app.add_routes([web.get("/whole", whole), web.get("/broken", whole), web.get("/streamed", streamed)])
        runner = web.AppRunner(app, handle_signals=False, shutdown_timeout=0.1)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        urls.append(f"http://127.0.0.1:{runner.addresses[0][1]}")
        stop = asyncio.Event()
        loops.append((asyncio.get_running_loop(), stop))
        up.set()
        await stop.wait()
        await runner.cleanup()

    thread = threading.Thread(target=asyncio.run, args=(main(),), name="slow server")
    thread.start()
    assert up.wait(10)
    try:
        yield urls[0]
    finally:
        loop, stop = loops[0]
        loop.call_soon_threadsafe(stop.set)
        thread.join()


async def whole(client: CountedHttpClient, url: str) -> str:
    text: str = (await client.get(f"{url}/whole")).text
    return text


async def streamed(client: CountedHttpClient, url: str) -> str:
    async with client.stream("GET", f"{url}/streamed") as response:
        return "".join([text async for text in response.aiter_text()])


async def streamed_and_left(client: CountedHttpClient, url: str) -> str:
    async with client.stream("GET", f"{url}/streamed") as response:
        async for text in response.aiter_text():
            return str(text) + "swer"
    raise AssertionError


async def broken(client: CountedHttpClient, url: str) -> str:
    response = await client.get(f"{url}/broken")
    assert response.status_code == 500
    return str(response.text)


async def cancelled(client: CountedHttpClient, url: str) -> str:
    for path in ("whole", "streamed"):
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.2), client.stream("GET", f"{url}/{path}") as response:
                await response.aread()
    return "answer"


async def unreachable(client: CountedHttpClient, url: str) -> str:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    with pytest.raises(Exception, match=r"(?i)connect"):
        await client.get(f"http://127.0.0.1:{port}")
    return await whole(client, url)


@pytest.mark.parametrize("ask", [whole, streamed, streamed_and_left, broken, cancelled, unreachable])
def test_measured_time_runs_at_wall_speed_while_a_request_is_under_way(
    ask: Callable[[CountedHttpClient, str], Awaitable[str]],
) -> None:
    async def call(url: str) -> tuple[str, float, list[str]]:
        done: list[str] = []
        clock = asyncio.create_task(sleeps(1, "a second", done))
        async with CountedHttpClient(trust_env=False) as client:
            begun = now()
            text = await ask(client, url)
            seconds = now() - begun
        done.append("the answer")
        loop = asyncio.get_running_loop()
        assert isinstance(loop, WorkCounter)
        assert loop.at_work == 0
        await clock
        await asyncio.sleep(600)
        return text, seconds, done

    with slow_server() as url, within(3):
        text, seconds, done = MeasuredClock().run(call(url))
    assert text == "answer"
    assert 0.14 < seconds < 0.9
    assert done == ["the answer", "a second"]


def test_a_request_that_is_not_counted_is_refused_where_another_answers_it() -> None:
    async def call(url: str) -> None:
        async with aiohttp.ClientSession() as session:
            await session.get(url)

    with (
        slow_server() as url,
        pytest.raises(ClockError, match=rf"a socket to {url[7:]} leads to.*--voice-clock=real"),
    ):
        MeasuredClock().run(call(url))


# what is refused


async def plain_socket() -> None:
    await asyncio.open_connection(ELSEWHERE, 80)


async def plain_socket_while_a_job_is_out() -> None:
    job = asyncio.create_task(asyncio.to_thread(time.sleep, 0.1))
    await asyncio.sleep(0)
    try:
        await asyncio.open_connection(ELSEWHERE, 80)
    finally:
        await job


async def websocket(where: str = f"{ELSEWHERE}:80") -> None:
    await websockets.connect(f"ws://{where}", proxy=None)


async def http_request() -> None:
    async with aiohttp.ClientSession() as session:
        await session.get(f"http://{ELSEWHERE}:80")


async def datagrams() -> None:
    await asyncio.get_running_loop().create_datagram_endpoint(
        asyncio.DatagramProtocol, remote_addr=(ELSEWHERE, 80)
    )


async def swallowed() -> None:
    """A tool whose errors its bot swallows."""
    with pytest.raises(ClockError):
        await plain_socket()
    await asyncio.sleep(10)


@pytest.mark.parametrize(
    "reach_out",
    [plain_socket, plain_socket_while_a_job_is_out, websocket, http_request, datagrams, swallowed],
)
@warped
def test_a_remote_socket_is_refused_before_anything_leaves(
    clock: type[Clock],
    reach_out: Callable[[], Coroutine[Any, Any, None]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    reached: list[Any] = []
    monkeypatch.setattr(socket.socket, "connect", lambda _, address: reached.append(address), raising=False)
    with pytest.raises(ClockError, match=rf"a socket to {ELSEWHERE}:80 .*--voice-clock=real"), within(2):
        clock().run(reach_out())
    assert reached == []


@warped
def test_a_name_elsewhere_is_not_even_looked_up(clock: type[Clock], monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Any] = []
    monkeypatch.setattr(socket, "getaddrinfo", lambda *args, **_: asked.append(args) or [])
    with pytest.raises(ClockError, match=r"a socket to speech\.example:443"):
        clock().run(websocket("speech.example:443"))
    assert asked == []


def test_counted_requests_may_leave_the_machine_under_measured_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    reached: list[Any] = []

    def refuse(_: socket.socket, address: Any) -> None:
        reached.append(address)
        raise ConnectionRefusedError("nobody is there")

    monkeypatch.setattr(socket.socket, "connect", refuse, raising=False)

    async def call() -> None:
        async with CountedHttpClient(trust_env=False) as client:
            await client.get(f"http://{ELSEWHERE}:80")

    with pytest.raises(Exception, match=r"(?i)connect") as caught:
        MeasuredClock().run(call())
    assert not isinstance(caught.value, ClockError)
    assert reached == [(ELSEWHERE, 80)]
    with pytest.raises(ClockError, match=f"a socket to {ELSEWHERE}:80"):
        ChargedClock().run(call())
    assert reached == [(ELSEWHERE, 80)]


def in_a_thread_of_its_own(work: Callable[[], None]) -> asyncio.Future[None]:
    loop = asyncio.get_running_loop()
    future = loop.create_future()

    def run() -> None:
        work()
        loop.call_soon_threadsafe(future.set_result, None)

    threading.Thread(target=run, name="somebody's own").start()
    return future


async def foreign_thread() -> None:
    await in_a_thread_of_its_own(lambda: time.sleep(0.05))


async def foreign_thread_while_a_job_is_out() -> None:
    await asyncio.gather(
        in_a_thread_of_its_own(lambda: time.sleep(0.05)), asyncio.to_thread(time.sleep, 0.15)
    )


async def foreign_thread_that_breaks_the_call() -> None:
    done = in_a_thread_of_its_own(lambda: None)
    await done
    raise ConnectionError("something else went wrong because of it")


@pytest.mark.parametrize(
    "call", [foreign_thread, foreign_thread_while_a_job_is_out, foreign_thread_that_breaks_the_call]
)
@warped
def test_a_foreign_thread_is_named(clock: type[Clock], call: Callable[[], Coroutine[Any, Any, None]]) -> None:
    with pytest.raises(ClockError, match=r"thread \"somebody's own\" is at work.*--voice-clock=real"):
        clock().run(call())


def test_a_job_may_speak_to_the_loop_while_it_is_at_work() -> None:
    async def call() -> list[str]:
        loop, said = asyncio.get_running_loop(), []
        own = ThreadPoolExecutor(1)
        for executor in (None, own):
            await loop.run_in_executor(executor, loop.call_soon_threadsafe, said.append, "half way")
        own.shutdown()
        return said

    assert MeasuredClock().run(call()) == ["half way"] * 2


@warped
def test_a_subprocess_is_refused_and_never_started(
    clock: type[Clock], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(subprocess, "Popen", lambda *_, **__: pytest.fail("started"))
    with pytest.raises(ClockError, match=r"a subprocess \(.*python.*\) is at work"):
        clock().run(asyncio.create_subprocess_exec(sys.executable, "-c", "pass"))
    with pytest.raises(ClockError, match=r"a subprocess \(sleep 5\) is at work"):
        clock().run(asyncio.create_subprocess_shell("sleep 5"))


# stuck, interrupted, failed


@warped
def test_a_call_in_which_nothing_can_happen_ends_with_a_word(clock: Any) -> None:
    async def call() -> None:
        await asyncio.get_running_loop().create_future()

    with within(5), pytest.raises(ClockError, match=r"the call stands still.*--voice-clock=real"):
        clock(stuck_seconds=0.1).run(call())


def test_a_measured_call_is_not_stuck_while_a_job_is_out() -> None:
    async def call() -> None:
        await asyncio.to_thread(time.sleep, 0.3)

    MeasuredClock(stuck_seconds=0.1).run(call())


@every
def test_an_interruption_leaves_no_task(clock: type[Clock]) -> None:
    tasks: list[asyncio.Task[None]] = []
    cleaned_up: list[str] = []

    async def long(name: str) -> None:
        try:
            await asyncio.sleep(1e9)
        finally:
            await asyncio.sleep(0.01)
            cleaned_up.append(name)

    async def call() -> None:
        tasks.extend([asyncio.create_task(long("one")), asyncio.create_task(long("two"))])
        asyncio.get_running_loop().call_later(0.05, signal.raise_signal, signal.SIGINT)
        await long("call")

    with pytest.raises(KeyboardInterrupt), within(3):
        clock().run(call())
    assert sorted(cleaned_up) == ["call", "one", "two"]
    assert all(task.cancelled() for task in tasks)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


@every
def test_a_call_after_a_failed_one_starts_afresh(clock: type[Clock]) -> None:
    same = clock()
    loops = []

    async def call(*, fails: bool) -> str:
        loops.append(asyncio.get_running_loop())
        if fails:
            raise ValueError("an error of its own")
        await asyncio.sleep(0.01)
        return "done"

    threads = threading.active_count()
    with pytest.raises(ValueError, match="an error of its own"):
        same.run(call(fails=True))
    assert same.run(call(fails=False)) == "done"
    assert same.run(call(fails=False)) == "done"
    assert len(set(map(id, loops))) == 3
    assert all(loop.is_closed() for loop in loops)
    assert threading.active_count() == threads


def test_charged_calls_begin_at_the_same_instant() -> None:
    async def call() -> float:
        begun = now()
        await asyncio.sleep(3)
        return begun

    same = ChargedClock()
    assert [same.run(call()), same.run(call())] == [START, START]


def test_refusals_are_forgotten_with_their_call() -> None:
    same = MeasuredClock()
    with pytest.raises(ClockError):
        same.run(plain_socket())
    same.run(asyncio.sleep(5))


def test_a_call_runs_beside_one_on_another_thread() -> None:
    async def call(times: list[float]) -> None:
        begun = now()
        for _ in range(200):
            await asyncio.sleep(0.1)
        times.append(now() - begun)

    times: list[float] = []
    threads = [threading.Thread(target=lambda: ChargedClock().run(call(times))) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert times == pytest.approx([20.0, 20.0])


# what libraries do on such a loop


@asynccontextmanager
async def echo(handler: Callable[[Any], Awaitable[None]], **options: Any) -> AsyncIterator[str]:
    async with websockets.serve(handler, "localhost", 0, **options) as server:
        yield f"ws://localhost:{server.sockets[0].getsockname()[1]}"


async def say_it_again(connection: Any) -> None:
    async for message in connection:
        await connection.send(message)


@warped
def test_websockets_keeps_a_quiet_connection_alive_for_hours(clock: type[Clock]) -> None:
    async def call() -> str:
        async with echo(say_it_again) as url, websockets.connect(url, proxy=None) as connection:
            await asyncio.sleep(4 * 3600)
            await connection.send("still there")
            return str(await connection.recv())

    with within(10):
        assert clock().run(call()) == "still there"


@warped
def test_websockets_own_timeouts_count_the_calls_time(clock: type[Clock]) -> None:
    async def never(*_: Any) -> None:
        await asyncio.sleep(3600)

    async def call() -> float:
        async with echo(say_it_again, process_request=never, open_timeout=None, close_timeout=0.1) as url:
            begun = now()
            with pytest.raises(TimeoutError):
                await websockets.connect(url, proxy=None, open_timeout=10)
            return now() - begun

    with within(3):
        assert clock().run(call()) == pytest.approx(10, abs=0.2)


@warped
def test_aiohttps_own_timeouts_count_the_calls_time(clock: type[Clock]) -> None:
    async def never(_: web.Request) -> web.Response:
        await asyncio.sleep(3600)
        return web.Response()

    async def call() -> float:
        app = web.Application()
        app.add_routes([web.get("/", never)])
        runner = web.AppRunner(app, handle_signals=False, shutdown_timeout=0.1)
        await runner.setup()
        await web.TCPSite(runner, "localhost", 0).start()
        async with aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=4)) as session:
            begun = now()
            with pytest.raises(TimeoutError):
                await session.get(f"http://localhost:{runner.addresses[0][1]}/")
            seconds = now() - begun
        await runner.cleanup()
        return seconds

    with within(3):
        assert clock().run(call()) == pytest.approx(4, abs=0.2)


@warped
def test_localhost_may_be_looked_up(clock: type[Clock]) -> None:
    async def call() -> set[str]:
        found = await asyncio.get_running_loop().getaddrinfo("localhost", 80, type=socket.SOCK_STREAM)
        return {address[0] for *_, address in found}

    assert clock().run(call()) & {"127.0.0.1", "::1"}


# which clock


class Bot(Endpoint):
    def __init__(self, side: Side, *clocks: ClockName) -> None:
        self._side, self._clocks = side, clocks

    @property
    def side(self) -> Side:
        return self._side

    @property
    def label(self) -> str:
        return "bot at hand"

    @property
    def clocks(self) -> tuple[ClockName, ...]:
        return self._clocks or super().clocks

    def open(self, scenario: Scenario) -> AbstractAsyncContextManager[str]:
        raise NotImplementedError

    def close(self) -> None:
        pass


REHEARSED: tuple[ClockName, ...] = ("charged", "measured", "real")
MODELLED: tuple[ClockName, ...] = ("measured", "real")


@pytest.mark.parametrize(
    ("choice", "user", "agent", "expected"),
    [
        ("auto", REHEARSED, REHEARSED, "charged"),
        ("auto", REHEARSED, MODELLED, "measured"),
        ("auto", MODELLED, REHEARSED, "measured"),
        ("auto", MODELLED, (), "real"),
        ("auto", (), (), "real"),
        ("charged", REHEARSED, REHEARSED, "charged"),
        ("measured", REHEARSED, MODELLED, "measured"),
        ("real", REHEARSED, REHEARSED, "real"),
        ("charged", REHEARSED, MODELLED, "agent bot at hand: a call with it can run on measured or real;"),
        ("charged", (), REHEARSED, "user bot at hand: a call with it can run on real;"),
        ("measured", REHEARSED, (), "agent bot at hand: a call with it can run on real;"),
    ],
)
def test_the_clock_is_chosen_by_what_both_bots_can_have(
    choice: Any, user: tuple[ClockName, ...], agent: tuple[ClockName, ...], expected: str
) -> None:
    choose = functools.partial(choose_clock, choice, Bot("user", *user), Bot("agent", *agent))
    if " " not in expected:
        assert choose().name == expected
        return
    with pytest.raises(ClockError) as caught:
        choose()
    assert f"the clock {choice!r} cannot be had with the {expected}" in str(caught.value)
    assert str(caught.value).endswith("write one of these, or auto")
