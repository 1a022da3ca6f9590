"""Endpoints of scripted bots, a scenario for them, and canned conversations."""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from pytest_voiceeval.model.conversation import Conversation, Recording, SideEvidence, TokenUsage
from pytest_voiceeval.model.parts import Actions, Persona, Resources, Task
from pytest_voiceeval.model.signals import SuccessSignal
from pytest_voiceeval.model.stop_reason import StopReason
from pytest_voiceeval.model.turns import AGENT, USER, Side, Turn
from pytest_voiceeval.scenarios.base import Scenario
from pytest_voiceeval.testing import FakeBot, Utterance, exit_message

HANGS_UP = Utterance("", 0.0, sends=(exit_message(),))
"""What an agent says that ends the call before a word is spoken."""


class Tea(Scenario):
    name = "run__tea"
    success_signals = (SuccessSignal.ACTION_MATCH, SuccessSignal.CLEAN_EXIT)
    reference_answer = {"drink": "tea"}  # noqa: RUF012 - as scenarios are written
    max_duration = 20.0
    user_persona = agent_persona = Persona(role="person")
    user_task = agent_task = Task(goal="tea")
    user_actions = agent_actions = Actions()
    user_resources = agent_resources = Resources()


class Calls:
    """An endpoint with a bot of its own for each call; the last script is played again and again."""

    clocks = ("charged", "real")

    def __init__(self, side: Side, *scripts: list[Utterance] | BaseException) -> None:
        self.side = side
        self.label = f"fake {side}"
        self.opened = 0
        self._scripts = scripts

    def open(self, scenario: Scenario) -> AbstractAsyncContextManager[str]:
        script = self._scripts[min(self.opened, len(self._scripts) - 1)]
        self.opened += 1
        if isinstance(script, BaseException):
            raise script
        return FakeBot(self.side, script, answer_after=0.1).serve()

    def close(self) -> None:
        pass


def caller() -> Calls:
    return Calls(USER, [Utterance("Tea please.", 0.3, 500)])


def goodbye(text: str = "Here it is, bye.") -> Utterance:
    return Utterance(text, 0.3, 350, late_sends=(exit_message(),))


def canned(**changes: Any) -> Conversation:
    """Return a call in which the agent spoke twice and its model answered three times."""
    begin = datetime(2026, 1, 2, 3, 4, 5)
    conversation = Conversation(
        scenario_name="run__tea",
        turns=(
            Turn(AGENT, 0.5, 1.5, "Hi."),
            Turn(USER, 2.0, 3.7, "Tea, please."),
            Turn(AGENT, 5.0, 6.0, "Here it is.", spoken_at=4.95),
        ),
        stop_reason=StopReason.EXIT,
        started_at=begin,
        ended_at=begin + timedelta(seconds=9),
        recording=Recording(bytes(4 * 16000 * 8), 16000),
        agent=SideEvidence(actions=(), context=[{"role": "assistant"}], tokens=TokenUsage(3, 20, 10)),
        pushed=('{"drink": "tea"}',),
    )
    return replace(conversation, **changes)
