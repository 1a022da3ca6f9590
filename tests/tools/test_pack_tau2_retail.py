"""The tools of tau2's shop."""

from __future__ import annotations

import json
from typing import Any

import pytest
from retail_calls import ADDRESS, DOMAIN
from small_worlds import World, retail

from pytest_voiceeval.tools import get_schema_tool_for_eval, list_schema_tools_for_eval


@pytest.fixture
def world() -> World:
    return World(DOMAIN, retail())


def balance(world: World) -> float:
    amount: float = world.db["users"]["ada_byron_1000"]["payment_methods"]["gift_card_1"]["balance"]
    return amount


def swap(order_id: str, *pairs: tuple[str, str], method: str = "credit_card_1") -> dict[str, Any]:
    return {
        "order_id": order_id,
        "item_ids": [old for old, _ in pairs],
        "new_item_ids": [new for _, new in pairs],
        "payment_method_id": method,
    }


def test_sixteen_tools_in_order() -> None:
    assert list_schema_tools_for_eval(DOMAIN) == [
        "FindUserIdByNameZipTool",
        "FindUserIdByEmailTool",
        "GetOrderDetailsTool",
        "GetProductDetailsTool",
        "GetItemDetailsTool",
        "GetUserDetailsTool",
        "ListAllProductTypesTool",
        "CancelPendingOrderTool",
        "ExchangeDeliveredOrderItemsTool",
        "ModifyPendingOrderAddressTool",
        "ModifyPendingOrderItemsTool",
        "ModifyPendingOrderPaymentTool",
        "ModifyUserAddressTool",
        "ReturnDeliveredOrderItemsTool",
        "CalculateTool",
        "TransferToHumanAgentsTool",
    ]


def test_the_model_is_told_two_reasons_but_any_text_is_taken(world: World) -> None:
    schema = get_schema_tool_for_eval("CancelPendingOrderTool", DOMAIN).schema()
    assert schema["properties"]["reason"]["enum"] == ["no longer needed", "ordered by mistake"]
    refusal = world.refused("CancelPendingOrderTool", order_id="#W1", reason="bored")
    assert refusal == "value_error: Invalid reason"


def test_a_customer_is_found_by_name_and_zip_or_by_email(world: World) -> None:
    found = {"status": "success", "user_id": "ada_byron_1000"}
    by_name = {"first_name": "ADA", "last_name": "byron"}
    assert world.use("FindUserIdByNameZipTool", **by_name, zip="89501") == found
    assert world.use("FindUserIdByEmailTool", email="ada@example.COM") == found
    assert world.refused("FindUserIdByNameZipTool", **by_name, zip="1") == "not_found: User not found"
    assert world.refused("FindUserIdByEmailTool", email="x") == "not_found: User not found"


@pytest.mark.parametrize("order_id", ["#W1", "w1", "W1", "#w1"])
def test_an_order_is_found_by_its_number_as_it_is_spoken(world: World, order_id: str) -> None:
    assert world.use("GetOrderDetailsTool", order_id=order_id)["order_id"] == "#W1"


@pytest.mark.parametrize(
    ("tool", "parameter", "noun"),
    [
        ("GetOrderDetailsTool", "order_id", "Order"),
        ("GetProductDetailsTool", "product_id", "Product"),
        ("GetItemDetailsTool", "item_id", "Item"),
        ("GetUserDetailsTool", "user_id", "User"),
    ],
)
@pytest.mark.parametrize("number", ["", "p1 "])
def test_what_is_not_there_is_told_as_it_was_typed(
    world: World, tool: str, parameter: str, noun: str, number: str
) -> None:
    assert world.refused(tool, **{parameter: number}) == f"not_found: {noun} {number} not found"


def test_products_and_items_are_looked_up(world: World) -> None:
    assert world.use("GetProductDetailsTool", product_id="P1")["name"] == "Mug"
    assert world.use("GetItemDetailsTool", item_id="l2")["price"] == 80.05
    assert world.use("GetUserDetailsTool", user_id="ADA_byron_1000")["email"] == "Ada@Example.com"
    types = world.use("ListAllProductTypesTool")["product_types"]
    assert (types, list(json.loads(types))) == ('{"Lamp": "P2", "Mug": "P1"}', ["Lamp", "Mug"])


def test_a_cancelled_order_is_refunded_and_gift_cards_at_once(world: World) -> None:
    order = world.use("CancelPendingOrderTool", order_id="w1", reason="no longer needed")
    assert (order["status"], order["cancel_reason"]) == ("cancelled", "no longer needed")
    assert order["payment_history"][1] == {
        "transaction_type": "refund",
        "amount": 120.2,
        "payment_method_id": "gift_card_1",
    }
    assert balance(world) == 140.2
    assert world.recorded == [{"order_id": "w1", "status": "cancelled"}]
    refusal = world.refused("CancelPendingOrderTool", order_id="#W1", reason="no longer needed")
    assert refusal == "value_error: Non-pending order cannot be cancelled"


