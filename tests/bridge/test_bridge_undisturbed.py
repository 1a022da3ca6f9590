"""While a call is held, neither old garbage nor other threads delay it; afterwards all is as it was."""

from __future__ import annotations

import asyncio
import gc
import signal
import sys
import threading
from collections.abc import Callable, Iterator

import pytest
from scripted_calls import agent_bot, call, user_bot

from pytest_voiceeval.bridge.clock import Clock, MeasuredClock, RealClock
from pytest_voiceeval.bridge.undisturbed import (
    FREEZES_A_COLLECTION,
    PYTHONS_OWN,
    SWITCH_SECONDS,
    Freezer,
    undisturbed,
)
from pytest_voiceeval.testing import Utterance, VirtualClock, exit_message

State = tuple[bool, float]


def state() -> State:
    """Return whether something is frozen, and after which time threads switch."""
    return gc.get_freeze_count() > PYTHONS_OWN, sys.getswitchinterval()


@pytest.fixture(autouse=True)
def outside() -> Iterator[State]:
    """The state outside of calls, which must be the same afterwards."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(0.005)
    outside = state()
    assert outside == (False, 0.005)
    yield outside
    assert state() == outside
    sys.setswitchinterval(before)


WITHIN = (True, pytest.approx(SWITCH_SECONDS))

every = pytest.mark.parametrize("clock", [RealClock, MeasuredClock])


async def held() -> State:
    with undisturbed():
        return state()


@every
def test_what_there_is_is_frozen_and_threads_switch_often_within(clock: type[Clock]) -> None:
    assert clock().run(held()) == WITHIN


def test_a_clock_that_charges_costs_needs_neither(outside: State) -> None:
    assert VirtualClock().run(held()) == outside


def test_a_call_is_undisturbed_as_long_as_both_talk(outside: State) -> None:
    agent = agent_bot(lines=[Utterance("Hi.", 0.1, late_sends=(exit_message(),))])
    seen: list[State] = []
    assert RealClock().run(call(user_bot(), agent, on_turn=lambda turn: seen.append(state()))).turns
    assert seen
    assert all(each == WITHIN for each in seen)
    assert state() == outside


@every
@pytest.mark.parametrize("fault", [ValueError, SystemExit, asyncio.CancelledError])
def test_all_is_put_back_after_an_error(
    clock: type[Clock], fault: type[BaseException], outside: State
) -> None:
    async def fails() -> None:
        with undisturbed():
            raise fault

    with pytest.raises(fault):
        clock().run(fails())
    assert state() == outside


def test_all_is_put_back_after_ctrl_c(outside: State) -> None:
    async def interrupted() -> None:
        with undisturbed():
            signal.raise_signal(signal.SIGINT)
            await asyncio.Event().wait()

    with pytest.raises(KeyboardInterrupt):
        RealClock().run(interrupted())
    assert state() == outside


async def entered(begun: asyncio.Event, end: asyncio.Event) -> None:
    with undisturbed():
        begun.set()
        await end.wait()


def test_of_calls_on_one_loop_the_last_one_puts_it_back(outside: State) -> None:
    async def several() -> list[State]:
        begun, ends = [asyncio.Event() for _ in range(3)], [asyncio.Event() for _ in range(3)]
        calls = [asyncio.create_task(entered(*each)) for each in zip(begun, ends, strict=True)]
        await asyncio.gather(*(each.wait() for each in begun))
        seen = []
        for each, end in zip(calls, ends, strict=True):
            seen.append(state())
            end.set()
            await each
        return [*seen, state()]

    assert RealClock().run(several()) == [WITHIN, WITHIN, WITHIN, outside]


def test_of_calls_on_several_loops_the_last_one_puts_it_back(outside: State) -> None:
    begun, end = threading.Event(), threading.Event()

    async def beside() -> None:
        with undisturbed():
            begun.set()
            await asyncio.to_thread(end.wait, 10)

    other = threading.Thread(target=lambda: RealClock().run(beside()))
    other.start()
    assert begun.wait(10)
    assert RealClock().run(held()) == WITHIN
    assert state() == WITHIN
    end.set()
    other.join()
    assert state() == outside


def test_what_somebody_else_has_frozen_stays_frozen() -> None:
    gc.freeze()
    try:
        RealClock().run(held())
        assert gc.get_freeze_count()
    finally:
        gc.unfreeze()


def test_a_shorter_interval_of_somebody_else_stays() -> None:
    sys.setswitchinterval(SWITCH_SECONDS / 2)
    try:
        assert RealClock().run(held()) == (True, pytest.approx(SWITCH_SECONDS / 2))
        assert sys.getswitchinterval() == pytest.approx(SWITCH_SECONDS / 2)
    finally:
        sys.setswitchinterval(0.005)


def test_an_interval_that_somebody_sets_within_stays() -> None:
    async def sets() -> None:
        with undisturbed():
            sys.setswitchinterval(0.003)

    RealClock().run(sets())
    assert sys.getswitchinterval() == pytest.approx(0.003)
    sys.setswitchinterval(0.005)


class Knot:
    """Garbage that only the collector finds."""

    def __init__(self, tell: Callable[[], object]) -> None:
        self._self = self
        self._tell = tell

    def __del__(self) -> None:
        self._tell()


def test_garbage_that_was_frozen_is_collected_some_calls_later() -> None:
    freezer, collected = Freezer(), threading.Event()
    enabled = gc.isenabled()
    gc.disable()
    try:
        Knot(collected.set)
        for number in range(1, FREEZES_A_COLLECTION + 1):
            freezer.freeze()()
            assert collected.is_set() == (number == FREEZES_A_COLLECTION)
    finally:
        if enabled:
            gc.enable()
