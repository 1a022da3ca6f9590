"""Tools of a restaurant's phone line: the menu, and an order."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from pytest_voiceeval.tools import (
    SendScenarioSummaryTool,
    StandardSchemaTool,
    register_schema_tool_for_eval,
)

ITEM_FIELDS = ("name", "unit_price", "quantity")


@register_schema_tool_for_eval
class GetMenuTool(StandardSchemaTool):
    """Reads out the menu that the scenario gives."""

    description = "Get the menu of the restaurant, with all prices."

    def __init__(self, *, menu: str = "", description: str | None = None) -> None:
        super().__init__(description=description)
        self.menu = menu

    @property
    def properties(self) -> dict[str, Any]:
        return {}

    @property
    def required_properties(self) -> list[str]:
        return []

    async def _execute(self, *_args: Any, **_ignored: Any) -> dict[str, str]:
        return {"menu": self.menu}


@register_schema_tool_for_eval
class PlaceOrderTool(SendScenarioSummaryTool):
    """Places an order, and reports it as the outcome of the call.

    With ``auto_validate`` an order whose items or total can't be right is refused. As values of
    scenarios are usually texts, "False", "no", "0" and an empty text count as off.
    """

    description = "Place the customer's order. Use it once, after the customer has confirmed everything."

    def __init__(
        self,
        *,
        rtvi: Any = None,
        auto_validate: bool | str = False,
        valid_item_names: Sequence[str] | str | None = None,
        description: str | None = None,
    ) -> None:
        super().__init__(rtvi=rtvi, description=description)
        self.auto_validate = _is_on(auto_validate)
        self.valid_item_names = (
            json.loads(valid_item_names) if isinstance(valid_item_names, str) else valid_item_names
        )

    @property
    def properties(self) -> dict[str, Any]:
        return {
            "items": {
                "type": "array",
                "description": "What is ordered, each item with the name and price of the menu.",
                "items": {
                    "type": "object",
                    "properties": {
                        "name": {"type": "string", "description": "Name of the item."},
                        "unit_price": {"type": "number", "description": "Price of one, in dollars."},
                        "quantity": {"type": "integer", "description": "How many."},
                    },
                    "required": list(ITEM_FIELDS),
                },
            },
            "customer_name": {"type": "string", "description": "Name of the customer."},
            "customer_phone": {"type": "string", "description": "Phone number, such as 314-555-0100."},
            "total_price": {"type": "number", "description": "Sum of all items, in dollars."},
        }

    @property
    def required_properties(self) -> list[str]:
        return ["items", "customer_name", "total_price"]

    async def _execute(
        self,
        items: list[dict[str, Any]] | None = None,
        customer_name: str | None = None,
        customer_phone: str | None = None,
        total_price: float | str | None = None,
    ) -> dict[str, Any]:
        if customer_name is None:
            raise ValueError("customer_name is missing")
        if total_price is None:
            raise ValueError("total_price is missing")
        if items is None:
            raise ValueError("items is missing")
        self._check(items, total_price)
        order = {
            "items": items,
            "customer_name": customer_name,
            "customer_phone": customer_phone,
            "total_price": total_price,
        }
        await self._send_summary(order)
        return {
            "success": True,
            "message": f"The order for {customer_name} is placed. The total is ${total_price}.",
            "order_details": json.dumps(order),
        }

    def _check(self, items: list[dict[str, Any]], total_price: float | str) -> None:
        """Raise ``ValueError`` if the items can't be added up or, with validation, can't be right."""
        if not isinstance(items, list) or not all(isinstance(item, dict) for item in items):
            raise ValueError("items must be a list of objects with name, unit_price and quantity")
        if self.auto_validate:
            for number, item in enumerate(items, start=1):
                self._check_item(number, item)
        total = sum(
            _number(number, item, "unit_price") * _number(number, item, "quantity")
            for number, item in enumerate(items, start=1)
        )
        if self.auto_validate and not _close(total, float(total_price)):
            raise ValueError(f"total_price is {total_price}, but the items add up to {total:.2f}")

    def _check_item(self, number: int, item: dict[str, Any]) -> None:
        for field in ITEM_FIELDS:
            if item.get(field) is None:
                raise ValueError(f"item {number} has no '{field}'")
        if self.valid_item_names is not None and item["name"] not in self.valid_item_names:
            known = ", ".join(self.valid_item_names)
            raise ValueError(f"item {number}: '{item['name']}' is not on the menu; there are: {known}")
        for field in ("unit_price", "quantity"):
            if not _number(number, item, field) >= 0:
                raise ValueError(f"item {number}: {field} is {item[field]}, but can't be below 0")


def _number(number: int, item: dict[str, Any], field: str) -> float:
    if field not in item:
        raise ValueError(f"item {number} has no '{field}'")
    try:
        return float(item[field])
    except (TypeError, ValueError):
        raise ValueError(f"item {number}: {field} {item[field]!r} is not a number") from None


def _close(total: float, stated: float) -> bool:
    """Return whether two amounts are equal by the tolerance that numbers of a reference have."""
    return abs(total - stated) <= 1e-8 + 1e-5 * abs(stated)


def _is_on(value: bool | str) -> bool:
    if isinstance(value, str):
        return value.strip().lower() not in ("", "0", "false", "no", "off")
    return bool(value)
