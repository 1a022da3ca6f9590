from __future__ import annotations

import json
from typing import Any

import pytest

from pytest_voiceeval.tools import StandardSchemaTool, get_schema_tool_for_eval

pytestmark = pytest.mark.usefixtures("builtin_tools")

ANN = {"name": "Ann", "phone": "1", "party_size": 2}
BOB = {"name": "Bob", "phone": "2", "party_size": 3}


@pytest.fixture
def state() -> dict[str, Any]:
    return {}


@pytest.fixture
def make(rtvi: Any, state: dict[str, Any]) -> Any:
    def make(name: str, **kwargs: Any) -> StandardSchemaTool:
        return get_schema_tool_for_eval(name, rtvi=rtvi, shared_state=state, **kwargs)

    return make


def summary(entry: tuple[str, Any]) -> Any:
    kind, data = entry
    assert kind == "message"
    text: str = data["text"]
    return json.loads(text.removeprefix("<final_response>").removesuffix("</final_response>"))


def test_joining_appends_and_reports_the_list(call: Any, make: Any, state: dict[str, Any]) -> None:
    [message, result] = call(make("JoinWaitListTool", initial_waitlist=json.dumps([ANN])), BOB)
    assert state["waitlist"] == [ANN, BOB]
    assert summary(message) == {"waitlist": [ANN, BOB], "action": "join", "customer": BOB}
    assert result[1] == {
        "success": True,
        "message": "Bob has been added to the waitlist.",
        "position": 2,
        "total_in_waitlist": 2,
    }


def test_values_are_kept_as_they_are_given(call: Any, make: Any, state: dict[str, Any]) -> None:
    call(make("JoinWaitListTool"), name="Cy", party_size="four")
    assert state["waitlist"] == [{"name": "Cy", "phone": None, "party_size": "four"}]


def test_dropping_removes_all_of_that_name_and_keeps_the_list_that_was(
    call: Any, make: Any, state: dict[str, Any]
) -> None:
    before = state["waitlist"] = [ANN, BOB, ANN]
    [message, result] = call(make("DropWaitListTool"), name="Ann")
    assert before == [ANN, BOB, ANN]
    assert state["waitlist"] == [BOB]
    assert summary(message) == {
        "waitlist": [BOB],
        "action": "drop",
        "customer": {"name": "Ann"},
        "removed": True,
    }
    assert result[1] == {
        "success": True,
        "message": "Ann has been removed from the waitlist.",
        "remaining_in_waitlist": 1,
    }


def test_dropping_nobody_is_reported_too(call: Any, make: Any, state: dict[str, Any]) -> None:
    state["waitlist"] = [ANN]
    [message, result] = call(make("DropWaitListTool"), name="ann")
    assert summary(message)["removed"] is False
    assert result[1] == {"success": False, "message": "ann was not found on the waitlist."}


def test_the_list_can_be_read(call: Any, make: Any, state: dict[str, Any]) -> None:
    state["waitlist"] = [ANN]
    [(_, result)] = call(make("GetWaitlistTool"), whose="mine")
    assert result == {"waitlist": [ANN], "total_in_waitlist": 1}
    assert result["waitlist"][0] is not state["waitlist"][0]


def test_the_first_tool_of_a_scenario_seeds_the_list_and_later_ones_keep_it(
    make: Any, state: dict[str, Any]
) -> None:
    make("JoinWaitListTool", initial_waitlist=json.dumps([ANN]))
    make("GetWaitlistTool")
    make("JoinWaitListTool", initial_waitlist="[]")
    assert state["waitlist"] == [ANN]


def test_a_companion_that_comes_first_plants_an_empty_list(make: Any, state: dict[str, Any]) -> None:
    make("DropWaitListTool")
    make("JoinWaitListTool", initial_waitlist=json.dumps([ANN]))
    assert state["waitlist"] == []


def test_schemas(make: Any) -> None:
    assert make("JoinWaitListTool").schema()["required"] == ["name", "phone", "party_size"]
    assert make("JoinWaitListTool").schema()["properties"]["party_size"]["type"] == "integer"
    assert make("DropWaitListTool").schema()["required"] == ["name"]
    assert make("GetWaitlistTool").schema()["required"] == []
