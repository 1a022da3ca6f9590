"""What eva's tools look up: reservations, flights, disruptions, options to rebook."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from eva_calls import (
    EARLY,
    HOME,
    LATE,
    LONG_WAY,
    VIA,
    refused,
    use,
)
from eva_world import SEATS
from small_worlds import World


def test_a_reservation_is_shown_with_its_journeys_by_date(world: World) -> None:
    before = copy.deepcopy(world.db)
    result = use(world, "GetReservationTool", confirmation_number="abc123", last_name="BYRON")
    assert [b["journey_id"] for b in result["reservation"]["bookings"]] == [VIA, HOME]
    assert list(result["reservation"]) == list(before["reservations"]["ABC123"])
    assert use(world, "GetReservationTool", last_name="")["status"] == "success"
    assert world.db == before
    result["reservation"]["bookings"][0]["segments"][0]["seat"] = "1A"
    assert world.db == before


def test_a_wrong_last_name_shows_nothing(world: World) -> None:
    assert refused(world, "GetReservationTool", last_name="Lovelace") == (
        "authentication_failed: Last name does not match reservation ABC123"
    )


def test_a_flight_is_found_by_its_journey_or_as_one_leg_of_another(world: World) -> None:
    direct = use(world, "GetFlightStatusTool", flight_number="sk300")
    assert direct["journey"]["journey_id"] == LATE
    assert use(world, "GetFlightStatusTool", flight_number="SK102")["journey"]["journey_id"] == VIA
    assert refused(world, "GetFlightStatusTool", flight_number="sk102", flight_date="2026-05-11") == (
        "not_found: Flight sk102 not found for date 2026-05-11"
    )


def test_a_disruption_is_found_by_flight_and_day(world: World) -> None:
    found = use(world, "GetDisruptionInfoTool", flight_number="sk101")
    assert found["disruption"]["flight_number"] == "SK101"
    assert refused(world, "GetDisruptionInfoTool", flight_number="sk102") == (
        "not_found: No disruption info found for flight SK102"
    )


def found_options(world: World, **changes: Any) -> list[tuple[str, Any]]:
    result = use(world, "SearchRebookingOptionsTool", **changes)
    assert result["count"] == len(result["options"])
    assert result["message"] == f"{result['count']} flight(s) found"
    return [(option["journey_id"], option["fare"]) for option in result["options"]]


def test_options_are_those_that_can_be_booked_by_departure(world: World) -> None:
    assert found_options(world, origin="sfo", destination="den") == [
        (EARLY, 150.0),
        (VIA, 200.0),
        (LONG_WAY, 200.0),
        (LATE, 200.0),
    ]
    assert found_options(world, passenger_count=3) == []
    assert found_options(world, date="2026-05-11") == []


def test_an_option_has_the_seats_of_its_fullest_leg(world: World) -> None:
    world.db["journeys"][VIA]["segments"][1]["available_seats"] = {"main_cabin": 1}
    [option] = [
        option
        for option in use(world, "SearchRebookingOptionsTool")["options"]
        if option["journey_id"] == VIA
    ]
    assert option["available_seats"] == dict.fromkeys(SEATS, 0) | {"main_cabin": 1}
    assert (option["departure_time"], option["arrival_time"]) == ("08:00", "14:00")
    assert (VIA, 200.0) not in found_options(world, passenger_count=2)


def test_any_class_has_the_lowest_fare_that_can_be_had(world: World) -> None:
    fares = world.db["journeys"][EARLY]["fares"]
    assert (EARLY, 150.0) in found_options(world, fare_class="any")
    fares["main_cabin"] = None
    assert (EARLY, 900.0) in found_options(world, fare_class="any")
    fares["business"] = None
    assert (EARLY, None) in found_options(world, fare_class="any")
    world.db["journeys"][EARLY]["segments"][0]["available_seats"] = dict.fromkeys(SEATS, 0)
    assert EARLY not in dict(found_options(world, fare_class="any"))


@pytest.mark.parametrize("bookable", [False, None])
def test_what_is_not_said_to_be_bookable_is_not_offered_yet_can_be_taken(world: World, bookable: Any) -> None:
    del world.db["journeys"][LATE]["bookable"]
    assert LATE not in dict(found_options(world))
    assert use(world, "RebookFlightTool")["status"] == "success"
    world.db["journeys"][EARLY]["bookable"] = bookable
    assert refused(world, "RebookFlightTool", new_journey_id=EARLY) == (
        f"not_bookable: Flight {EARLY} is not available for booking"
    )
