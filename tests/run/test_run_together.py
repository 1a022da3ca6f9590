"""Calls that share one loop: what one does leaves the others as they are alone."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractAsyncContextManager, suppress
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from calls_of_fakes import Calls, Tea, goodbye
from loguru import logger

from pytest_voiceeval.bridge.clock import Clock, MeasuredClock, RealClock
from pytest_voiceeval.errors import BotProcessError, ClockError, DefinitionError
from pytest_voiceeval.model.conversation import Conversation, StopReason
from pytest_voiceeval.model.turns import AGENT, USER, Side
from pytest_voiceeval.run.lending import Lender, SeveralBots
from pytest_voiceeval.run.logs import bots_of_call_log_into
from pytest_voiceeval.run.retries import hold_beside_others_until_it_counts
from pytest_voiceeval.run.settings import RunSettings
from pytest_voiceeval.run.together import CallThread
from pytest_voiceeval.scenarios.base import Scenario
from pytest_voiceeval.testing import FakeBot, Utterance, VirtualClock, exit_message

SETTINGS = RunSettings(inactivity_timeout=8.0, auto_retry_backoff_secs=0.0)
every = pytest.mark.parametrize("clock", [RealClock, MeasuredClock, VirtualClock])


@pytest.fixture
def threads() -> Iterator[Callable[[Clock, int], CallThread]]:
    """Makes threads for calls, and sees that each can be closed."""
    made: list[CallThread] = []

    def make(clock: Clock, at_once: int) -> CallThread:
        made.append(CallThread(clock, at_once))
        return made[-1]

    yield make
    for thread in made:
        assert thread.close()
    assert not [left for left in threading.enumerate() if left.name.startswith("calls (")]


class Talker:
    """A bot that answers after a time that only it knows."""

    clocks = ("real",)

    def __init__(self, side: Side, lines: Sequence[Utterance], answer_after: float = 0.1) -> None:
        self.side = side
        self.label = f"fake {side}"
        self.bot = FakeBot(side, lines, answer_after=answer_after)

    def open(self, scenario: Scenario) -> AbstractAsyncContextManager[str]:
        return self.bot.serve()

    def close(self) -> None:
        pass


def agent_after(seconds: float) -> Talker:
    lines = [Utterance("Welcome.", 0.4), Utterance("Tea.", 0.4), goodbye()]
    return Talker(AGENT, lines, answer_after=seconds)


def caller() -> Talker:
    return Talker(USER, [Utterance("Tea.", 0.5, 500), Utterance("Thanks.", 0.5, 500)])


def call_with(agent: Any, folder: Path, settings: RunSettings = SETTINGS, **changes: Any) -> Any:
    folder.mkdir()
    return partial(
        hold_beside_others_until_it_counts,
        Tea(),
        user=changes.get("user") or caller(),
        agent=agent,
        settings=settings,
        folder=folder,
    )


def latencies(conversation: Conversation) -> list[float]:
    return [latency.seconds for latency in conversation.latencies]


MUTE = [Utterance("Welcome.", 0.4)]
CHATTERBOX = [Utterance("Let me tell you.", 12.0)]


@pytest.mark.parametrize(
    "neighbour",
    [
        Talker(AGENT, MUTE),
        Talker(AGENT, CHATTERBOX),
        Talker(AGENT, [], answer_after=3.0),
        Calls(AGENT, BotProcessError("the agent has died")),
    ],
    ids=["mute", "chatterbox", "silent", "broken"],
)
def test_latencies_are_each_calls_own_whatever_goes_on_beside_it(
    tmp_path: Path, threads: Callable[[Clock, int], CallThread], neighbour: Any
) -> None:
    thread = threads(VirtualClock(), 3)
    truth = (0.2, 1.3)
    alone = [
        latencies(thread.submit(call_with(agent_after(s), tmp_path / f"alone{s}")).outcome.result(60))
        for s in truth
    ]
    beside = thread.submit(call_with(neighbour, tmp_path / "beside"))
    together = [thread.submit(call_with(agent_after(s), tmp_path / f"call{s}")) for s in truth]
    found = [latencies(call.outcome.result(60)) for call in together]
    assert [len(each) for each in found] == [2, 2]
    for each, before, seconds in zip(found, alone, truth, strict=True):
        assert each == pytest.approx(before, abs=1e-6)
        assert each == pytest.approx([seconds, seconds], abs=0.15)
    if isinstance(neighbour, Calls):
        with pytest.raises(BotProcessError, match="the agent has died"):
            beside.outcome.result(60)
    else:
        assert beside.outcome.result(60).stop_reason in (StopReason.INACTIVITY, StopReason.TIMEOUT)


def test_a_call_is_over_when_it_is_not_when_the_slowest_is(
    tmp_path: Path, threads: Callable[[Clock, int], CallThread]
) -> None:
    thread = threads(VirtualClock(), 2)
    order: list[str] = []
    slow = thread.submit(call_with(Talker(AGENT, MUTE), tmp_path / "slow"))
    quick = thread.submit(call_with(agent_after(0.2), tmp_path / "quick"))
    later = thread.submit(call_with(agent_after(0.2), tmp_path / "later"))
    for name, call in (("slow", slow), ("quick", quick), ("later", later)):
        call.outcome.add_done_callback(lambda _, name=name: order.append(name))
    assert slow.outcome.result(60).stop_reason is StopReason.INACTIVITY
    assert order == ["quick", "later", "slow"]


@every
def test_no_more_are_held_at_once_than_there_are_places_and_they_begin_in_order(
    clock: type[Clock], threads: Callable[[Clock, int], CallThread]
) -> None:
    thread = threads(clock(), 2)
    begun: list[int] = []
    now, most = 0, 0

    async def call(number: int) -> int:
        nonlocal now, most
        begun.append(number)
        now += 1
        most = max(most, now)
        await asyncio.sleep(0.02)
        now -= 1
        return number

    held = [thread.submit(partial(call, number)) for number in range(5)]
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


def test_a_call_is_held_again_within_its_own_place(
    tmp_path: Path, threads: Callable[[Clock, int], CallThread]
) -> None:
    thread = threads(VirtualClock(), 2)
    agent = Calls(AGENT, [Utterance("", 0.0, sends=(exit_message(),))], [Utterance("Hi.", 0.3), goodbye()])
    conversation = thread.submit(call_with(agent, tmp_path / "call")).outcome.result(60)
    assert [attempt.reason for attempt in conversation.retried] == ["stale: no turns were exchanged"]
    assert (tmp_path / "call.attempt1" / "bot_log.txt").exists()
    assert (tmp_path / "call" / "conversation_log.wav").exists()


def test_a_call_that_is_broken_off_leaves_its_evidence(
    tmp_path: Path, threads: Callable[[Clock, int], CallThread]
) -> None:
    thread = threads(RealClock(), 2)
    agent = Talker(AGENT, CHATTERBOX)
    held = thread.submit(call_with(agent, tmp_path / "call"))
    while not agent.bot.heard and not held.outcome.done():
        time.sleep(0.01)
    held.cancel()
    with pytest.raises(asyncio.CancelledError):
        held.outcome.result(10)
    assert "Stop reason: [CANCELLED]" in (tmp_path / "call" / "conversation_log.txt").read_text("utf-8")


def test_a_bot_is_lent_to_one_call_unless_it_takes_part_in_several() -> None:
    async def taken(bot: Any) -> list[str]:
        lender = Lender(bot, 3)
        order: list[str] = []

        async def call(name: str) -> None:
            async with lender.lent() as lent:
                order.append(f"{name}{lent.label}+")
                await asyncio.sleep(1)
                order.append(f"{name}-")

        async with asyncio.TaskGroup() as calls:
            for name in "abc":
                calls.create_task(call(name))
        return order

    one, two = Talker(AGENT, []), Talker(AGENT, [])
    one.label, two.label = "1", "2"
    assert VirtualClock().run(taken(one)) == ["a1+", "a-", "b1+", "b-", "c1+", "c-"]
    assert VirtualClock().run(taken(SeveralBots([one, two])))[:3] == ["a1+", "b2+", "a-"]
    one.concurrent_calls = 3  # type: ignore[attr-defined]
    assert VirtualClock().run(taken(one))[:3] == ["a1+", "b1+", "c1+"]
    one.concurrent_calls = 0  # type: ignore[attr-defined]
    with pytest.raises(DefinitionError, match="concurrent_calls of the agent 1 is 0"):
        Lender(one, 3)
