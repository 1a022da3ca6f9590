"""Calls of the tools of tau2's airline that go well on the small world, to be changed by tests."""

from __future__ import annotations

from typing import Any

from pytest_voiceeval.scenarios.packs import builtin_pack

builtin_pack().load_tools()

DOMAIN = "tau2_airline"
ADA = {"first_name": "Ada", "last_name": "Byron", "dob": "1980-12-10"}
BOOKING: dict[str, Any] = {
    "user_id": "ada_byron_1000",
    "origin": "SFO",
    "destination": "JFK",
    "flight_type": "one_way",
    "cabin": "economy",
    "flights": [
        {"flight_number": "HAT001", "date": "2024-05-20"},
        {"flight_number": "HAT002", "date": "2024-05-20"},
    ],
    "passengers": [ADA, {**ADA, "first_name": "Eve"}],
    "payment_methods": [{"payment_id": "credit_card_1", "amount": 400}],
    "total_baggages": 0,
    "nonfree_baggages": 0,
    "insurance": "no",
}
UPDATE: dict[str, Any] = {
    "reservation_id": "AAA111",
    "cabin": "economy",
    "flights": [{"flight_number": "HAT001", "date": "2024-05-20"}],
    "payment_id": "credit_card_1",
}
