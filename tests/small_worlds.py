"""Small worlds in the shape of the benchmarks' databases, made up for tests."""

from __future__ import annotations

import asyncio
import copy
from typing import Any

from hypothesis import strategies as st

from pytest_voiceeval.tools import get_schema_tool_for_eval

Row = dict[str, Any]

SEATS = {"basic_economy": 3, "economy": 2, "business": 1}
PRICES = {"basic_economy": 50, "economy": 100, "business": 300}


def flight(number: str, origin: str, destination: str, leaves: str, arrives: str, **days: str) -> Row:
    """Return a flight; ``days`` maps ``d20`` to its status on 2024-05-20."""
    dates = {
        f"2024-05-{day[1:]}": {"status": status}
        | (
            {"available_seats": dict(SEATS), "prices": dict(PRICES)}
            if status == "available"
            else {"actual_departure_time_est": "2024-05-01T10:00:00"}
        )
        for day, status in days.items()
    }
    return {
        "flight_number": number,
        "origin": origin,
        "destination": destination,
        "scheduled_departure_time_est": leaves,
        "scheduled_arrival_time_est": arrives,
        "dates": dates,
    }


def airline() -> Row:
    """Return an airline with four flights, two customers and one reservation."""
    flights = [
        flight(
            "HAT001", "SFO", "DEN", "10:00:00", "12:00:00", d10="landed", d20="available", d21="available"
        ),
        flight("HAT002", "DEN", "JFK", "12:00:00", "17:00:00", d20="available", d21="cancelled"),
        flight("HAT003", "SFO", "DEN", "22:00:00", "01:00:00+1", d20="available"),
        flight("HAT004", "DEN", "JFK", "02:00:00", "08:00:00", d20="available", d21="available"),
    ]
    users = [
        {
            "user_id": "ada_byron_1000",
            "payment_methods": {
                "credit_card_1": {"source": "credit_card", "id": "credit_card_1", "brand": "visa"},
                "gift_card_1": {"source": "gift_card", "id": "gift_card_1", "amount": 150.0},
                "certificate_1": {"source": "certificate", "id": "certificate_1", "amount": 100.0},
            },
            "reservations": ["AAA111"],
        },
        {"user_id": "bob_stone_2000", "payment_methods": {}, "reservations": []},
    ]
    reservation = {
        "reservation_id": "AAA111",
        "user_id": "ada_byron_1000",
        "origin": "SFO",
        "destination": "DEN",
        "flight_type": "one_way",
        "cabin": "economy",
        "flights": [
            {
                "origin": "SFO",
                "destination": "DEN",
                "flight_number": "HAT001",
                "date": "2024-05-20",
                "price": 80,
            }
        ],
        "passengers": [{"first_name": "Ada", "last_name": "Byron", "dob": "1980-12-10"}],
        "payment_history": [{"payment_id": "gift_card_1", "amount": 80}],
        "created_at": "2024-05-01T00:00:00",
        "total_baggages": 1,
        "nonfree_baggages": 0,
        "insurance": "no",
    }
    return {
        "flights": {row["flight_number"]: row for row in flights},
        "users": {row["user_id"]: row for row in users},
        "reservations": {"AAA111": reservation},
    }


def product(number: str, name: str, **prices: float) -> Row:
    """Return a product with variants ``prices``; one whose name ends in an underscore can't be had."""
    variants = {
        item_id: {
            "item_id": item_id,
            "options": {"size": item_id},
            "available": not item_id.endswith("_"),
            "price": price,
        }
        for item_id, price in prices.items()
    }
    return {"name": name, "product_id": number, "variants": variants}


def ordered(shop: list[Row], *item_ids: str) -> list[Row]:
    """Return items of an order."""
    return [
        {
            "name": row["name"],
            "product_id": row["product_id"],
            "item_id": item_id,
            "price": row["variants"][item_id]["price"],
            "options": dict(row["variants"][item_id]["options"]),
        }
        for item_id in item_ids
        for row in shop
        if item_id in row["variants"]
    ]


