# ruff: noqa: RUF012 - a tool declares constants
from __future__ import annotations

import logging
from typing import Any, Optional

import pytest

from pytest_voiceeval import tools
from pytest_voiceeval.tools import (
    WriteScenarioTool,
    get_schema_tool_for_eval,
    register_schema_tool_for_eval,
)


@register_schema_tool_for_eval(domain="coffee_cup")
class CancelOrderTool(WriteScenarioTool):
    """The worked example of a tool: takes an order of coffee back."""

    ACTION_TYPES = ["cancel_order"]

    def __init__(
        self,
        *,
        shared_state: Optional[dict] = None,  # noqa: UP045 - as the documentation writes it
        description: Optional[str] = None,  # noqa: UP045
    ):
        super().__init__(description=description or "Cancel an order that is not made yet.")
        self.state = shared_state if shared_state is not None else {}

    @property
    def properties(self) -> dict:
        return {"order_id": {"type": "string", "description": "Number on the receipt."}}

    @property
    def required_properties(self) -> list:
        return ["order_id"]

    async def _execute(self, order_id: str = "") -> dict:
        orders = self.state["db"]["orders"]
        if order_id not in orders:
            return {"status": "error", "error_type": "not_found", "message": f"no order {order_id}"}
        orders[order_id]["status"] = "cancelled"
        result = {"order_id": order_id, "status": "cancelled"}
        self._record_action(
            {
                "action_type": "cancel_order",
                "name": "cancel_order",
                "arguments": {"order_id": order_id},
                "result": result,
            }
        )
        return result


RECORD = {
    "action_type": "cancel_order",
    "name": "cancel_order",
    "arguments": {"order_id": "A1"},
    "result": {"order_id": "A1", "status": "cancelled"},
}


@pytest.fixture
def state() -> dict[str, Any]:
    return {"db": {"orders": {"A1": {"status": "waiting"}}}}


def test_the_worked_tool_changes_the_state_and_records_it(call: Any, state: dict[str, Any]) -> None:
    tool = get_schema_tool_for_eval("CancelOrderTool", domain="coffee_cup", shared_state=state)
    assert call(tool, order_id="A1") == [("result", {"order_id": "A1", "status": "cancelled"})]
    assert state["db"]["orders"]["A1"]["status"] == "cancelled"
    assert state["actions"] == [RECORD]


def test_a_failure_is_not_recorded(call: Any, state: dict[str, Any]) -> None:
    tool = get_schema_tool_for_eval("CancelOrderTool", domain="coffee_cup", shared_state=state)
    [(_, result)] = call(tool, order_id="B2")
    assert result["error_type"] == "not_found"
    assert "actions" not in state


def test_the_bridge_hears_of_an_action_at_once(call: Any, state: dict[str, Any], rtvi: Any) -> None:
    state |= {"__rtvi__": rtvi, "__tool_domain__": "coffee_cup"}
    journal = call(CancelOrderTool(shared_state=state), order_id="A1")
    event = {"type": "action-applied", "action": RECORD, "tool_domain": "coffee_cup"}
    assert ("message", event) in journal


def test_a_bridge_that_is_gone_does_not_undo_the_record(
    call: Any, state: dict[str, Any], rtvi: Any, caplog: pytest.LogCaptureFixture
) -> None:
    rtvi.broken = True
    state["__rtvi__"] = rtvi
    call(CancelOrderTool(shared_state=state), order_id="A1")
    assert state["actions"] == [RECORD]
    assert "could not be told of an action" in caplog.text


def test_a_record_is_kept_without_a_processor_and_without_a_loop(rtvi: Any) -> None:
    for processor in (None, object(), rtvi):
        tool = CancelOrderTool(shared_state={"__rtvi__": processor})
        tool.record(RECORD)
        assert tool.state["actions"] == [RECORD]


def test_a_record_does_not_change_with_the_state_that_it_tells_of() -> None:
    tool = CancelOrderTool()
    order = {"status": "cancelled"}
    tool.record({"action_type": "cancel_order", "name": "cancel_order", "arguments": {}, "result": order})
    order["status"] = "refunded"
    assert tool.state["actions"][0]["result"] == {"status": "cancelled"}


def test_an_unlisted_action_type_is_recorded_with_a_warning(caplog: pytest.LogCaptureFixture) -> None:
    tool = CancelOrderTool()
    with caplog.at_level(logging.WARNING):
        tool.record({"action_type": "spill"})
    assert tool.state["actions"] == [{"action_type": "spill"}]
    assert "'spill'" in caplog.text


def test_calls_are_counted_by_tool_name_in_the_shared_state() -> None:
    state: dict[str, Any] = {}
    first, second = CancelOrderTool(shared_state=state), CancelOrderTool(shared_state=state)
    assert [first._next_call_index(), second._next_call_index(), first._next_call_index()] == [1, 2, 3]
    assert state["_call_counts"] == {"CancelOrderTool": 3}


def test_a_tool_without_injected_state_has_its_own() -> None:
    assert CancelOrderTool().state == {}
    assert CancelOrderTool().state is not CancelOrderTool().state


def test_names_of_the_world_are_found_in_tools() -> None:
    assert all(callable(getattr(tools, name)) for name in tools.__all__)
    with pytest.raises(AttributeError, match="no attribute 'register_nothing'"):
        _ = tools.register_nothing
