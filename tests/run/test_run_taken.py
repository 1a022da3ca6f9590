"""An agent that has taken a scenario stays one that is evaluated."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from calls_of_fakes import HANGS_UP, Tea, caller, canned

from pytest_voiceeval.bots.launch import RemoteBot
from pytest_voiceeval.errors import BotRefusedError
from pytest_voiceeval.model.turns import AGENT
from pytest_voiceeval.run.agents import black_box_text, mixed_modes_line
from pytest_voiceeval.run.evaluate import evaluate_conversation, hold
from pytest_voiceeval.run.settings import RunSettings
from pytest_voiceeval.run.taken import TakenScenarios
from pytest_voiceeval.scenarios.base import Scenario
from pytest_voiceeval.testing import FakeBot
from pytest_voiceeval.wire.dialect import Dialect

AUTO = Dialect(mode="auto")


class Weary:
    """An agent that takes its first scenario, and refuses the next ones."""

    side, label, clocks, dialect = AGENT, "weary agent", ("charged", "real"), AUTO

    def __init__(self) -> None:
        self.calls = 0

    @asynccontextmanager
    async def open(self, scenario: Scenario) -> AsyncIterator[str]:
        bot = FakeBot(AGENT, [HANGS_UP], answer_after=0.1)
        if self.calls:
            bot.answers["reset"] = ValueError("pool exhausted")
        self.calls += 1
        async with bot.serve() as url:
            yield url

    def close(self) -> None:
        pass


def test_one_that_refuses_a_later_scenario_is_told_as_that(tmp_path: Path) -> None:
    agent: Any = Weary()
    run = RunSettings()
    first = hold(Tea(), user=caller(), agent=agent, settings=run, folder=tmp_path / "1")
    assert not first.agent_is_black_box
    with pytest.raises(BotRefusedError, match="pool exhausted"):
        hold(Tea(), user=caller(), agent=agent, settings=run, folder=tmp_path / "2")


def test_what_one_run_found_out_is_nothing_to_another_with_the_same_agent(tmp_path: Path) -> None:
    agent: Any = Weary()
    first = hold(Tea(), user=caller(), agent=agent, settings=RunSettings(), folder=tmp_path / "1")
    second = hold(Tea(), user=caller(), agent=agent, settings=RunSettings(), folder=tmp_path / "2")
    assert (first.agent_is_black_box, second.agent_is_black_box) == (False, True)


def test_one_that_refuses_the_first_is_a_black_box_and_metrics_say_why(tmp_path: Path) -> None:
    agent: Any = Weary()
    agent.calls = 1
    settings = RunSettings(min_agent_turns=0)
    conversation = hold(Tea(), user=caller(), agent=agent, settings=settings, folder=tmp_path)
    metrics = evaluate_conversation(Tea(), conversation, settings=settings, folder=tmp_path).json
    assert metrics["agent_mode"] == "black-box"
    assert "pool exhausted" in metrics["agent_mode_reason"]
    assert "taken for one because of" in black_box_text(metrics)


def test_who_has_taken_a_scenario_is_asked_as_one_that_does() -> None:
    bot = RemoteBot(AGENT, "ws://127.0.0.1:1", mode="auto")
    taken = TakenScenarios()
    assert taken.dialect_of(bot).mode == "auto"
    taken.note(bot, replace(canned(), agent_is_black_box=True))
    assert taken.dialect_of(bot).mode == "auto"
    taken.note(bot, canned())
    assert taken.dialect_of(bot).mode == "evaluated"
    assert taken.dialect_of(RemoteBot(AGENT, "ws://127.0.0.1:1", mode="auto")).mode == "auto"


class Unhashable:
    __slots__ = ("dialect",)
    __hash__ = None  # type: ignore[assignment]  # as an endpoint of somebody else's may be

    def __init__(self) -> None:
        self.dialect = AUTO


def test_one_that_cannot_be_remembered_is_asked_anew() -> None:
    bot: Any = Unhashable()
    taken = TakenScenarios()
    taken.note(bot, canned())
    assert taken.dialect_of(bot).mode == "auto"


EVALUATED = {"scenario_name": "run__tea", "agent_mode": "evaluated"}
FOUND = {"scenario_name": "run__milk", "agent_mode": "black-box", "agent_mode_reason": "pool exhausted"}
DECLARED = {"scenario_name": "run__rum", "agent_mode": "black-box"}


@pytest.mark.parametrize(
    ("records", "told"),
    [
        ([EVALUATED, EVALUATED], ""),
        ([FOUND, FOUND], ""),
        ([EVALUATED, DECLARED], ""),
        ([EVALUATED, FOUND, EVALUATED], "a black box in 1 scenario(s) (run__milk) and evaluated in 2: "),
        ([EVALUATED, *[FOUND] * 5], "in 5 scenario(s) (run__milk, run__milk, run__milk and 2 more)"),
    ],
)
def test_an_agent_that_was_found_to_be_both_is_told_and_one_that_is_said_to_be_is_not(
    records: list[dict[str, str]], told: str
) -> None:
    line = mixed_modes_line(records)
    assert told in line
    assert bool(told) == bool(line)
