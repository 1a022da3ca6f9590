from __future__ import annotations

import asyncio
from typing import Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, Field

from pytest_voiceeval.errors import DefinitionError
from pytest_voiceeval.tools import (
    CheckedTool,
    CheckedWriteTool,
    NoParams,
    Params,
    ToolRefusal,
    TransferTool,
    action_name,
)
from pytest_voiceeval.tools.params import parameter_properties


class Leg(BaseModel):
    title: str = Field(description="Number of the flight.")
    seats: int = 1


class BookParams(Params):
    customer: str = Field(description="Who pays.")
    cabin: Literal["coach", "sleeper"]
    legs: list[Leg]
    note: str | None = None


class BookTrainTool(CheckedWriteTool[BookParams]):
    """Books a train."""

    description = "Book a train."
    PARAMS_MODEL = BookParams

    def run(self, params: BookParams) -> Any:
        if params.customer not in self.db["customers"]:
            raise ToolRefusal("not_found", f"no {params.customer}")
        row = {"customer": params.customer, "legs": [leg.title for leg in params.legs]}
        self.db["bookings"].append(row)
        self.record_call(params, {"count": len(self.db["bookings"])})
        return row


class CountTool(CheckedTool[NoParams]):
    """Counts what is booked."""

    description = "Count the bookings."
    PARAMS_MODEL = NoParams
    VALIDATION_ERROR = "invalid_arguments"

    def run(self, params: NoParams) -> int:
        return len(self.db["bookings"])


class SummaryParams(Params):
    summary: str


class HandOverTool(TransferTool[SummaryParams]):
    """Hands over."""

    description = "Hand the caller over."
    PARAMS_MODEL = SummaryParams

    def run(self, params: SummaryParams) -> Any:
        self.record_call(params, {})
        return {"status": "success"}


class AlwaysOverTool(HandOverTool):
    """Hands over, come what may."""

    ENDS_ON_ERROR = True


BOOKING = {"customer": "Ann", "cabin": "coach", "legs": [{"title": "T1", "seats": "2", "wifi": True}]}


@pytest.fixture
def state() -> dict[str, Any]:
    return {"db": {"customers": {"Ann": {}}, "bookings": []}}


def test_the_model_is_told_the_parameters_without_references() -> None:
    tool = BookTrainTool()
    assert tool.schema() == {
        "name": "BookTrainTool",
        "description": "Book a train.",
        "properties": {
            "customer": {"type": "string", "description": "Who pays."},
            "cabin": {"type": "string", "enum": ["coach", "sleeper"]},
            "legs": {
                "type": "array",
                "items": {
                    "type": "object",
                    "properties": {
                        "title": {"type": "string", "description": "Number of the flight."},
                        "seats": {"type": "integer", "default": 1},
                    },
                    "required": ["title"],
                },
            },
            "note": {"type": "string"},
        },
        "required": ["customer", "cabin", "legs"],
    }


def test_a_schema_that_somebody_changes_is_not_everybodys() -> None:
    BookTrainTool().properties["customer"]["type"] = "integer"
    assert BookTrainTool().properties["customer"]["type"] == "string"


class Node(BaseModel):
    children: list[Node]


def test_parameters_without_an_end_are_refused() -> None:
    with pytest.raises(DefinitionError, match="Node contains itself"):
        parameter_properties(type("Endless", (Params,), {"__annotations__": {"node": Node}}))


def test_a_call_changes_the_database_and_is_recorded_with_the_checked_arguments(
    state: dict[str, Any],
) -> None:
    row = BookTrainTool(shared_state=state).invoke(**BOOKING)
    assert row == {"customer": "Ann", "legs": ["T1"]}
    assert state["db"]["bookings"] == [row]
    assert state["actions"] == [
        {
            "action_type": "book_train",
            "name": "book_train",
            "arguments": {
                "customer": "Ann",
                "cabin": "coach",
                "legs": [{"title": "T1", "seats": 2}],
                "note": None,
            },
            "result": {"count": 1},
        }
    ]
    assert list(state["actions"][0]["arguments"]) == ["customer", "cabin", "legs", "note"]


def test_a_result_does_not_change_with_the_database(state: dict[str, Any]) -> None:
    row = BookTrainTool(shared_state=state).invoke(**BOOKING)
    state["db"]["bookings"][0]["legs"].append("T2")
    assert row["legs"] == ["T1"]


