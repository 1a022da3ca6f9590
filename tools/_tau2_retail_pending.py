"""The shop's tools that change orders which are not on their way yet, and customers."""

from __future__ import annotations

from pydantic import Field

from pytest_voiceeval.tools import CheckedWriteTool, Params, ToolRefusal

from ._tau2 import Row
from ._tau2_retail_rows import (
    ADDRESS_FIELDS,
    ORDER_ID,
    AddressParams,
    ExchangeParams,
    OrderParams,
    UserParams,
    add_balance,
    check_balance,
    first_item,
    item_asked_too_often,
    new_variant,
    order_row,
    owner_row,
    payment_method,
    price_difference,
    user_row,
)

REASONS = ("no longer needed", "ordered by mistake")


class CancelParams(Params):
    """Parameters of a cancellation."""

    order_id: str = Field(description=ORDER_ID)
    reason: str = Field(description="Why it is cancelled.", json_schema_extra={"enum": list(REASONS)})


# Pydantic puts the fields of the last base first.
class OrderAddressParams(AddressParams, OrderParams):
    """Parameters of a change of an order's address."""


class UserAddressParams(AddressParams, UserParams):
    """Parameters of a change of a customer's address."""


class PaymentParams(Params):
    """Parameters of a change of payment."""

    order_id: str = Field(description=ORDER_ID)
    payment_method_id: str = Field(description="Id of the customer's payment method that is to pay.")


class CancelPendingOrderTool(CheckedWriteTool[CancelParams]):
    """Cancels an order; what was paid with a gift card is on it again at once."""

    description = (
        "Cancel an order that is pending. Use it once the customer has confirmed the order and the reason."
    )
    PARAMS_MODEL = CancelParams

    def run(self, params: CancelParams) -> Row:
        order = order_row(self.db, params.order_id)
        if order["status"] != "pending":
            raise ToolRefusal("value_error", "Non-pending order cannot be cancelled")
        if params.reason not in REASONS:
            raise ToolRefusal("value_error", "Invalid reason")
        methods = owner_row(self.db, order)["payment_methods"]
        for entry in list(order["payment_history"]):
            method_id, amount = entry["payment_method_id"], entry["amount"]
            order["payment_history"].append(transaction("refund", amount, method_id))
            add_balance(methods.get(method_id), amount)
        order["status"] = "cancelled"
        order["cancel_reason"] = params.reason
        self.record_call(params, {"order_id": params.order_id, "status": "cancelled"})
        return order


class ModifyPendingOrderAddressTool(CheckedWriteTool[OrderAddressParams]):
    """Changes where an order is sent."""

    description = "Change the address of an order that is pending."
    PARAMS_MODEL = OrderAddressParams

    def run(self, params: OrderAddressParams) -> Row:
        order = order_row(self.db, params.order_id)
        check_pending(order)
        order["address"] = address_of(params)
        self.record_call(params, {"order_id": params.order_id})
        return order


class ModifyPendingOrderItemsTool(CheckedWriteTool[ExchangeParams]):
    """Replaces items of an order by others of the same products."""

    description = (
        "Replace items of an order that is pending by other variants of the same products. It can be done "
        "once for an order, so give all replacements, after the customer has confirmed them."
    )
    PARAMS_MODEL = ExchangeParams

    def run(self, params: ExchangeParams) -> Row:
        order = order_row(self.db, params.order_id)
        if order["status"] != "pending":
            raise ToolRefusal("value_error", "Non-pending order cannot be modified")
        if (missing := item_asked_too_often(order, params.item_ids)) is not None:
            raise ToolRefusal("value_error", f"{missing} not found")
        if len(params.item_ids) != len(params.new_item_ids):
            raise ToolRefusal("value_error", "The number of items to be exchanged should match")
        difference = price_difference(self.db, order, params, same_allowed=False)
        method = payment_method(owner_row(self.db, order), params.payment_method_id)
        check_balance(method, difference, "Insufficient gift card balance to pay for the new item")
        kind = "payment" if difference > 0 else "refund"
        order["payment_history"].append(transaction(kind, abs(difference), params.payment_method_id))
        add_balance(method, -difference)
        for item_id, new_item_id in zip(params.item_ids, params.new_item_ids, strict=True):
            self._replace(order, item_id, new_item_id)
        order["status"] = "pending (item modified)"
        self.record_call(params, {"order_id": params.order_id, "price_difference": difference})
        return order

    def _replace(self, order: Row, item_id: str, new_item_id: str) -> None:
        """Replace the first item with the id; one that was replaced before counts by its new id."""
        item = first_item(order, item_id)
        if item is None:
            return
        variant = new_variant(self.db, item, new_item_id)
        item["item_id"] = new_item_id
        item["price"] = variant["price"]
        item["options"] = dict(variant["options"])


class ModifyPendingOrderPaymentTool(CheckedWriteTool[PaymentParams]):
    """Has an order paid with another method."""

    description = "Change the payment method of an order that is pending."
    PARAMS_MODEL = PaymentParams

    def run(self, params: PaymentParams) -> Row:
        order = order_row(self.db, params.order_id)
        check_pending(order)
        user = owner_row(self.db, order)
        method = payment_method(user, params.payment_method_id)
        history = order["payment_history"]
        if len(history) != 1 or history[0]["transaction_type"] != "payment":
            raise ToolRefusal("value_error", "There should be exactly one payment for a pending order")
        amount, old_id = history[0]["amount"], history[0]["payment_method_id"]
        if old_id == params.payment_method_id:
            raise ToolRefusal(
                "value_error", "The new payment method should be different from the current one"
            )
        check_balance(method, amount, "Insufficient gift card balance to pay for the order")
        history.append(transaction("payment", amount, params.payment_method_id))
        history.append(transaction("refund", amount, old_id))
        add_balance(method, -amount)
        add_balance(user["payment_methods"].get(old_id), amount)
        self.record_call(params, {"order_id": params.order_id})
        return order


class ModifyUserAddressTool(CheckedWriteTool[UserAddressParams]):
    """Changes where a customer lives; orders stay as they are."""

    description = "Change the address in a customer's profile. Orders keep theirs."
    PARAMS_MODEL = UserAddressParams

    def run(self, params: UserAddressParams) -> Row:
        user = user_row(self.db, params.user_id)
        user["address"] = address_of(params)
        self.record_call(params, {"user_id": params.user_id})
        return user


def check_pending(order: Row) -> None:
    """Refuse an order that is on its way; one with changed items still is pending."""
    if "pending" not in order["status"]:
        raise ToolRefusal("value_error", "Non-pending order cannot be modified")


def transaction(kind: str, amount: float, method_id: str) -> Row:
    """Return an entry of a payment history; ``kind`` is payment or refund, the amount never below 0."""
    return {"transaction_type": kind, "amount": amount, "payment_method_id": method_id}


def address_of(params: AddressParams) -> Row:
    """Return an address as it is stored."""
    return {field: getattr(params, field) for field in ADDRESS_FIELDS}
