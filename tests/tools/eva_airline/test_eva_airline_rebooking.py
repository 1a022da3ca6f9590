"""Journeys of eva's airline that are rebooked."""

from __future__ import annotations

from typing import Any

import pytest
from eva_calls import (
    EARLY,
    HOME,
    LATE,
    LONG_WAY,
    ONWARD,
    VIA,
    bookings,
    records,
    refused,
    seats,
    use,
)
from small_worlds import World


def test_a_rebooked_journey_keeps_bags_and_meal_and_loses_its_seat(world: World) -> None:
    result = use(world, "RebookFlightTool")
    old, _, new = bookings(world)
    assert old["status"] == "cancelled"
    assert new == {
        "journey_id": LATE,
        "fare_class": "main_cabin",
        "fare_paid": 200.0,
        "status": "confirmed",
        "segments": [
            {
                "flight_number": "SK300",
                "date": "2026-05-10",
                "fare_paid": 200.0,
                "seat": None,
                "bags_checked": 1,
                "meal_request": "vegan",
            }
        ],
    }
    assert world.db["reservations"]["ABC123"]["status"] == "changed"
    assert (seats(world, LATE), seats(world, HOME)) == ([1], [3])
    assert result["cost_summary"] == {
        "original_fare_class": "main_cabin",
        "new_fare_class": "main_cabin",
        "cabin_changed": False,
        "change_fee": 75,
        "fare_difference": 20.0,
        "credit_due": 0,
        "total_collected": 95.0,
        "fee_waived": False,
    }
    assert result["new_journey"] == {
        "journey_id": LATE,
        "num_stops": 0,
        "segments": world.db["journeys"][LATE]["segments"],
        "departure": "15:00",
        "arrival": "17:00",
        "origin": "SFO",
        "destination": "DEN",
    }
    assert result["message"] == f"Successfully rebooked to flight {LATE}"
    assert records(world) == [
        {
            "action_type": "rebook_flight",
            "confirmation_number": "ABC123",
            "old_journey_id": HOME,
            "new_journey_id": LATE,
            "rebooking_type": "voluntary",
            "original_fare_class": "main_cabin",
            "new_fare_class": "main_cabin",
            "change_fee": 75,
            "fare_difference": 20.0,
            "total_collected": 95.0,
            "partial_rebook": False,
        }
    ]


@pytest.mark.parametrize(
    ("change", "original", "fee", "collected", "credit"),
    [
        ({}, "main_cabin", 75, 95.0, 0),
        ({"new_journey_id": EARLY}, "main_cabin", 75, 75, 30.0),
        ({"waive_change_fee": "yes"}, "main_cabin", 0, 20.0, 0),
        ({"rebooking_type": "same_day"}, "main_cabin", 75, 95.0, 0),
        ({"rebooking_type": "same_day", "new_fare_class": "main_cabin"}, "basic_economy", 199, 219.0, 0),
        ({"rebooking_type": "same_day"}, "business", 75, 795.0, 0),
        ({"rebooking_type": "voluntary"}, "business", 0, 720.0, 0),
        ({"rebooking_type": "missed_flight_passenger_fault"}, "main_cabin", 75, 95.0, 0),
        ({"rebooking_type": "missed_connection_airline_fault"}, "main_cabin", 75, 95.0, 0),
        ({"rebooking_type": "irrops_delay", "new_fare_class": "business"}, "main_cabin", 0, 0, 0),
    ],
)
def test_what_a_rebooking_costs(
    world: World, change: dict[str, Any], original: str, fee: int, collected: float, credit: float
) -> None:
    bookings(world)[0]["fare_class"] = original
    costs = use(world, "RebookFlightTool", **change)["cost_summary"]
    assert (costs["change_fee"], costs["total_collected"], costs["credit_due"]) == (fee, collected, credit)
    assert costs["fee_waived"] == (fee == 0 and original != "business")


def test_another_class_is_said_in_the_message(world: World) -> None:
    result = use(world, "RebookFlightTool", new_fare_class="business")
    assert result["message"] == f"Successfully rebooked to flight {LATE} in business"
    assert result["cost_summary"]["cabin_changed"] is True
    assert (seats(world, LATE, "business"), seats(world, LATE)) == ([0], [2])


def test_an_irregular_rebooking_keeps_the_old_fares(world: World) -> None:
    use(world, "RebookFlightTool", journey_id=VIA, new_journey_id=LONG_WAY, rebooking_type="irrops_delay")
    new = bookings(world)[-1]
    assert new["fare_paid"] == 240.0
    assert [leg["fare_paid"] for leg in new["segments"]] == [120.0, 120.0]
    use(world, "RebookFlightTool", new_journey_id=LONG_WAY, rebooking_type="irrops_delay")
    new = bookings(world)[-1]
    assert [leg["fare_paid"] for leg in new["segments"]] == [180.0, 200.0]


