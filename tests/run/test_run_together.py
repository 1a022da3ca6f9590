"""Calls that share one loop: what one does leaves the others as they are alone."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from loguru import logger

from pytest_voiceeval.bridge.clock import Clock, MeasuredClock, RealClock
from pytest_voiceeval.bridge.warp import WarpLoop
from pytest_voiceeval.errors import ClockError
from pytest_voiceeval.run.logs import bots_of_call_log_into
from pytest_voiceeval.run.together import CallThread
from pytest_voiceeval.testing import VirtualClock

every = pytest.mark.parametrize("clock", [RealClock, MeasuredClock, VirtualClock])


@every
def test_no_more_are_held_at_once_than_there_are_places_and_they_begin_in_order(
    clock: type[Clock], threads: Callable[[Clock, int], CallThread]
) -> None:
    thread = threads(clock(), 2)
    begun: list[int] = []
    now, most = 0, 0
    all_wait = threading.Event()

    async def call(number: int) -> int:
        nonlocal now, most
        begun.append(number)
        now += 1
        most = max(most, now)
        await asyncio.to_thread(all_wait.wait, 10)
        await asyncio.sleep(0.02)
        now -= 1
        return number

    held = [thread.submit(partial(call, number)) for number in range(5)]
    all_wait.set()
    assert [call.outcome.result(10) for call in held] == begun == [0, 1, 2, 3, 4]
    assert most == 2


@every
def test_an_error_of_one_call_is_its_own(
    clock: type[Clock], threads: Callable[[Clock, int], CallThread]
) -> None:
    thread = threads(clock(), 8)
    go_on = threading.Event()

    async def good() -> str:
        await asyncio.sleep(0.05)
        return "good"

    async def raises(exc: BaseException) -> None:
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(asyncio.sleep(60))
            raise exc

    faults = [ValueError("mine"), SystemExit(3), KeyboardInterrupt()]
    calls = [thread.submit(partial(raises, fault)) for fault in faults]
    others = [thread.submit(good) for _ in range(3)]
    cancelled = thread.submit(partial(asyncio.sleep, 1e9) if clock is RealClock else partial(_waits, go_on))
    cancelled.cancel()
    assert [call.outcome.result(10) for call in others] == ["good"] * 3
    for call, fault in zip(calls, faults, strict=True):
        with pytest.raises((type(fault), ExceptionGroup)):
            call.outcome.result(10)
    with pytest.raises(asyncio.CancelledError):
        cancelled.outcome.result(10)
    go_on.set()
    assert thread.submit(good).outcome.result(10) == "good"


async def _waits(event: threading.Event) -> None:
    await asyncio.to_thread(event.wait, 0.5)
    await asyncio.sleep(1e9)


@every
def test_tasks_that_a_call_leaves_behind_end_with_it(
    clock: type[Clock], threads: Callable[[Clock, int], CallThread]
) -> None:
    thread = threads(clock(), 2)
    ended: list[str] = []

    async def forgotten(name: str) -> None:
        try:
            await asyncio.Event().wait()
        finally:
            ended.append(name)

    async def call() -> None:
        tasks.append(asyncio.create_task(forgotten("left")))
        await asyncio.sleep(0)

    async def other() -> list[str]:
        mine = asyncio.create_task(forgotten("kept"))
        await asyncio.sleep(0)
        await asyncio.to_thread(over.wait, 10)
        seen = list(ended)
        mine.cancel()
        return seen

    tasks: list[asyncio.Task[None]] = []
    over = threading.Event()
    if clock is not VirtualClock:
        beside = thread.submit(other)
    thread.submit(call).outcome.result(10)
    over.set()
    assert ended[0] == "left"
    if clock is not VirtualClock:
        assert beside.outcome.result(10) == ["left"]


@every
def test_closing_breaks_off_what_is_held_and_never_begins_what_waits(clock: type[Clock]) -> None:
    thread = CallThread(clock(), 1)
    begun, ended = threading.Event(), []

    async def call() -> None:
        begun.set()
        try:
            await asyncio.get_running_loop().create_future() if clock is RealClock else await asyncio.sleep(
                1e9
            )
        finally:
            ended.append("held")

    held = [thread.submit(call)]
    if clock is RealClock:
        assert begun.wait(10)
        held.append(thread.submit(lambda: pytest.fail("it was held")))
    assert thread.close()
    assert len(ended) <= 1
    for each in held:
        assert each.outcome.done()
    with pytest.raises(RuntimeError, match="has ended"):
        thread.submit(call).outcome.result(1)


def test_what_a_measured_clock_cannot_count_is_the_fault_of_the_call_that_does_it(
    threads: Callable[[Clock, int], CallThread],
) -> None:
    thread = threads(MeasuredClock(), 2)
    both = threading.Barrier(2)

    async def counted() -> str:
        await asyncio.to_thread(both.wait, 10)
        await asyncio.to_thread(both.wait, 10)
        return "fine"

    async def uncounted() -> None:
        await asyncio.to_thread(both.wait, 10)
        with suppress(ClockError):  # as a library that goes on without
            await asyncio.create_subprocess_exec("true")
        await asyncio.to_thread(both.wait, 10)

    good, bad = thread.submit(counted), thread.submit(uncounted)
    assert good.outcome.result(10) == "fine"
    with pytest.raises(ClockError, match=r"subprocess \(true\)"):
        bad.outcome.result(10)


def test_calls_that_stand_still_end_and_later_ones_are_held(
    threads: Callable[[Clock, int], CallThread],
) -> None:
    thread = threads(MeasuredClock(stuck_seconds=0.1), 2)

    async def stuck() -> None:
        await asyncio.get_running_loop().create_future()

    calls = [thread.submit(stuck) for _ in range(2)]
    for call in calls:
        with pytest.raises(ClockError, match="stands still"):
            call.outcome.result(10)
    time.sleep(0.3)  # three times as long as a call may stand still: here none is held
    assert thread.submit(partial(asyncio.sleep, 30, "later")).outcome.result(10) == "later"


def test_a_measured_call_begins_at_the_wall_time_that_it_is(
    threads: Callable[[Clock, int], CallThread],
) -> None:
    thread = threads(MeasuredClock(), 2)

    async def begun() -> float:
        loop = asyncio.get_running_loop()
        at = loop.wall_time().timestamp()  # type: ignore[attr-defined]
        await asyncio.sleep(86_400)
        assert loop.wall_time().timestamp() - at == pytest.approx(86_400, abs=5)  # type: ignore[attr-defined]
        return at

    for _ in range(3):
        assert thread.submit(begun).outcome.result(10) == pytest.approx(time.time(), abs=60)


def test_each_log_has_the_lines_of_its_own_call(
    tmp_path: Path, threads: Callable[[Clock, int], CallThread]
) -> None:
    thread = threads(VirtualClock(), 2)

    async def call(name: str) -> None:
        with bots_of_call_log_into(tmp_path / name):
            for _ in range(3):
                await asyncio.create_task(asyncio.sleep(1))
                logger.debug(f"line of {name}")

    for each in [thread.submit(partial(call, name)) for name in ("one", "two")]:
        each.outcome.result(10)
    for name in ("one", "two"):
        lines = (tmp_path / name).read_text(encoding="utf-8").splitlines()
        assert [line.rpartition(" - ")[2] for line in lines] == [f"line of {name}"] * 3


class _Nowhere(RealClock):
    def new_loop(self) -> asyncio.AbstractEventLoop:
        raise ImportError("no loop of this kind")


@pytest.mark.timeout(30)
def test_a_clock_that_has_no_loop_is_told_to_who_waits_for_it(
    threads: Callable[[Clock, int], CallThread],
) -> None:
    with pytest.raises(ImportError, match="no loop of this kind"):
        threads(_Nowhere(), 2)


def test_a_call_that_is_cancelled_again_while_its_tasks_end_is_over_all_the_same(
    threads: Callable[[Clock, int], CallThread],
) -> None:
    thread = threads(MeasuredClock(), 2)
    begun, asked, may_end, ended = (threading.Event() for _ in range(4))
    loops: list[WarpLoop] = []
    tasks: list[asyncio.Task[Any]] = []

    async def slow_to_end() -> None:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            asked.set()
            await asyncio.to_thread(may_end.wait, 10)
            ended.set()

    async def call() -> None:
        loop, own = asyncio.get_running_loop(), asyncio.current_task()
        assert isinstance(loop, WarpLoop)
        assert own is not None
        loops.append(loop)
        tasks.extend([own, asyncio.create_task(slow_to_end())])
        await asyncio.sleep(0)
        begun.set()
        await asyncio.Event().wait()

    held = thread.submit(call)
    assert begun.wait(10)
    held.cancel()
    assert asked.wait(10)
    loops[0].take_from_work(tasks[0].cancel)
    with pytest.raises(asyncio.CancelledError):
        held.outcome.result(10)
    may_end.set()
    assert ended.wait(10)
    assert loops[0].at_work == 1, "a loop without a call is to wait, and not to stand still"


@pytest.mark.parametrize("clock", [RealClock, MeasuredClock])
@pytest.mark.parametrize("ends_by", ["cancel", "close"])
def test_a_call_that_is_broken_off_more_than_once_ends_in_order(clock: type[Clock], ends_by: str) -> None:
    thread = CallThread(clock(), 2)
    begun, ending = threading.Event(), threading.Event()
    steps: list[str] = []

    async def call() -> None:
        begun.set()
        try:
            await asyncio.to_thread(ending.wait, 10)
        finally:
            steps.append("ends")
            for _ in range(50):  # turns of the loop, in which whatever else breaks it off is heard
                held.cancel()
                await asyncio.sleep(0)
            steps.append("closed its connections")

    held = thread.submit(call)
    assert begun.wait(10)
    held.cancel()
    if ends_by == "cancel":
        with pytest.raises(asyncio.CancelledError):
            held.outcome.result(10)
    ending.set()
    assert thread.close()
    assert steps == ["ends", "closed its connections"]


@pytest.mark.parametrize("clock", [RealClock, MeasuredClock])
def test_one_that_does_not_end_is_broken_off_again_once_patience_is_over(clock: type[Clock]) -> None:
    thread = CallThread(clock(), 2)
    begun, asked, release = (threading.Event() for _ in range(3))
    cancelled: list[str] = []

    async def call() -> None:
        begun.set()
        for time_of in ("first", "again"):
            try:
                await asyncio.to_thread(release.wait, 10)
            except asyncio.CancelledError:
                cancelled.append(time_of)
                asked.set()
        release.set()

    held = thread.submit(call)
    assert begun.wait(10)
    held.cancel()
    assert asked.wait(10)
    assert thread.close(patience=0.0)
    assert cancelled == ["first", "again"]
    assert held.outcome.done()