def test_a_payment_method_that_is_gone_is_no_obstacle_to_a_cancellation(world: World) -> None:
    world.db["users"]["ada_byron_1000"]["payment_methods"].clear()
    order = world.use("CancelPendingOrderTool", order_id="#W1", reason="ordered by mistake")
    assert len(order["payment_history"]) == 2


def test_an_order_whose_owner_is_gone_is_refused(world: World) -> None:
    del world.db["users"]["ada_byron_1000"]
    gone = "not_found: User not found"
    assert world.refused("CancelPendingOrderTool", order_id="#W1", reason="no longer needed") == gone
    assert world.refused("ModifyPendingOrderItemsTool", **swap("#W1", ("m1", "m2"))) == gone
    assert world.refused("ExchangeDeliveredOrderItemsTool", **swap("#W2", ("m1", "m2"))) == gone
    paid = {"order_id": "#W1", "payment_method_id": "paypal_1"}
    assert world.refused("ModifyPendingOrderPaymentTool", **paid) == gone
    returned = {"order_id": "#W2", "item_ids": [], "payment_method_id": "paypal_1"}
    assert world.refused("ReturnDeliveredOrderItemsTool", **returned) == gone


def test_addresses_of_orders_and_of_customers_are_two_things(world: World) -> None:
    order = world.use("ModifyPendingOrderAddressTool", order_id="#W1", **ADDRESS)
    assert order["address"] == ADDRESS
    assert world.db["users"] == world.seed["users"]
    assert world.use("ModifyUserAddressTool", user_id="ADA_BYRON_1000", **ADDRESS)["address"] == ADDRESS
    assert world.db["orders"]["#W2"] == world.seed["orders"]["#W2"]
    assert world.recorded == [{"order_id": "#W1"}, {"user_id": "ADA_BYRON_1000"}]
    assert list(world.state["actions"][0]["arguments"]) == ["order_id", *ADDRESS]
    refusal = world.refused("ModifyPendingOrderAddressTool", order_id="#W3", **ADDRESS)
    assert refusal == "value_error: Non-pending order cannot be modified"


def test_each_item_gets_its_own_variant_and_the_difference_is_rounded(world: World) -> None:
    arguments = swap("#W1", ("m1", "m2"), ("l1", "l2"), method="gift_card_1")
    order = world.use("ModifyPendingOrderItemsTool", **arguments)
    assert [(item["item_id"], item["price"], item["options"]["size"]) for item in order["items"]] == [
        ("m2", 12.35, "m2"),
        ("m1", 10.1, "m1"),
        ("l2", 80.05, "l2"),
    ]
    assert order["status"] == "pending (item modified)"
    assert order["payment_history"][-1] == {
        "transaction_type": "refund",
        "amount": 17.7,
        "payment_method_id": "gift_card_1",
    }
    assert balance(world) == 37.7
    assert world.recorded == [{"order_id": "#W1", "price_difference": -17.7}]


def test_an_item_that_was_replaced_counts_by_its_new_id(world: World) -> None:
    world.db["orders"]["#W1"]["items"][1] = {**world.db["orders"]["#W1"]["items"][1], "item_id": "m2"}
    order = world.use("ModifyPendingOrderItemsTool", **swap("#W1", ("m1", "m2"), ("m2", "m3")))
    assert [item["item_id"] for item in order["items"]] == ["m3", "m2", "l1"]


@pytest.mark.parametrize(
    ("pairs", "method", "refusal"),
    [
        ([("m3", "m1")], "paypal_1", "value_error: m3 not found"),
        ([("m1", "m2"), ("m1", "m2"), ("m1", "m2")], "paypal_1", "value_error: m1 not found"),
        (
            [("m1", "m1")],
            "paypal_1",
            "value_error: The new item id should be different from the old item id",
        ),
        ([("m1", "l1")], "paypal_1", "value_error: New item l1 not found or available"),
        ([("m1", "m4_")], "paypal_1", "value_error: New item m4_ not found or available"),
        ([("m1", "m2")], "cash", "not_found: Payment method not found"),
    ],
)
def test_replacements_that_cannot_be_had_are_refused(
    world: World, pairs: list[tuple[str, str]], method: str, refusal: str
) -> None:
    assert world.refused("ModifyPendingOrderItemsTool", **swap("#W1", *pairs, method=method)) == refusal


def test_numbers_of_items_must_match_and_gift_cards_must_suffice(world: World) -> None:
    uneven = {**swap("#W1", ("m1", "m2")), "new_item_ids": []}
    text = "value_error: The number of items to be exchanged should match"
    assert world.refused("ModifyPendingOrderItemsTool", **uneven) == text
    assert world.refused("ExchangeDeliveredOrderItemsTool", **{**uneven, "order_id": "#W2"}) == f"{text}."
    world.db["users"]["ada_byron_1000"]["payment_methods"]["gift_card_1"]["balance"] = 2.0
    poor = "value_error: Insufficient gift card balance to pay for the "
    for tool, order_id, what in (
        ("ModifyPendingOrderItemsTool", "#W1", "new item"),
        ("ExchangeDeliveredOrderItemsTool", "#W2", "price difference"),
    ):
        arguments = swap(order_id, ("m1", "m2"), method="gift_card_1")
        assert world.refused(tool, **arguments) == poor + what


