"""Calls of eva's tools that go well on the small world, to be changed by tests."""

from __future__ import annotations

from typing import Any

from small_worlds import World

from pytest_voiceeval.scenarios.packs import builtin_pack

builtin_pack().load_tools()

DOMAIN = "eva_airline"
HOME, VIA = "FL_SK200_20260512", "FL_SK101_SK102_20260510"
LATE, EARLY, ONWARD = "FL_SK300_20260510", "FL_SK310_20260510", "FL_SK340_20260510"
LONG_WAY = "FL_SK350_SK351_20260510"
NUMBER = {"confirmation_number": "ABC123"}
REBOOK = {
    **NUMBER,
    "journey_id": HOME,
    "new_journey_id": LATE,
    "rebooking_type": "voluntary",
    "waive_change_fee": False,
}
SEAT = {**NUMBER, "passenger_id": "PAX001", "journey_id": HOME, "seat_preference": "aisle"}
ARGUMENTS: dict[str, dict[str, Any]] = {
    "GetReservationTool": {**NUMBER, "last_name": "Byron"},
    "GetFlightStatusTool": {"flight_number": "SK101", "flight_date": "2026-05-10"},
    "GetDisruptionInfoTool": {"flight_number": "SK101", "date": "2026-05-10"},
    "SearchRebookingOptionsTool": {
        "origin": "SFO",
        "destination": "DEN",
        "date": "2026-05-10",
        "passenger_count": 1,
        "fare_class": "main_cabin",
    },
    "RebookFlightTool": REBOOK,
    "CancelReservationTool": {**NUMBER, "journey_id": HOME, "cancellation_reason": "voluntary"},
    "ProcessRefundTool": {**NUMBER, "refund_amount": 10, "refund_type": "full_fare"},
    "AssignSeatTool": SEAT,
    "AddBaggageAllowanceTool": {**NUMBER, "journey_id": HOME, "num_bags": 2},
    "AddMealRequestTool": {**NUMBER, "passenger_id": "PAX001", "journey_id": HOME, "meal_type": "kosher"},
    "AddToStandbyTool": {**NUMBER, "journey_id": LATE, "passenger_ids": ["PAX001"]},
    "IssueTravelCreditTool": {
        **NUMBER,
        "passenger_id": "PAX001",
        "amount": 80,
        "credit_reason": "goodwill",
    },
    "IssueHotelVoucherTool": {**NUMBER, "passenger_id": "PAX001", "num_nights": 2},
    "IssueMealVoucherTool": {
        **NUMBER,
        "passenger_id": "PAX001",
        "voucher_reason": "irrops_overnight",
    },
    "TransferToAgentTool": {**NUMBER, "transfer_reason": "asked for", "issue_summary": "wants a person"},
}
READS = list(ARGUMENTS)[:4]
BY_RESERVATION = [name for name in ARGUMENTS if name not in (*READS[1:], "AddToStandbyTool")]


def use(world: World, tool: str, **changes: Any) -> Any:
    return world.use(tool, **ARGUMENTS[tool] | changes)


def refused(world: World, tool: str, **changes: Any) -> str:
    return world.refused(tool, **ARGUMENTS[tool] | changes)


def bookings(world: World) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = world.db["reservations"]["ABC123"]["bookings"]
    return found


def seats(world: World, journey_id: str, fare_class: str = "main_cabin") -> list[int]:
    return [leg["available_seats"][fare_class] for leg in world.db["journeys"][journey_id]["segments"]]


def records(world: World) -> list[dict[str, Any]]:
    return list(world.state.get("actions", []))
