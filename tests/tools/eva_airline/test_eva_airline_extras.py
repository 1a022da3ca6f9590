"""Seats, bags, meals and standby of eva's airline."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from eva_calls import (
    HOME,
    LATE,
    NUMBER,
    VIA,
    bookings,
    records,
    refused,
    use,
)
from small_worlds import World


@pytest.mark.parametrize(
    ("fare_class", "wish", "seat"),
    [
        ("main_cabin", "aisle", "21C"),
        ("main_cabin", "no_preference", "21C"),
        ("business", "window", "6A"),
        ("business", "middle", "6B"),
        ("premium_economy", "window", "11A"),
    ],
)
def test_a_seat_follows_from_class_and_wish(world: World, fare_class: str, wish: str, seat: str) -> None:
    bookings(world)[0]["fare_class"] = fare_class
    before = copy.deepcopy(world.db["journeys"])
    result = use(world, "AssignSeatTool", seat_preference=wish)
    assert result == {
        "status": "success",
        **NUMBER,
        "passenger_id": "PAX001",
        "journey_id": HOME,
        "flight_number": "SK200",
        "seat_assigned": seat,
        "fare_class": fare_class,
        "preference": wish,
        "message": f"Seat {seat} ({wish}) successfully assigned",
    }
    assert bookings(world)[0]["segments"][0]["seat"] == seat
    assert world.db["journeys"] == before
    assert records(world)[0]["seat_assigned"] == seat


def test_the_seat_of_a_flight_that_is_not_known_is_not_checked(world: World) -> None:
    del world.db["journeys"][HOME]
    assert use(world, "AssignSeatTool", seat_preference="window")["seat_assigned"] == "21A"


@pytest.mark.parametrize(
    ("change", "refusal"),
    [
        ({"journey_id": LATE}, f"journey_not_found: Journey {LATE} not found in reservation"),
        (
            {"journey_id": VIA},
            f"flight_number_required: Journey {VIA} has 2 segments; flight_number is required",
        ),
        (
            {"journey_id": VIA, "flight_number": "SK200"},
            f"flight_not_found: Flight SK200 not found in journey {VIA}",
        ),
        (
            {"seat_preference": "window"},
            "seat_type_unavailable: No window seats available in main_cabin on this flight. "
            "Available types: aisle",
        ),
    ],
)
def test_what_seat_cannot_be_had(world: World, change: dict[str, Any], refusal: str) -> None:
    assert refused(world, "AssignSeatTool", **change) == refusal


def test_a_class_without_seats_has_none(world: World) -> None:
    bookings(world)[0]["fare_class"] = "first"
    assert refused(world, "AssignSeatTool") == "no_seats_available: No seats available in first fare class"


def test_a_passenger_id_that_is_too_short_for_a_seat_changes_nothing(world: World) -> None:
    before = copy.deepcopy(world.state)
    result = use(world, "AssignSeatTool", passenger_id="PAX1")
    assert result == {"error": "invalid literal for int() with base 10: 'AX1'"}
    assert world.state == before


@pytest.mark.parametrize(
    ("tool", "field", "value"),
    [("AddBaggageAllowanceTool", "bags_checked", 2), ("AddMealRequestTool", "meal_request", "kosher")],
)
def test_bags_and_meals_are_set_on_all_legs_or_on_one(
    world: World, tool: str, field: str, value: Any
) -> None:
    before = bookings(world)[1]["segments"][0][field]
    use(world, tool, journey_id=VIA, flight_number="SK102")
    assert [leg[field] for leg in bookings(world)[1]["segments"]] == [before, value]
    use(world, tool, journey_id=VIA)
    assert [leg[field] for leg in bookings(world)[1]["segments"]] == [value, value]
    assert [record["flight_number"] for record in records(world)] == ["SK102", None]
    assert refused(world, tool, journey_id=VIA, flight_number="SK200") == (
        f"flight_not_found: Flight SK200 not found in journey {VIA}"
    )


def test_a_standby_entry_stands_in_both_lists(world: World) -> None:
    world.db["reservations"]["ABC123"]["passengers"].append({"passenger_id": "PAX002"})
    result = use(world, "AddToStandbyTool", passenger_ids=["PAX001", "PAX002"])
    assert result["standby_list_position"] == 2
    assert result["message"] == "Added 2 passenger(s) to standby list"
    use(world, "AddToStandbyTool")
    assert world.db["reservations"]["ABC123"]["standby_list"] == [
        {"journey_id": LATE, "passenger_ids": ["PAX001", "PAX002"], "position": 2, "status": "pending"},
        {"journey_id": LATE, "passenger_ids": ["PAX001"], "position": 3, "status": "pending"},
    ]
    assert world.db["journeys"][LATE]["standby_list"] == [
        {**NUMBER, "passenger_id": "PAX001", "position": 1},
        {**NUMBER, "passenger_id": "PAX002", "position": 2},
        {**NUMBER, "passenger_id": "PAX001", "position": 3},
    ]


def test_standby_needs_a_journey_that_flies_and_passengers_that_are_booked(world: World) -> None:
    assert refused(world, "AddToStandbyTool", journey_id="FL_SK1_20260101") == (
        "flight_not_found: Flight FL_SK1_20260101 not found"
    )
    assert refused(world, "AddToStandbyTool", journey_id="FL_SK320_20260510") == (
        "flight_cancelled: Cannot add to standby for cancelled flight"
    )
    assert refused(world, "AddToStandbyTool", passenger_ids=["PAX7", "PAX001", "PAX8"]) == (
        "invalid_passengers: Unknown passenger ID(s): PAX7, PAX8"
    )


def test_standby_of_a_reservation_that_is_not_there_stands_in_the_journey_alone(world: World) -> None:
    result = use(world, "AddToStandbyTool", confirmation_number="zzz999", passenger_ids=["PAX9"])
    assert result["confirmation_number"] == "ZZZ999"
    assert world.db["journeys"][LATE]["standby_list"] == [
        {"confirmation_number": "ZZZ999", "passenger_id": "PAX9", "position": 1}
    ]
    assert "standby_list" not in world.db["reservations"]["ABC123"]