def test_bags_and_meals_come_along_leg_by_leg_and_else_from_the_first(world: World) -> None:
    via = bookings(world)[1]
    via["segments"][1] |= {"bags_checked": None, "meal_request": None}
    use(world, "RebookFlightTool", journey_id=VIA, new_journey_id=LONG_WAY)
    assert [(leg["bags_checked"], leg["meal_request"]) for leg in bookings(world)[-1]["segments"]] == [
        (1, "vegan"),
        (0, None),
    ]
    use(world, "RebookFlightTool", new_journey_id=LONG_WAY)
    assert [leg["bags_checked"] for leg in bookings(world)[-1]["segments"]] == [1, 1]


def test_one_leg_is_rebooked_and_the_other_kept(world: World) -> None:
    change = {"journey_id": VIA, "new_journey_id": ONWARD, "flight_number": "SK102"}
    result = use(world, "RebookFlightTool", **change, rebooking_type="irrops_delay")
    _, old, new, kept = bookings(world)
    assert (old["journey_id"], old["status"]) == (VIA, "cancelled")
    assert (new["journey_id"], new["fare_paid"]) == (ONWARD, 120.0)
    assert new["segments"][0]["fare_paid"] == 120.0
    assert (kept["journey_id"], kept["status"], kept["fare_paid"]) == (VIA, "confirmed", 120.0)
    assert kept["segments"] == [old["segments"][0]]
    assert (seats(world, VIA), seats(world, ONWARD)) == ([3, 3], [1])
    assert result["partial_rebook"] is True
    replaced = {"flight_number": "SK102", "origin": None, "destination": None, "fare_paid": 120.0}
    assert result["replaced_segment"] == replaced
    assert result["kept_segments"] == [replaced | {"flight_number": "SK101", "seat": "22C"}]
    assert records(world)[0]["replaced_flight_number"] == "SK102"
    kept["segments"][0]["seat"] = "1A"
    assert old["segments"][0]["seat"] == "22C"


def test_a_second_rebooking_of_the_kept_leg_marks_the_booking_that_was_cancelled_before(world: World) -> None:
    use(world, "RebookFlightTool", journey_id=VIA, new_journey_id=ONWARD, flight_number="SK102")
    use(world, "RebookFlightTool", journey_id=VIA, new_journey_id=EARLY)
    assert [(b["journey_id"], b["status"]) for b in bookings(world)] == [
        (HOME, "confirmed"),
        (VIA, "cancelled"),
        (ONWARD, "confirmed"),
        (VIA, "confirmed"),
        (EARLY, "confirmed"),
    ]
    assert records(world)[1]["fare_difference"] == 150.0 - 120.0


def test_a_flight_number_of_the_only_leg_leaves_nothing_to_keep(world: World) -> None:
    result = use(world, "RebookFlightTool", flight_number="SK200")
    assert result["kept_segments"] == []
    assert [b["journey_id"] for b in bookings(world)] == [HOME, VIA, LATE]


@pytest.mark.parametrize(
    ("change", "refusal"),
    [
        (
            {"journey_id": LATE, "new_journey_id": "FL_SK1_20260101"},
            f"journey_not_found: Journey {LATE} not found in reservation",
        ),
        (
            {"new_journey_id": "FL_SK1_20260101", "flight_number": "SK9"},
            "flight_not_found: Flight FL_SK1_20260101 not found",
        ),
        (
            {"new_journey_id": "FL_SK330_20260510", "flight_number": "SK9"},
            "not_bookable: Flight FL_SK330_20260510 is not available for booking",
        ),
        (
            {"flight_number": "sk200", "new_fare_class": "first"},
            f"flight_not_found: Flight sk200 not found in journey {HOME}",
        ),
        (
            {"new_fare_class": "premium_economy"},
            f"fare_class_not_available: Fare class 'premium_economy' is not available on flight {LATE}",
        ),
        (
            {"new_fare_class": "basic_economy"},
            f"no_seats_available: No seats available in basic_economy on flight {LATE}",
        ),
    ],
)
def test_what_cannot_be_rebooked(world: World, change: dict[str, Any], refusal: str) -> None:
    assert refused(world, "RebookFlightTool", **change) == refusal


def test_a_cancelled_journey_can_be_rebooked_all_the_same(world: World) -> None:
    use(world, "CancelReservationTool")
    assert use(world, "RebookFlightTool")["status"] == "success"
