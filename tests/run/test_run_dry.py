from __future__ import annotations

import asyncio
import json
from typing import Any, ClassVar

import pytest

from pytest_voiceeval import (
    Actions,
    Persona,
    Rehearsal,
    Resources,
    Say,
    Scenario,
    SuccessSignal,
    Task,
    Use,
)
from pytest_voiceeval.errors import DefinitionError, UnknownNameError
from pytest_voiceeval.model.stop_reason import StopReason
from pytest_voiceeval.model.turns import AGENT, USER
from pytest_voiceeval.run.dry import hold_dry
from pytest_voiceeval.run.dry_bot import DryBot, use_tool
from pytest_voiceeval.tools import (
    SendExitMessageTool,
    StandardSchemaTool,
    WriteScenarioTool,
    registry,
)
from pytest_voiceeval.world.hashing import get_dict_hash


class BrewTool(WriteScenarioTool):
    """Brews a cup, changes the database, and records it."""

    description = "Brew a cup."
    ACTION_TYPES: ClassVar[list[str]] = ["brew"]

    @property
    def properties(self) -> dict[str, Any]:
        return {"kind": {"type": "string", "description": "Which coffee."}}

    @property
    def required_properties(self) -> list[str]:
        return ["kind"]

    async def _execute(self, kind: str) -> dict[str, Any]:
        if kind == "tea":
            raise ValueError("we have no tea")
        cups = self.state["db"]["cups"]
        cups.append(kind)
        self.record({"action_type": "brew", "name": "brew", "arguments": {"kind": kind}, "result": "hot"})
        return {"cups": cups}


class SipTool(StandardSchemaTool):
    """The caller drinks: returns nothing."""

    description = "Sip."
    properties: ClassVar[dict[str, Any]] = {}  # type: ignore[assignment]
    required_properties: ClassVar[list[str]] = []  # type: ignore[assignment]

    def __init__(self, *, shared_state: dict[str, Any]) -> None:
        super().__init__(name="sip")
        self.state = shared_state

    async def _execute(self) -> list[Any]:
        self.state["db"]["sips"] = self.state["db"].get("sips", 0) + 1
        return []


class Cup(Scenario):
    name = "coffee__cup"
    domain = "dry_coffee"
    success_signals = (SuccessSignal.CLEAN_EXIT,)
    user_persona = Persona(role="customer")
    user_task = Task(goal="get a cup")
    user_actions = Actions()
    user_resources = Resources(tools={"SipTool": {}})
    agent_persona = Persona(role="barista")
    agent_task = Task(goal="brew")
    agent_actions = Actions()
    agent_resources = Resources(tools={"BrewTool": {}, "EndTool": {}})

    def setup_shared_state(self, state: dict[str, Any], side: str) -> None:
        state["db"] = {"cups": []} if side == "agent" else {"thirst": 3}


class EndTool(SendExitMessageTool):
    """Ends the call."""


GOLD = Rehearsal(
    user=(Say("A mocha please."), Use("sip"), Say("Thank you, goodbye.")),
    agent=(
        Say("What can I get you?"),
        Use("BrewTool", {"kind": "mocha"}),
        Say("Here it is."),
        Use("EndTool"),
        Say("Nobody hears this."),
    ),
)


@pytest.fixture(autouse=True)
def tools(monkeypatch: pytest.MonkeyPatch) -> None:
    domains = {"default": registry._domains.get("default", {})}
    monkeypatch.setattr(registry, "_domains", domains)
    for cls in (BrewTool, SipTool, EndTool):
        registry.register_schema_tool_for_eval("dry_coffee")(cls)


def test_a_dry_call_has_the_turns_the_records_the_worlds_and_the_end() -> None:
    call = hold_dry(Cup(), GOLD)
    assert [(turn.speaker, turn.text) for turn in call.turns] == [
        ("agent", "What can I get you?"),
        ("user", "A mocha please."),
        ("agent", "Here it is."),
        ("user", "Thank you, goodbye."),
    ]
    assert call.turns == tuple(sorted(call.turns, key=lambda turn: turn.start))
    assert call.stop_reason is StopReason.EXIT
    assert [record.to_json() for record in call.actions] == [
        {
            "side": "agent",
            "action_type": "brew",
            "name": "brew",
            "arguments": {"kind": "mocha"},
            "result": "hot",
        }
    ]
    assert call.agent.db == {"cups": ["mocha"]}
    assert call.agent.db_hash == get_dict_hash({"cups": ["mocha"]})
    assert call.user.db == {"thirst": 3, "sips": 1}
    assert (call.agent.tokens.n_calls, call.user.tokens.n_calls) == (4, 3)


