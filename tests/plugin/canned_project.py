"""A small project with scenarios of its own, whose calls are canned, as texts; and what runs of it leave."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

OTHER_PLUGINS = ("asyncio", "anyio", "hypothesispytest", "timeout")

SHOP = '''
"""Scenarios of a shop."""
from pytest_voiceeval import Actions, Persona, Resources, Scenario, SuccessSignal, Task
from pytest_voiceeval import register_eval_scenario


class ShopScenario(Scenario):
    """Base of the shop."""

    success_signals = (SuccessSignal.ACTION_MATCH, SuccessSignal.CLEAN_EXIT)
    max_duration = 60.0
    reference_answer = {"items": [{"name": "Tea", "quantity": "1"}]}
    user_persona = agent_persona = Persona(role="person")
    user_task = agent_task = Task(goal="tea")
    user_actions = agent_actions = Actions()
    user_resources = agent_resources = Resources()


@register_eval_scenario
class Good(ShopScenario):
    """Goes well."""

    name = "shop__good"
    description = "Tea is ordered."


@register_eval_scenario
class WrongTea(ShopScenario):
    """Goes wrong."""

    name = "shop__wrong_tea"


def test_in_a_scenario_file_is_no_test():
    raise AssertionError
'''

BANK = '''
"""Scenarios of a bank."""
import pytest
from pytest_voiceeval import SuccessSignal, register_eval_scenario
from .shop import ShopScenario


@register_eval_scenario
class Unscored(ShopScenario):
    """Has nothing to score by."""

    name = "bank__unscored"
    reference_answer = None
    success_signals = (SuccessSignal.ACTION_MATCH,)


@register_eval_scenario
class Unreachable(ShopScenario):
    """Nobody answers."""

    name = "bank__unreachable"


for number in (1, 2):
    register_eval_scenario(type(f"Row{number}", (ShopScenario,), {"name": f"bank__row{number}"}))
'''

CONFTEST = '''
"""Canned calls."""
from datetime import datetime, timedelta

import pytest
from pytest_voiceeval.errors import BotUnreachableError
from pytest_voiceeval.model.conversation import Conversation, Recording, SideEvidence, TokenUsage
from pytest_voiceeval.model.stop_reason import StopReason
from pytest_voiceeval.model.turns import Turn


@pytest.fixture
def voice_conversation(voice_scenario, voice_folder):
    name = voice_scenario.name
    if name == "bank__unreachable":
        raise BotUnreachableError("agent: nothing listens at ws://127.0.0.1:9; start it")
    if name == "bank__row2":
        raise KeyboardInterrupt
    tea = "Coffee" if name == "shop__wrong_tea" else "Tea"
    begin = datetime(2026, 1, 2, 3, 4, 5)
    return Conversation(
        scenario_name=name,
        turns=(
            Turn("agent", 0.5, 1.5, "Welcome to the shop."),
            Turn("user", 2.0, 3.0, "One tea, please."),
            Turn("agent", 3.5, 4.5, "Here it is."),
        ),
        stop_reason=StopReason.EXIT,
        started_at=begin,
        ended_at=begin + timedelta(seconds=6),
        recording=Recording(bytes(4 * 16000), 16000),
        agent=SideEvidence(
            actions=(),
            context=[{"role": "assistant", "content": "Welcome"}],
            tokens=TokenUsage(3, 30, 10),
        ),
        pushed=('{"items": [{"name": "%s", "quantity": "1"}]}' % tea,),
    )
'''


def make_files(root: Path) -> Callable[[str, str], Path]:
    """Return a function that writes a file below ``root``."""

    def write(name: str, text: str) -> Path:
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text.lstrip("\n"), encoding="utf-8")
        return path

    return write


def collected(result: pytest.RunResult) -> list[str]:
    """Return the node ids that a run with ``--co -q`` printed."""
    return [line for line in result.outlines if "::" in line and " " not in line]


def run_folder(root: Path) -> Path:
    """Return the folder of the only run below ``root``."""
    (folder,) = (root / "eval_results").glob("eval_*")
    return folder
