from __future__ import annotations

import json
from typing import Any

import pytest

from pytest_voiceeval.tools import get_schema_tool_for_eval

pytestmark = pytest.mark.usefixtures("builtin_tools")

ITEMS = [
    {"name": "Tea", "unit_price": "1.50", "quantity": "2"},
    {"name": "Cake", "unit_price": 4, "quantity": 1},
]
ORDER = {"items": ITEMS, "customer_name": "Zoë", "customer_phone": "314-555-0100", "total_price": "7.00"}


def test_the_menu_is_the_one_of_the_scenario(call: Any) -> None:
    tool = get_schema_tool_for_eval("GetMenuTool", menu="Tea: $1.50")
    assert call(tool, page=2) == [("result", {"menu": "Tea: $1.50"})]
    assert tool.schema()["properties"] == {}


def test_an_order_is_reported_as_given_before_its_result(call: Any, rtvi: Any) -> None:
    [message, result] = call(get_schema_tool_for_eval("PlaceOrderTool", rtvi=rtvi), ORDER)
    text = json.dumps(ORDER)
    assert "\\u00eb" in text
    assert message == ("message", {"text": f"<final_response>{text}</final_response>"})
    assert result[0] == "result"
    assert result[1]["success"] is True
    assert "Zoë" in result[1]["message"]
    assert "7.00" in result[1]["message"]
    assert result[1]["order_details"] == text


def test_a_missing_phone_is_reported_as_null(call: Any, rtvi: Any) -> None:
    tool = get_schema_tool_for_eval("PlaceOrderTool", rtvi=rtvi)
    [(_, data), _] = call(tool, items=[], customer_name="Al", total_price=0)
    assert data["text"] == (
        '<final_response>{"items": [], "customer_name": "Al", "customer_phone": null, "total_price": 0}'
        "</final_response>"
    )


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"customer_name": None, "total_price": None}, "customer_name is missing"),
        ({"total_price": None, "items": None}, "total_price is missing"),
        ({"items": None}, "items is missing"),
        ({"items": "two teas"}, "items must be a list"),
        ({"items": ["tea"]}, "items must be a list"),
        ({"items": [{"name": "Tea", "quantity": 1}]}, "item 1 has no 'unit_price'"),
        ({"items": [ITEMS[0], {"name": "Tea", "unit_price": 1}]}, "item 2 has no 'quantity'"),
        (
            {"items": [{"name": "Tea", "unit_price": "$1", "quantity": 1}]},
            "item 1: unit_price '$1' is not a number",
        ),
    ],
)
def test_an_order_that_does_not_add_up_is_never_placed(
    call: Any, rtvi: Any, change: dict[str, Any], complaint: str
) -> None:
    [(kind, result)] = call(get_schema_tool_for_eval("PlaceOrderTool", rtvi=rtvi), ORDER | change)
    assert kind == "result"
    assert complaint in result["error"]


WRONG = [
    ({"total_price": "7.01"}, "total_price is 7.01, but the items add up to 7.00"),
    ({"items": [{"unit_price": 7, "quantity": 1}]}, "item 1 has no 'name'"),
    ({"items": [{"name": "Tea", "unit_price": 7, "quantity": -1}]}, "quantity is -1"),
    ({"items": [{"name": "Tea", "unit_price": "-7", "quantity": 1}]}, "unit_price is -7"),
    ({"items": [{"name": "Gin", "unit_price": 7, "quantity": 1}]}, "'Gin' is not on the menu"),
]


@pytest.mark.parametrize("on", [True, "True", "1", "yes"], ids=repr)
@pytest.mark.parametrize(("change", "complaint"), WRONG)
def test_validation_refuses_what_cannot_be_right(
    call: Any, rtvi: Any, change: dict[str, Any], complaint: str, on: Any
) -> None:
    tool = get_schema_tool_for_eval(
        "PlaceOrderTool", rtvi=rtvi, auto_validate=on, valid_item_names='["Tea", "Cake"]'
    )
    [(kind, result)] = call(tool, ORDER | change)
    assert kind == "result"
    assert complaint in result["error"]


@pytest.mark.parametrize("off", [False, "False", "false", "0", "no", ""], ids=repr)
@pytest.mark.parametrize(("change", "complaint"), WRONG)
def test_without_validation_the_order_is_placed_as_it_is(
    call: Any, rtvi: Any, change: dict[str, Any], complaint: str, off: Any
) -> None:
    tool = get_schema_tool_for_eval("PlaceOrderTool", rtvi=rtvi, auto_validate=off)
    assert [kind for kind, _ in call(tool, ORDER | change)] == ["message", "result"]


def test_a_right_order_passes_validation(call: Any, rtvi: Any) -> None:
    tool = get_schema_tool_for_eval(
        "PlaceOrderTool", rtvi=rtvi, auto_validate=True, valid_item_names=["Tea", "Cake"]
    )
    assert [kind for kind, _ in call(tool, ORDER)] == ["message", "result"]


def test_the_schema_uses_types_of_json_schema(rtvi: Any) -> None:
    schema = get_schema_tool_for_eval("PlaceOrderTool", rtvi=rtvi).schema()
    assert schema["required"] == ["items", "customer_name", "total_price"]
    assert {name: part["type"] for name, part in schema["properties"].items()} == {
        "items": "array",
        "customer_name": "string",
        "customer_phone": "string",
        "total_price": "number",
    }
