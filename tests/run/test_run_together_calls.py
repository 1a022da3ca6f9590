"""Calls of scripted bots that are held at once: latencies, retries, evidence, and which bots they get."""

from __future__ import annotations

import asyncio
import inspect
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from calls_of_fakes import Calls, Tea, goodbye
from loguru import logger

from pytest_voiceeval.bridge.clock import Clock, MeasuredClock, RealClock
from pytest_voiceeval.errors import BotProcessError, DefinitionError
from pytest_voiceeval.model.conversation import Conversation
from pytest_voiceeval.model.stop_reason import StopReason
from pytest_voiceeval.model.turns import AGENT, USER, Side
from pytest_voiceeval.run.lending import Lender, SeveralBots
from pytest_voiceeval.run.retries import hold_beside_others_until_it_counts
from pytest_voiceeval.run.settings import RunSettings
from pytest_voiceeval.run.together import CallThread
from pytest_voiceeval.scenarios.base import Scenario
from pytest_voiceeval.testing import FakeBot, Utterance, VirtualClock, exit_message

SETTINGS = RunSettings(inactivity_timeout=8.0, auto_retry_backoff_secs=0.0)


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


def test_no_call_that_is_in_order_has_those_beside_it_wait_for_a_file_to_be_parsed(
    tmp_path: Path, threads: Callable[[Clock, int], CallThread], monkeypatch: pytest.MonkeyPatch
) -> None:
    parsed: list[object] = []
    monkeypatch.setattr(inspect, "findsource", parsed.append)
    thread = threads(VirtualClock(), 2)
    assert thread.submit(call_with(agent_after(0.5), tmp_path / "call")).outcome.result(30).turns
    assert not parsed


def test_no_call_has_those_beside_it_wait_while_its_log_is_opened(
    tmp_path: Path, threads: Callable[[Clock, int], CallThread], monkeypatch: pytest.MonkeyPatch
) -> None:
    opened_in: list[str] = []
    add = logger.add

    def added(*args: Any, **options: Any) -> int:
        opened_in.append(threading.current_thread().name)
        return add(*args, **options)

    monkeypatch.setattr(logger, "add", added)
    thread = threads(RealClock(), 2)
    agent = Calls(AGENT, [Utterance("Bye.", 0.1, late_sends=(exit_message(),))])
    assert thread.submit(call_with(agent, tmp_path / "call")).outcome.result(30).turns
    assert [name.startswith("calls_") for name in opened_in] == [True]  # of the jobs, not that of the calls


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


def test_backoff_is_wall_time_and_takes_nothing_from_other_calls(
    tmp_path: Path, threads: Callable[[Clock, int], CallThread], monkeypatch: pytest.MonkeyPatch
) -> None:
    waited: list[float] = []

    class Timer(threading.Timer):
        def __init__(self, seconds: float, *told: Any) -> None:
            waited.append(seconds)
            super().__init__(0.0, *told)

    monkeypatch.setattr(threading, "Timer", Timer)
    gone = [Utterance("", 0.0, sends=(exit_message(),))]
    agent = Calls(AGENT, gone, [Utterance("Hi.", 0.1), goodbye()])
    settings = RunSettings(auto_retry_backoff_secs=5.0)
    thread = threads(MeasuredClock(), 2)
    conversation = thread.submit(call_with(agent, tmp_path / "call", settings)).outcome.result(60)
    assert len(conversation.retried) == 1
    assert waited == [5.0]


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