def retail() -> Row:
    """Return a shop with two products, two customers and three orders."""
    shop = [
        product("P1", "Mug", m1=10.1, m2=12.35, m3=7.0, m4_=9.0),
        product("P2", "Lamp", l1=100.0, l2=80.05),
    ]
    address = {
        "address1": "1 Elm St",
        "address2": "",
        "city": "Reno",
        "country": "USA",
        "state": "NV",
        "zip": "89501",
    }
    users = [
        {
            "user_id": "ada_byron_1000",
            "name": {"first_name": "Ada", "last_name": "Byron"},
            "address": dict(address),
            "email": "Ada@Example.com",
            "payment_methods": {
                "credit_card_1": {"source": "credit_card", "id": "credit_card_1"},
                "paypal_1": {"source": "paypal", "id": "paypal_1"},
                "gift_card_1": {"source": "gift_card", "id": "gift_card_1", "balance": 20.0},
            },
            "orders": ["#W1", "#W2", "#W3"],
        },
        {
            "user_id": "bob_stone_2000",
            "name": {"first_name": "Bob", "last_name": "Stone"},
            "address": dict(address),
            "email": "bob@example.com",
            "payment_methods": {},
            "orders": [],
        },
    ]

    def order(number: str, status: str, method: str, amount: float, *item_ids: str) -> Row:
        payment = {"transaction_type": "payment", "amount": amount, "payment_method_id": method}
        return {
            "order_id": number,
            "user_id": "ada_byron_1000",
            "address": dict(address),
            "items": ordered(shop, *item_ids),
            "status": status,
            "fulfillments": [],
            "payment_history": [payment],
        }

    orders = [
        order("#W1", "pending", "gift_card_1", 120.2, "m1", "m1", "l1"),
        order("#W2", "delivered", "credit_card_1", 22.45, "m1", "m2"),
        order("#W3", "processed", "paypal_1", 100.0, "l1"),
    ]
    return {
        "products": {row["product_id"]: row for row in shop},
        "users": {row["user_id"]: row for row in users},
        "orders": {row["order_id"]: row for row in orders},
    }


class World:
    """A database with tools on it."""

    def __init__(self, domain: str, db: Row) -> None:
        self.domain = domain
        self.state: Row = {"db": copy.deepcopy(db)}
        self.seed = db

    @property
    def db(self) -> Row:
        db: Row = self.state["db"]
        return db

    @property
    def recorded(self) -> list[Row]:
        """Result of each record."""
        return [record["result"] for record in self.state.get("actions", [])]

    def use(self, tool: str, /, **arguments: Any) -> Any:
        return get_schema_tool_for_eval(tool, self.domain, shared_state=self.state).invoke(**arguments)

    def refused(self, tool: str, /, **arguments: Any) -> str:
        """Return ``type: message`` of a call that must be refused, and change nothing."""
        before = copy.deepcopy(self.state)
        result = self.use(tool, **arguments)
        assert result["status"] == "error", result
        assert self.state == before
        return f"{result['error_type']}: {result['message']}"


def assert_invoke_equals_execute(domain: str, seed: Row, calls: list[tuple[str, Row]]) -> Row:
    """Do the same calls in both ways on a world each, compare all, and return the world."""
    one, other = World(domain, seed), World(domain, seed)
    for tool, arguments in calls:
        invoked = one.use(tool, **arguments)
        executing = get_schema_tool_for_eval(tool, domain, shared_state=other.state)
        assert asyncio.run(executing._execute(**arguments)) == invoked
        assert one.state == other.state
        assert invoked
    return one.db


def same_shape(value: Any, like: Any) -> bool:
    """Return whether ``value`` has the types of ``like``, down to the members that both have."""
    if isinstance(like, dict):
        return isinstance(value, dict) and all(
            same_shape(value[key], like[key]) for key in like if key in value
        )
    if isinstance(like, list):
        return isinstance(value, list) and (not like or all(same_shape(part, like[0]) for part in value))
    if isinstance(like, bool | str) or like is None:
        return isinstance(value, type(like))
    return isinstance(value, int | float) and not isinstance(value, bool)


ODD = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.sampled_from([10**400, -(10**400), 1.5, float("nan"), float("inf"), "1e2", "#", "", "\ud800"]),
    st.text(max_size=5),
    st.lists(st.integers(), max_size=2),
    st.dictionaries(st.text(max_size=3), st.text(max_size=3), max_size=2),
)
"""Values that hardly fit anywhere."""


def mostly(*fitting: Any) -> st.SearchStrategy[Any]:
    """Return a strategy for values of which most fit."""
    drawn = st.one_of(
        [value if isinstance(value, st.SearchStrategy) else st.just(value) for value in fitting]
    )
    return st.one_of(drawn, drawn, drawn, drawn, drawn, drawn, drawn, ODD)


def call(tool: str, **parameters: st.SearchStrategy[Any]) -> st.SearchStrategy[tuple[str, Row]]:
    """Return a strategy for calls: most with all arguments, some with fewer or more."""
    full = st.fixed_dictionaries(parameters)
    partial = st.fixed_dictionaries({}, optional=parameters)
    extra = st.builds(
        lambda some, more: some | more, full, st.dictionaries(st.text(max_size=4), ODD, max_size=1)
    )
    return st.tuples(st.just(tool), st.one_of(full, full, full, full, full, partial, extra))