def test_the_context_holds_what_a_model_would_have_seen() -> None:
    call = hold_dry(Cup(), GOLD)
    assert call.user.context is not None
    roles = [message["role"] for message in call.user.context]
    assert roles == ["system", "user", "assistant", "user", "assistant", "tool", "assistant"]
    assert call.user.context[4]["tool_calls"][0]["function"] == {"name": "sip", "arguments": "{}"}
    assert json.loads(call.user.context[5]["content"])["message"] == "No matching records found."


@pytest.mark.parametrize(
    "agent", [(Say("Hello there."),), (Say(""), Use("EndTool")), (Say("Yes?"), Say(" "), Use("EndTool")), ()]
)
def test_a_side_that_has_nothing_to_say_lets_the_call_fall_silent(agent: tuple[Any, ...]) -> None:
    assert hold_dry(Cup(), Rehearsal(GOLD.user, agent)).stop_reason is StopReason.INACTIVITY


def test_a_tool_that_a_side_does_not_have_is_answered_as_to_a_model() -> None:
    call = hold_dry(Cup(), Rehearsal((), (Use("Brew"), Use("EndTool"))))
    assert call.agent.context is not None
    answer = json.loads(call.agent.context[3]["content"])
    assert (answer["error_type"], answer["available_tools"]) == ("unknown_tool", ["BrewTool", "EndTool"])


def test_a_scenario_without_a_rehearsal_cannot_be_played() -> None:
    with pytest.raises(DefinitionError, match=r"test_run_dry\.py:\d+: scenario coffee__cup has no rehearsal"):
        hold_dry(Cup())


def test_a_world_that_cannot_be_set_up_says_why() -> None:
    class Lost(Cup):
        name = "coffee__lost"
        initialization_actions: ClassVar[list[dict[str, Any]]] = [{"side": "user", "func_name": "pour"}]

    with pytest.raises(DefinitionError, match="world of the user cannot be set up: no init"):
        hold_dry(Lost(), GOLD)


def test_a_tool_that_is_not_there_is_named() -> None:
    with pytest.raises(UnknownNameError, match="no tool 'BrewTol' in domain 'dry_coffee'; did you mean"):
        DryBot(AGENT, "dry_coffee", {"BrewTol": {}})


class InStep(Cup):
    name = "coffee__in_step"

    def sync_state(self, agent_db: dict[str, Any], user_db: dict[str, Any]) -> Any:
        return {"agent": {}, "user": {"cups": len(agent_db["cups"])}}


def test_worlds_are_brought_in_step_after_each_tool_call() -> None:
    assert hold_dry(InStep(), GOLD).user.db == {"thirst": 3, "sips": 1, "cups": 1}


def test_what_cannot_be_applied_to_a_world_says_where() -> None:
    class Wrong(Cup):
        name = "coffee__wrong_step"

        def sync_state(self, agent_db: dict[str, Any], user_db: dict[str, Any]) -> Any:
            return {"agent": {}, "user": {"mug.size": 1}}

    with pytest.raises(DefinitionError, match=r"py:\d+: .*sync_state gives the user .* no 'mug'"):
        hold_dry(Wrong(), GOLD)


def test_a_raising_tool_is_told_from_one_that_returns_an_error() -> None:
    bot = DryBot(AGENT, "dry_coffee", {"BrewTool": {}}, initial={"db": {"cups": []}})
    raised = asyncio.run(bot.use("BrewTool", {"kind": "tea"}))
    assert (raised.raised, raised.result, raised.delivered) == (True, None, {"error": "we have no tea"})
    assert bot.records == []


def test_a_result_is_kept_as_it_was_though_the_world_moves_on() -> None:
    bot = DryBot(AGENT, "dry_coffee", {"BrewTool": {}}, initial={"db": {"cups": []}})
    first = asyncio.run(bot.use("BrewTool", {"kind": "mocha"}))
    asyncio.run(bot.use("BrewTool", {"kind": "latte"}))
    assert first.result == first.delivered == {"cups": ["mocha"]}
    assert [message["type"] for message in bot.sent.sent] == ["action-applied", "action-applied"]


def test_an_empty_result_and_what_is_delivered_of_it_differ() -> None:
    bot = DryBot(USER, "dry_coffee", {"SipTool": {}}, initial={"db": {}})
    answer = asyncio.run(use_tool(bot.tools["sip"], {}))
    assert answer.result == []
    assert answer.delivered["count"] == 0
