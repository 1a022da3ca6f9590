from __future__ import annotations

from typing import Any

import pytest

from pytest_voiceeval.errors import DataError, UnknownNameError
from pytest_voiceeval.model.turns import AGENT, USER
from pytest_voiceeval.tools import (
    CheckedTool,
    CheckedWriteTool,
    NoParams,
    Params,
    ToolRefusal,
    build_tools,
    gold_replay,
    register_initialization_function,
    register_schema_tool_for_eval,
)

DOMAIN = "lamps"


class LampParams(Params):
    lamp: str


@register_schema_tool_for_eval(DOMAIN)
class SwitchOnTool(CheckedWriteTool[LampParams]):
    """Of the agent."""

    description = "Switch a lamp on."
    PARAMS_MODEL = LampParams

    def run(self, params: LampParams) -> str:
        if params.lamp not in self.db["lamps"]:
            raise ToolRefusal("not_found", f"no lamp {params.lamp}")
        self.db["lamps"][params.lamp] = "on"
        self.record_call(params, {"lamp": params.lamp})
        return "done"


@register_schema_tool_for_eval(DOMAIN)
class OpenEyesTool(CheckedWriteTool[NoParams]):
    """Of the user."""

    description = "Open your eyes."
    PARAMS_MODEL = NoParams

    def run(self, params: NoParams) -> str:
        self.db["eyes"] = "open"
        self.record_call(params, {})
        return "open"


@register_schema_tool_for_eval(DOMAIN)
class ExplodeTool(CheckedTool[NoParams]):
    """Raises."""

    description = "Explode."
    PARAMS_MODEL = NoParams

    def run(self, params: NoParams) -> str:
        raise OSError("no fuse")


@register_initialization_function(DOMAIN)
def add_lamp(db: dict[str, Any], lamp: str) -> None:
    db["lamps"][lamp] = "off"


@register_initialization_function(DOMAIN)
def close_eyes(db: dict[str, Any]) -> None:
    db["eyes"] = "closed"


def see_light(agent: dict[str, Any], user: dict[str, Any]) -> dict[str, dict[str, Any]]:
    light = "on" in agent["lamps"].values()
    return {"user": {"sees.light": light}} if user["sees"]["light"] != light else {}


def replay(actions: list[dict[str, Any]], **more: Any) -> Any:
    worlds = {AGENT: {"lamps": {"A": "off"}}, USER: {"eyes": "open", "sees": {"light": None}}}
    tools = {AGENT: ["SwitchOnTool", "ExplodeTool", "EndConversationTool"], USER: ["OpenEyesTool"]}
    return gold_replay(DOMAIN, worlds, actions, tools=tools, **more)


def switch_on(lamp: Any) -> dict[str, Any]:
    return {"name": "switch_on", "arguments": {"lamp": lamp}}


def test_actions_change_the_world_of_their_side_and_are_recorded_with_it() -> None:
    done = replay([switch_on("A"), {"name": "open_eyes", "arguments": None, "requestor": "user"}])
    assert done.worlds[AGENT]["lamps"] == {"A": "on"}
    assert [(record["side"], record["name"]) for record in done.actions] == [
        ("agent", "switch_on"),
        ("user", "open_eyes"),
    ]
    assert (done.refused, done.faults) == ([], [])


def test_a_refused_action_is_counted_and_changes_nothing() -> None:
    done = replay([switch_on("B"), switch_on(1), switch_on("A")])
    assert [(name, answer["error_type"]) for name, answer in done.refused] == [
        ("switch_on", "not_found"),
        ("switch_on", "validation_error"),
    ]
    assert len(done.actions) == 1


def test_what_does_not_work_is_noted_and_the_replay_goes_on() -> None:
    done = replay([{"name": "explode"}, {"name": "shine", "arguments": {}}, switch_on("A")])
    assert done.faults[0] == "explode: OSError: no fuse"
    assert "no tool 'shine' in domain 'lamps'" in done.faults[1]
    assert done.worlds[AGENT]["lamps"] == {"A": "on"}
    with pytest.raises(
        DataError, match="cannot be done on its data: explode: OSError: no fuse; get the data"
    ):
        done.without_faults()
    whole = replay([switch_on("A")])
    assert whole.without_faults() is whole


def test_each_side_is_initialized_and_both_are_synced_before_and_after_each_action() -> None:
    init = [
        {"side": "user", "func_name": "close_eyes"},
        {"side": "agent", "func_name": "add_lamp", "arguments": {"lamp": "B"}},
        {"side": "agent", "func_name": "break_lamp"},
    ]
    before = replay([], initialization_actions=init, sync=see_light)
    assert before.worlds == {
        AGENT: {"lamps": {"A": "off", "B": "off"}},
        USER: {"eyes": "closed", "sees": {"light": False}},
    }
    assert len(before.faults) == 1
    assert "break_lamp" in before.faults[0]
    after = replay([switch_on("B")], initialization_actions=init, sync=see_light)
    assert after.worlds[USER]["sees"] == {"light": True}


def test_tools_that_only_talk_are_left_out_and_unknown_ones_are_told() -> None:
    assert list(build_tools(["SwitchOnTool", "EndConversationTool"], DOMAIN, {})) == ["SwitchOnTool"]
    with pytest.raises(UnknownNameError, match="did you mean 'SwitchOnTool'"):
        build_tools(["SwitchOffTool"], DOMAIN, {})
