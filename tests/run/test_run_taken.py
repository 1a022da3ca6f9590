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
from pytest_voiceeval.run.agents import black_box_text
from pytest_voiceeval.run.evaluate import evaluate_conversation, hold
from pytest_voiceeval.run.settings import RunSettings
from pytest_voiceeval.run.taken import note_mode, settled_dialect
from pytest_voiceeval.scenarios.base import Scenario
from pytest_voiceeval.testing import FakeBot
from pytest_voiceeval.wire.dialect import Dialect

AUTO = Dialect(mode="auto")


class Weary:
    """An agent that takes its first scenario, and refuses the next ones."""

    side, label, clocks, dialect = AGENT, "weary agent", ("real",), AUTO

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
    first = hold(Tea(), user=caller(), agent=agent, settings=RunSettings(), folder=tmp_path / "1")
    assert not first.agent_is_black_box
    with pytest.raises(BotRefusedError, match="pool exhausted"):
        hold(Tea(), user=caller(), agent=agent, settings=RunSettings(), folder=tmp_path / "2")


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
    assert settled_dialect(bot).mode == "auto"
    note_mode(bot, replace(canned(), agent_is_black_box=True))
    assert settled_dialect(bot).mode == "auto"
    note_mode(bot, canned())
    assert settled_dialect(bot).mode == "evaluated"
    assert settled_dialect(RemoteBot(AGENT, "ws://127.0.0.1:1", mode="auto")).mode == "auto"


class Unhashable:
    __slots__ = ("dialect",)
    __hash__ = None  # type: ignore[assignment]  # as an endpoint of somebody else's may be

    def __init__(self) -> None:
        self.dialect = AUTO


def test_one_that_cannot_be_remembered_is_asked_anew() -> None:
    bot: Any = Unhashable()
    note_mode(bot, canned())
    assert settled_dialect(bot).mode == "auto"
