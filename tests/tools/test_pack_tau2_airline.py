"""What tau2's airline looks up, books and cancels."""

from __future__ import annotations

from typing import Any

import pytest
from airline_calls import BOOKING, DOMAIN
from small_worlds import World, airline

from pytest_voiceeval.tools import get_schema_tool_for_eval, list_schema_tools_for_eval


@pytest.fixture
def world() -> World:
    return World(DOMAIN, airline())


def test_fourteen_tools_in_order() -> None:
    assert list_schema_tools_for_eval(DOMAIN) == [
        "GetUserDetailsTool",
        "GetReservationDetailsTool",
        "ListAllAirportsTool",
        "SearchDirectFlightTool",
        "SearchOnestopFlightTool",
        "GetFlightStatusTool",
        "BookReservationTool",
        "CancelReservationTool",
        "SendCertificateTool",
        "UpdateReservationBaggagesTool",
        "UpdateReservationFlightsTool",
        "UpdateReservationPassengersTool",
        "CalculateTool",
        "TransferToHumanAgentsTool",
    ]


def test_the_model_is_told_what_may_be_chosen_and_that_all_is_required() -> None:
    schema = get_schema_tool_for_eval("BookReservationTool", DOMAIN).schema()
    assert schema["required"] == list(BOOKING) == list(schema["properties"])
    assert schema["properties"]["cabin"]["enum"] == ["business", "economy", "basic_economy"]
    assert schema["properties"]["insurance"]["enum"] == ["yes", "no"]
    payment = schema["properties"]["payment_methods"]["items"]
    assert payment["required"] == ["payment_id", "amount"]
    assert payment["properties"]["amount"]["type"] == "integer"


def test_rows_are_found_by_ids_in_any_case(world: World) -> None:
    assert world.use("GetUserDetailsTool", user_id="ADA_Byron_1000") == world.db["users"]["ada_byron_1000"]
    assert world.use("GetReservationDetailsTool", reservation_id="aaa111")["cabin"] == "economy"
    status = world.use("GetFlightStatusTool", flight_number="hat001", date="2024-05-10")
    assert status == {"status": "success", "flight_status": "landed"}


def test_what_is_not_there_is_told_as_it_was_typed(world: World) -> None:
    assert world.refused("GetUserDetailsTool", user_id="Zoe") == "not_found: User Zoe not found"
    assert (
        world.refused("GetReservationDetailsTool", reservation_id="zz")
        == "not_found: Reservation zz not found"
    )
    for number, date in (("hat001", "2024-06-01"), ("X", "2024-05-20")):
        refusal = world.refused("GetFlightStatusTool", flight_number=number, date=date)
        assert refusal == f"not_found: Flight {number} not found on date {date}"


def test_direct_flights_are_those_that_can_be_booked(world: World) -> None:
    found = world.use("SearchDirectFlightTool", origin="SFO", destination="DEN", date="2024-05-20")
    assert [row["flight_number"] for row in found["flights"]] == ["HAT001", "HAT003"]
    assert list(found["flights"][0]) == [
        "flight_number",
        "origin",
        "destination",
        "status",
        "scheduled_departure_time_est",
        "scheduled_arrival_time_est",
        "available_seats",
        "prices",
    ]
    landed = world.use("SearchDirectFlightTool", origin="SFO", destination="DEN", date="2024-05-10")
    assert landed == {"status": "success", "flights": []}
    assert not world.use("SearchDirectFlightTool", origin="sfo", destination="DEN", date="2024-05-20")[
        "flights"
    ]


def test_a_second_flight_leaves_after_the_first_has_arrived_if_need_be_on_the_next_day(world: World) -> None:
    found = world.use("SearchOnestopFlightTool", origin="SFO", destination="JFK", date="2024-05-20")
    pairs = [[(leg["flight_number"], leg["date"]) for leg in pair] for pair in found["onestop_flights"]]
    assert pairs == [
        [("HAT001", "2024-05-20"), ("HAT002", "2024-05-20")],
        [("HAT003", "2024-05-20"), ("HAT004", "2024-05-21")],
    ]
    assert list(found["onestop_flights"][0][0])[-1] == "date"


def test_the_mark_of_the_next_day_takes_part_when_times_are_compared(world: World) -> None:
    world.db["flights"]["HAT004"]["scheduled_departure_time_est"] = "01:00:00"
    found = world.use("SearchOnestopFlightTool", origin="SFO", destination="JFK", date="2024-05-20")
    assert len(found["onestop_flights"]) == 1