def test_items_can_be_changed_once(world: World) -> None:
    free = world.use("ModifyPendingOrderItemsTool", **swap("#W1"))
    assert free["payment_history"][-1]["amount"] == 0.0
    refusal = world.refused("ModifyPendingOrderItemsTool", **swap("#W1"))
    assert refusal == "value_error: Non-pending order cannot be modified"
    world.use("ModifyPendingOrderAddressTool", order_id="#W1", **ADDRESS)
    cancel = world.refused("CancelPendingOrderTool", order_id="#W1", reason="no longer needed")
    assert cancel == "value_error: Non-pending order cannot be cancelled"
    pay = world.refused("ModifyPendingOrderPaymentTool", order_id="#W1", payment_method_id="paypal_1")
    assert pay == "value_error: There should be exactly one payment for a pending order"


def test_a_new_payment_method_pays_and_the_old_one_gets_it_back(world: World) -> None:
    order = world.use("ModifyPendingOrderPaymentTool", order_id="#W1", payment_method_id="paypal_1")
    assert [tuple(entry.values()) for entry in order["payment_history"][1:]] == [
        ("payment", 120.2, "paypal_1"),
        ("refund", 120.2, "gift_card_1"),
    ]
    assert balance(world) == 140.2
    assert order["status"] == "pending"


@pytest.mark.parametrize(
    ("method", "refusal"),
    [
        ("cash", "not_found: Payment method not found"),
        ("paypal_1", "value_error: The new payment method should be different from the current one"),
        ("gift_card_1", "value_error: Insufficient gift card balance to pay for the order"),
    ],
)
def test_a_payment_method_that_cannot_pay_is_refused(world: World, method: str, refusal: str) -> None:
    world.db["orders"]["#W1"]["payment_history"][0]["payment_method_id"] = "paypal_1"
    arguments = {"order_id": "#W1", "payment_method_id": method}
    assert world.refused("ModifyPendingOrderPaymentTool", **arguments) == refusal
    late = world.refused("ModifyPendingOrderPaymentTool", **{**arguments, "order_id": "#W3"})
    assert late == "value_error: Non-pending order cannot be modified"


def test_an_exchange_is_noted_and_moves_nothing(world: World) -> None:
    arguments = swap("#W2", ("m2", "m1"), ("m1", "m1"), method="gift_card_1")
    order = world.use("ExchangeDeliveredOrderItemsTool", **arguments)
    assert order == {
        **world.seed["orders"]["#W2"],
        "status": "exchange requested",
        "exchange_items": ["m1", "m2"],
        "exchange_new_items": ["m1", "m1"],
        "exchange_payment_method_id": "gift_card_1",
        "exchange_price_difference": -2.25,
    }
    assert balance(world) == 20.0
    assert world.recorded == [{"order_id": "#W2", "status": "exchange requested", "price_difference": -2.25}]


def test_what_cannot_be_exchanged_is_told(world: World) -> None:
    pending = world.refused("ExchangeDeliveredOrderItemsTool", **swap("#W1", ("m1", "m2")))
    assert pending == "value_error: Non-delivered order cannot be exchanged"
    missing = world.refused("ExchangeDeliveredOrderItemsTool", **swap("#W2", ("m3", "m2")))
    assert missing == "value_error: Number of m3 not found."


def test_a_return_is_noted_and_moves_nothing(world: World) -> None:
    arguments = {"order_id": "w2", "item_ids": ["m2", "m1"], "payment_method_id": "gift_card_1"}
    order = world.use("ReturnDeliveredOrderItemsTool", **arguments)
    assert order == {
        **world.seed["orders"]["#W2"],
        "status": "return requested",
        "return_items": ["m1", "m2"],
        "return_payment_method_id": "gift_card_1",
    }
    assert world.recorded == [{"order_id": "w2", "status": "return requested"}]


@pytest.mark.parametrize(
    ("change", "refusal"),
    [
        ({"order_id": "#W1"}, "value_error: Non-delivered order cannot be returned"),
        ({"payment_method_id": "cash"}, "not_found: Payment method not found"),
        (
            {"payment_method_id": "paypal_1"},
            "value_error: Payment method should be the original payment method",
        ),
        ({"item_ids": ["m1", "m1"]}, "value_error: Some item not found"),
    ],
)
def test_what_cannot_be_returned_is_told(world: World, change: dict[str, Any], refusal: str) -> None:
    arguments = {"order_id": "#W2", "item_ids": ["m1"], "payment_method_id": "credit_card_1"}
    assert world.refused("ReturnDeliveredOrderItemsTool", **{**arguments, **change}) == refusal


def test_an_order_that_was_never_paid_has_no_original_method(world: World) -> None:
    world.db["orders"]["#W2"]["payment_history"].clear()
    arguments = {"order_id": "#W2", "item_ids": ["m1"], "payment_method_id": "credit_card_1"}
    refusal = world.refused("ReturnDeliveredOrderItemsTool", **arguments)
    assert refusal == "value_error: Payment method should be the original payment method"
