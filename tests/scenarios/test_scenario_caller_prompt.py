"""The simulated caller's prompt: all of its part, nothing of the agent's, and what keeps a model in it."""

from __future__ import annotations

import json
from typing import Any

import pytest

from pytest_voiceeval import Actions, Persona, Resources, Scenario, SuccessSignal, Task
from pytest_voiceeval.scenarios.packs import BUILTIN
from pytest_voiceeval.scenarios.prompts import CALLER_RULES
from pytest_voiceeval.scenarios.registry import get_eval_scenario, list_eval_scenarios


def parts(who: str) -> dict[str, Any]:
    """Return the parts of one side, each text of which is a word of its own."""
    return {
        f"{who}_persona": Persona(
            role=f"{who}-role",
            name=f"{who}-name",
            background=f"{who}-past",
            personality=f"{who}-temper",
            language=f"{who}-tongue",
            accent=f"{who}-accent",
        ),
        f"{who}_task": Task(goal=f"{who}-goal", background=f"{who}-reason"),
        f"{who}_actions": Actions(instructions=[f"{who}-step"], guidelines=[f"{who}-rule"]),
        f"{who}_resources": Resources(
            tools={f"{who}Tool": {}},
            documents={f"{who}-document": "a.txt"},
            information=[f"{who}-fact"],
            info_sections={f"{who}-heading": f"{who}-section"},
        ),
    }


WORDS = ("role", "name", "past", "temper", "tongue", "accent", "goal", "reason", "step", "rule", "document")
WORDS = (*WORDS, "fact", "heading", "section")


class Marked(Scenario):
    name = "prompt__marked"
    success_signals = (SuccessSignal.ACTION_MATCH,)
    reference_answer = {"secret": "agent-reference"}  # noqa: RUF012 - as scenarios are written


for _name, _part in {**parts("user"), **parts("agent")}.items():
    setattr(Marked, _name, _part)


def test_all_of_the_callers_part_is_in_its_prompt_and_nothing_of_the_agents() -> None:
    prompt = Marked().prompt("user")
    assert [word for word in WORDS if f"user-{word}" not in prompt] == []
    assert "agent-" not in prompt
    assert "Tool" not in prompt
    assert "agent-reference" not in Marked().prompt("agent")


def test_the_rules_are_the_callers_alone_and_come_last() -> None:
    scenario = Marked()
    assert scenario.prompt("user").endswith(f"\n\n{CALLER_RULES}")
    assert CALLER_RULES not in scenario.prompt("agent")
    assert "# How to Call" not in scenario.prompt("agent")


def test_a_scenario_may_have_rules_of_its_own_or_none() -> None:
    class Own(Marked):
        name = "prompt__own"
        caller_prompt = "Shout."

    class Without(Marked):
        name = "prompt__without"
        caller_prompt = ""

    assert Own().prompt("user").endswith("user-section\n\nShout.")
    assert Without().prompt("user").endswith("user-section")


@pytest.mark.parametrize(
    "rule",
    [
        "never speak for them",
        "Do not say the other person's sentence back to them",
        "give each further detail when you are asked for it",
        "one character at a time",
        "say that you do not have it",
        "Leave out stage directions",
        "all markup",
        "Stay on the line until what you called for is done",
        "Then say goodbye once",
        "If you have a tool that ends the call, use it right after that goodbye and never before",
        "if you have none, the other person hangs up",
    ],
)
def test_the_rules_hold_a_model_to_its_part(rule: str) -> None:
    assert rule in CALLER_RULES


@pytest.mark.usefixtures("builtin")
def test_no_built_in_caller_is_told_what_only_the_agent_knows() -> None:
    leaks, seen = [], []
    for name in list_eval_scenarios():
        scenario = get_eval_scenario(name)
        # Other tests have registered theirs.
        is_built_in = type(scenario).__module__.startswith(f"{BUILTIN}.")
        if scenario is None or not is_built_in or scenario.domain.startswith(("tau2", "eva")):
            continue
        seen.append(name)
        prompt = scenario.prompt("user")
        agents = [
            scenario.agent_task.goal,
            *scenario.agent_actions.instructions,
            *scenario.agent_actions.guidelines,
            *scenario.agent_resources.information,
            *(scenario.agent_resources.info_sections or {}).values(),
            json.dumps(scenario.agent_resources.tools),
            json.dumps(scenario.reference_answer),
        ]
        leaks += [(name, text) for text in agents if text and text != "{}" and text in prompt]
    assert leaks == []
    assert "restaurant__pizza_pepperoni" in seen