def test_a_booking_takes_seats_and_is_stored_as_it_was_typed(world: World) -> None:
    typed = {
        **BOOKING,
        "user_id": "Ada_Byron_1000",
        "origin": "sfo",
        "flights": [{"flight_number": "hat001", "date": "2024-05-20", "seat": "1A"}],
        "payment_methods": [{"payment_id": "credit_card_1", "amount": "360"}],
        "nonfree_baggages": 2,
        "total_baggages": 3,
        "insurance": "yes",
    }
    row = world.use("BookReservationTool", **typed)
    assert row == {
        "reservation_id": "HATHAT",
        "user_id": "Ada_Byron_1000",
        "origin": "sfo",
        "destination": "JFK",
        "flight_type": "one_way",
        "cabin": "economy",
        "flights": [
            {
                "flight_number": "hat001",
                "origin": "SFO",
                "destination": "DEN",
                "date": "2024-05-20",
                "price": 100,
            }
        ],
        "passengers": BOOKING["passengers"],
        "payment_history": [{"payment_id": "credit_card_1", "amount": 360}],
        "created_at": "2024-05-15T15:00:00",
        "total_baggages": 3,
        "nonfree_baggages": 2,
        "insurance": "yes",
        "status": None,
    }
    assert world.db["reservations"]["HATHAT"] == row
    assert world.db["users"]["ada_byron_1000"]["reservations"] == ["AAA111", "HATHAT"]
    assert world.db["flights"]["HAT001"]["dates"]["2024-05-20"]["available_seats"]["economy"] == 0
    assert world.recorded == [{"reservation_id": "HATHAT"}]
    assert world.state["actions"][0]["arguments"]["flights"] == [
        {"flight_number": "hat001", "date": "2024-05-20"}
    ]


def test_a_booking_uses_gift_cards_in_part_and_certificates_as_a_whole(world: World) -> None:
    payments = [
        {"payment_id": "gift_card_1", "amount": 120},
        {"payment_id": "certificate_1", "amount": 60},
        {"payment_id": "credit_card_1", "amount": 220},
    ]
    world.use("BookReservationTool", **{**BOOKING, "payment_methods": payments})
    methods = world.db["users"]["ada_byron_1000"]["payment_methods"]
    assert methods["gift_card_1"]["amount"] == 30.0
    assert "certificate_1" not in methods


def test_a_certificate_that_is_given_twice_is_lost(world: World) -> None:
    payments = [{"payment_id": "certificate_1", "amount": amount} for amount in (100, 100)]
    single = {**BOOKING, "flights": BOOKING["flights"][:1], "payment_methods": payments}
    assert world.use("BookReservationTool", **single) == {"error": "'certificate_1'"}
    expected = airline()
    del expected["users"]["ada_byron_1000"]["payment_methods"]["certificate_1"]
    assert world.db == expected
    assert world.recorded == []


@pytest.mark.parametrize(
    ("change", "refusal"),
    [
        ({"user_id": "Zoe"}, "not_found: User Zoe not found"),
        (
            {"flights": [{"flight_number": "X", "date": "2024-05-20"}]},
            "not_found: Flight X not found",
        ),
        (
            {"flights": [{"flight_number": "HAT001", "date": "2024-06-20"}]},
            "not_found: Flight HAT001 not found on date 2024-06-20",
        ),
        (
            {"flights": [{"flight_number": "HAT002", "date": "2024-05-21"}]},
            "value_error: Flight HAT002 not available on date 2024-05-21",
        ),
        ({"cabin": "business"}, "value_error: Not enough seats on flight HAT001"),
        (
            {"payment_methods": [{"payment_id": "cash", "amount": 400}]},
            "value_error: Payment method cash not found",
        ),
        (
            {"payment_methods": [{"payment_id": "gift_card_1", "amount": 400}]},
            "value_error: Not enough balance in payment method gift_card_1",
        ),
        (
            {"insurance": "yes"},
            "value_error: Payment amount does not add up, total price is 460, but paid 400",
        ),
    ],
)
def test_a_booking_that_is_not_right_is_refused(world: World, change: dict[str, Any], refusal: str) -> None:
    assert world.refused("BookReservationTool", **{**BOOKING, **change}) == refusal


def test_there_are_three_new_reservations_at_most(world: World) -> None:
    free = {**BOOKING, "flights": [], "payment_methods": []}
    assert [world.use("BookReservationTool", **free)["reservation_id"] for _ in range(3)] == [
        "HATHAT",
        "HATHAU",
        "HATHAV",
    ]
    assert world.refused("BookReservationTool", **free) == "value_error: Too many reservations"


def test_a_cancellation_notes_refunds_and_gives_nothing_back(world: World) -> None:
    world.use("CancelReservationTool", reservation_id="aaa111")
    again = world.use("CancelReservationTool", reservation_id="AAA111")
    assert [entry["amount"] for entry in again["payment_history"]] == [80, -80, -80, 80]
    assert again["status"] == "cancelled"
    assert world.db["users"] == world.seed["users"]
    assert world.recorded[0] == {"reservation_id": "aaa111", "status": "cancelled"}
    assert world.refused("CancelReservationTool", reservation_id="B") == "not_found: Reservation B not found"


def test_a_customer_gets_three_certificates_at_most(world: World) -> None:
    given = [world.use("SendCertificateTool", user_id="Bob_Stone_2000", amount=50) for _ in range(3)]
    assert given[0] == {
        "status": "success",
        "message": "Certificate certificate_3221322 added to user Bob_Stone_2000 with amount 50.",
    }
    methods = world.db["users"]["bob_stone_2000"]["payment_methods"]
    assert list(methods) == ["certificate_3221322", "certificate_3221323", "certificate_3221324"]
    assert methods["certificate_3221322"] == {
        "source": "certificate",
        "id": "certificate_3221322",
        "amount": 50.0,
    }
    assert world.recorded[0] == {"payment_id": "certificate_3221322", "amount": 50}
    refusal = world.refused("SendCertificateTool", user_id="bob_stone_2000", amount=1)
    assert refusal == "value_error: Too many certificates"
    assert world.use("SendCertificateTool", user_id="ada_byron_1000", amount=1)["status"] == "success"
