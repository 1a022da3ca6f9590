"""The shop's database: parameters that several tools have, looking rows up, and exchanges of items."""

from __future__ import annotations

from collections import Counter

from pydantic import Field

from pytest_voiceeval.tools import Params, ToolRefusal

from ._tau2 import Row

ORDER_ID = "Number of the order, such as '#W1234567'."
USER_ID = "Id of the customer, such as 'jane_doe_1234'."
ITEM_IDS = "Ids of the items, one for each piece; an id twice stands for two pieces."
NEW_ITEM_IDS = "Ids of the items wanted in their place, in the same order; each of the same product."


class OrderParams(Params):
    """Parameters of tools about an order."""

    order_id: str = Field(description=ORDER_ID)


class UserParams(Params):
    """Parameters of tools about a customer."""

    user_id: str = Field(description=USER_ID)


class ExchangeParams(Params):
    """Parameters of tools that replace items of an order."""

    order_id: str = Field(description=ORDER_ID)
    item_ids: list[str] = Field(description=ITEM_IDS)
    new_item_ids: list[str] = Field(description=NEW_ITEM_IDS)
    payment_method_id: str = Field(
        description="Id of the payment method that pays the difference in price, or gets it back."
    )


class AddressParams(Params):
    """Parameters of tools that change an address."""

    address1: str = Field(description="Street and number.")
    address2: str = Field(description="Flat, suite and the like; empty if there is none.")
    city: str = Field(description="City.")
    state: str = Field(description="State, such as 'NY'.")
    country: str = Field(description="Country, such as 'USA'.")
    zip: str = Field(description="Zip code, such as '10001'.")


ADDRESS_FIELDS = tuple(AddressParams.model_fields)


def cents(value: float) -> float:
    """Return an amount of dollars rounded to cents."""
    return round(float(value), 2)


def order_row(db: Row, order_id: str) -> Row:
    """Return an order; its number may be in any case, and lack the sign in front."""
    number = order_id.upper()
    if number and not number.startswith("#"):
        number = f"#{number}"
    row: Row | None = db["orders"].get(number)
    if row is None:
        raise ToolRefusal("not_found", f"Order {order_id} not found")
    return row


def user_row(db: Row, user_id: str) -> Row:
    """Return a customer; the id may be in any case."""
    row: Row | None = db["users"].get(user_id.lower())
    if row is None:
        raise ToolRefusal("not_found", f"User {user_id} not found")
    return row


def owner_row(db: Row, order: Row) -> Row:
    """Return the customer whose order it is."""
    row: Row | None = db["users"].get(order["user_id"].lower())
    if row is None:
        raise ToolRefusal("not_found", "User not found")
    return row


def payment_method(user: Row, method_id: str) -> Row:
    """Return a customer's payment method."""
    method: Row | None = user["payment_methods"].get(method_id)
    if method is None:
        raise ToolRefusal("not_found", "Payment method not found")
    return method


def add_balance(method: Row | None, amount: float) -> None:
    """Add to the balance of a gift card; other methods have none."""
    if method is not None and method["source"] == "gift_card":
        method["balance"] = cents(method["balance"] + amount)


def check_balance(method: Row, amount: float, refusal: str) -> None:
    """Refuse a gift card that holds less than ``amount``, in the words of ``refusal``."""
    if method["source"] == "gift_card" and method["balance"] < amount:
        raise ToolRefusal("value_error", refusal)


def item_asked_too_often(order: Row, item_ids: list[str]) -> str | None:
    """Return the first id that is asked for more often than the order has it, ``None`` if none is."""
    held = Counter(item["item_id"] for item in order["items"])
    asked = Counter(item_ids)
    return next((item_id for item_id in item_ids if asked[item_id] > held[item_id]), None)


def first_item(order: Row, item_id: str) -> Row | None:
    """Return the first item of an order that has the id."""
    return next((item for item in order["items"] if item["item_id"] == item_id), None)


def new_variant(db: Row, item: Row, new_item_id: str) -> Row:
    """Return what is to come in place of ``item``: an available variant of the same product."""
    product = db["products"].get(item["product_id"], {"variants": {}})
    variant: Row | None = product["variants"].get(new_item_id)
    if variant is None or not variant["available"]:
        raise ToolRefusal("value_error", f"New item {new_item_id} not found or available")
    return variant


def price_difference(db: Row, order: Row, params: ExchangeParams, *, same_allowed: bool) -> float:
    """Return what the new items cost more than the old ones in dollars; refuse what cannot be had."""
    difference = 0.0
    for item_id, new_item_id in zip(params.item_ids, params.new_item_ids, strict=True):
        if item_id == new_item_id and not same_allowed:
            raise ToolRefusal("value_error", "The new item id should be different from the old item id")
        item = first_item(order, item_id)
        if item is None:
            raise ToolRefusal("value_error", f"{item_id} not found")
        difference += new_variant(db, item, new_item_id)["price"] - item["price"]
    return cents(difference)
