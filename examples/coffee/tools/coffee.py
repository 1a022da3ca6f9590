"""The tools of a coffee shop's agent."""

from __future__ import annotations

from typing import Any

from pytest_voiceeval.tools import WriteScenarioTool, register_schema_tool_for_eval


@register_schema_tool_for_eval(domain="coffee")
class CancelOrderTool(WriteScenarioTool):
    """Cancels an order; the record of it is what the scenario is scored by."""

    ACTION_TYPES = ["cancel_order"]

    def __init__(self, *, shared_state: dict[str, Any] | None = None, description: str | None = None) -> None:
        super().__init__(description=description or "Cancel an open coffee order.")
        self.state = shared_state if shared_state is not None else {}

    @property
    def properties(self) -> dict[str, Any]:
        return {"order_id": {"type": "string", "description": "The order's id, such as A123."}}

    @property
    def required_properties(self) -> list[str]:
        return ["order_id"]

    async def _execute(self, order_id: str = "") -> dict[str, Any]:
        order = self.state.get("db", {}).get("orders", {}).get(order_id.upper())
        if order is None:
            return {"status": "error", "error_type": "not_found", "message": f"no order {order_id}"}
        order["status"] = "cancelled"
        arguments = {"order_id": order_id.upper()}
        self._record_action(
            {
                "action_type": "cancel_order",
                "name": "cancel_order",
                "arguments": arguments,
                "result": arguments,
            }
        )
        return {"status": "success", **arguments}
