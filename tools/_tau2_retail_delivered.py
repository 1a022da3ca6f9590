"""The shop's tools for orders that have arrived: exchange and return. Money moves only later."""

from __future__ import annotations

from pydantic import Field

from pytest_voiceeval.tools import CheckedWriteTool, Params, ToolRefusal

from ._tau2 import Row
from ._tau2_retail_rows import (
    ITEM_IDS,
    ORDER_ID,
    ExchangeParams,
    check_balance,
    item_asked_too_often,
    order_row,
    owner_row,
    payment_method,
    price_difference,
)


class ReturnParams(Params):
    """Parameters of a return."""

    order_id: str = Field(description=ORDER_ID)
    item_ids: list[str] = Field(description=ITEM_IDS)
    payment_method_id: str = Field(
        description="Id of the payment method that gets the refund: the one that paid, or a gift card."
    )


class ExchangeDeliveredOrderItemsTool(CheckedWriteTool[ExchangeParams]):
    """Notes that items are to be exchanged."""

    description = (
        "Exchange items of a delivered order for other variants of the same products. It can be done once "
        "for an order, so give all items, after the customer has confirmed them."
    )
    PARAMS_MODEL = ExchangeParams

    def run(self, params: ExchangeParams) -> Row:
        order = order_row(self.db, params.order_id)
        if order["status"] != "delivered":
            raise ToolRefusal("value_error", "Non-delivered order cannot be exchanged")
        if (missing := item_asked_too_often(order, params.item_ids)) is not None:
            raise ToolRefusal("value_error", f"Number of {missing} not found.")
        if len(params.item_ids) != len(params.new_item_ids):
            raise ToolRefusal("value_error", "The number of items to be exchanged should match.")
        difference = price_difference(self.db, order, params, same_allowed=True)
        method = payment_method(owner_row(self.db, order), params.payment_method_id)
        check_balance(method, difference, "Insufficient gift card balance to pay for the price difference")
        order["status"] = "exchange requested"
        order["exchange_items"] = sorted(params.item_ids)
        order["exchange_new_items"] = sorted(params.new_item_ids)
        order["exchange_payment_method_id"] = params.payment_method_id
        order["exchange_price_difference"] = difference
        self.record_call(
            params,
            {"order_id": params.order_id, "status": order["status"], "price_difference": difference},
        )
        return order


class ReturnDeliveredOrderItemsTool(CheckedWriteTool[ReturnParams]):
    """Notes that items are to be returned."""

    description = (
        "Return items of a delivered order. It can be done once for an order, so give all items, after the "
        "customer has confirmed them."
    )
    PARAMS_MODEL = ReturnParams

    def run(self, params: ReturnParams) -> Row:
        order = order_row(self.db, params.order_id)
        if order["status"] != "delivered":
            raise ToolRefusal("value_error", "Non-delivered order cannot be returned")
        method = payment_method(owner_row(self.db, order), params.payment_method_id)
        paid_with = order["payment_history"][0]["payment_method_id"] if order["payment_history"] else None
        if method["source"] != "gift_card" and params.payment_method_id != paid_with:
            raise ToolRefusal("value_error", "Payment method should be the original payment method")
        if item_asked_too_often(order, params.item_ids) is not None:
            raise ToolRefusal("value_error", "Some item not found")
        order["status"] = "return requested"
        order["return_items"] = sorted(params.item_ids)
        order["return_payment_method_id"] = params.payment_method_id
        self.record_call(params, {"order_id": params.order_id, "status": order["status"]})
        return order