def test_a_refusal_is_a_result_and_leaves_no_record(state: dict[str, Any]) -> None:
    result = BookTrainTool(shared_state=state).invoke(**{**BOOKING, "customer": "Bob"})
    assert result == {"status": "error", "error_type": "not_found", "message": "no Bob"}
    assert "actions" not in state


def test_arguments_that_do_not_fit_are_told_one_by_one() -> None:
    result = BookTrainTool(shared_state={}).invoke(customer=1, cabin="couch", legs=[{}], self=2)
    assert result["error_type"] == "validation_error"
    assert [(fault["field"], fault["type"]) for fault in result["details"]] == [
        ("customer", "string_type"),
        ("cabin", "literal_error"),
        ("legs.0.title", "missing"),
        ("self", "extra_forbidden"),
    ]


def test_a_domain_chooses_what_wrong_arguments_are_called(state: dict[str, Any]) -> None:
    assert CountTool(shared_state=state).invoke(x=1)["error_type"] == "invalid_arguments"
    assert CountTool(shared_state=state).invoke() == 0


@pytest.mark.parametrize("missing", [{}, {"db": None}, {"db": {}}])
def test_a_call_without_a_database_says_so_after_the_arguments_were_checked(missing: dict[str, Any]) -> None:
    assert CountTool(shared_state=missing).invoke()["error_type"] == "db_not_initialized"
    assert CountTool(shared_state=missing).invoke(x=1)["error_type"] == "invalid_arguments"


def test_an_empty_result_is_wrapped_for_the_model_only(call: Any, state: dict[str, Any]) -> None:
    [(_, delivered)] = call(CountTool(shared_state=state))
    assert delivered["result"] == 0
    assert asyncio.run(CountTool(shared_state=state)._execute()) == 0


def test_the_bridge_hears_of_an_action(call: Any, state: dict[str, Any], rtvi: Any) -> None:
    state |= {"__rtvi__": rtvi, "__tool_domain__": "rail"}
    journal = call(BookTrainTool(shared_state=state), BOOKING)
    [event] = [data for kind, data in journal if kind == "message"]
    assert (event["type"], event["action"]["name"], event["tool_domain"]) == (
        "action-applied",
        "book_train",
        "rail",
    )


def test_a_handover_ends_the_call_after_its_result(call: Any, rtvi: Any) -> None:
    journal = call(HandOverTool(shared_state={"__rtvi__": rtvi}), summary="stuck")
    kinds = [kind for kind, data in journal if not (kind == "message" and "action" in data)]
    assert kinds == ["result", "run_llm", "message"]
    assert ("run_llm", False) in journal
    assert ("message", {"text": "<exit>Transfer complete.</exit>"}) in journal


def test_a_handover_that_fails_ends_the_call_only_where_that_is_wanted(call: Any, rtvi: Any) -> None:
    [(kind, result)] = list(call(HandOverTool(shared_state={"__rtvi__": rtvi}), summary=1))
    assert (kind, result["error_type"]) == ("result", "validation_error")
    journal = call(AlwaysOverTool(shared_state={"__rtvi__": rtvi}), summary=1)
    assert journal[-1] == ("message", {"text": "<exit>Transfer complete.</exit>"})
    assert ("run_llm", False) in journal


@pytest.mark.parametrize(
    ("tool", "action"),
    [
        ("BookReservationTool", "book_reservation"),
        ("FindUserIdByNameZipTool", "find_user_id_by_name_zip"),
        ("enable_roaming", "enable_roaming"),
        ("Tool", ""),
    ],
)
def test_an_action_is_called_after_its_tool(tool: str, action: str) -> None:
    assert action_name(tool) == action


def test_a_tool_under_another_name_records_its_own_action(state: dict[str, Any]) -> None:
    tool = BookTrainTool(shared_state=state, name="book")
    tool.invoke(**BOOKING)
    assert state["actions"][0]["name"] == "book_train"


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=6,
)


@given(st.dictionaries(st.sampled_from([*BOOKING, "note", "self", ""]), json_values | st.just("Ann")))
def test_whatever_is_given_is_answered_and_a_call_equals_an_invocation(arguments: dict[str, Any]) -> None:
    def fresh() -> dict[str, Any]:
        return {"db": {"customers": {"Ann": {}}, "bookings": []}}

    one, other = fresh(), fresh()
    result = BookTrainTool(shared_state=one).invoke(**arguments)
    assert result == asyncio.run(BookTrainTool(shared_state=other)._execute(**arguments))
    assert one == other
