"""Reservations of tau2's airline that are changed."""

from __future__ import annotations

import pytest
from airline_calls import ADA, DOMAIN, UPDATE
from small_worlds import World, airline


@pytest.fixture
def world() -> World:
    return World(DOMAIN, airline())


def test_more_bags_are_charged_and_fewer_are_not_refunded(world: World) -> None:
    bags = {"reservation_id": "AAA111", "payment_id": "gift_card_1"}
    world.use("UpdateReservationBaggagesTool", **bags, total_baggages=3, nonfree_baggages=2)
    world.use("UpdateReservationBaggagesTool", **bags, total_baggages=1, nonfree_baggages=0)
    row = world.db["reservations"]["AAA111"]
    assert (row["total_baggages"], row["nonfree_baggages"]) == (1, 0)
    assert [entry["amount"] for entry in row["payment_history"]] == [80, 100]
    assert world.db["users"]["ada_byron_1000"]["payment_methods"]["gift_card_1"]["amount"] == 50.0
    assert [result["charged"] for result in world.recorded] == [100, 0]


@pytest.mark.parametrize(
    ("payment_id", "refusal"),
    [
        ("cash", "value_error: Payment method not found"),
        ("certificate_1", "value_error: Certificate cannot be used to update reservation"),
        ("gift_card_1", "value_error: Gift card balance is not enough"),
    ],
)
def test_a_change_that_cannot_be_paid_is_refused(world: World, payment_id: str, refusal: str) -> None:
    bags = {"reservation_id": "AAA111", "total_baggages": 4, "nonfree_baggages": 4, "payment_id": payment_id}
    assert world.refused("UpdateReservationBaggagesTool", **bags) == refusal


def test_a_certificate_is_refused_also_where_nothing_is_to_be_paid(world: World) -> None:
    refusal = world.refused("UpdateReservationFlightsTool", **{**UPDATE, "payment_id": "certificate_1"})
    assert refusal == "value_error: Certificate cannot be used to update reservation"


def test_a_reservation_whose_owner_is_gone_cannot_be_changed(world: World) -> None:
    del world.db["users"]["ada_byron_1000"]
    refusal = "not_found: User ada_byron_1000 not found"
    assert world.refused("UpdateReservationFlightsTool", **UPDATE) == refusal
    bags = {"reservation_id": "AAA111", "total_baggages": 4, "nonfree_baggages": 4, "payment_id": "x"}
    assert world.refused("UpdateReservationBaggagesTool", **bags) == refusal


def test_a_flight_that_stays_keeps_its_price_and_needs_no_seat(world: World) -> None:
    del world.db["flights"]["HAT001"]
    row = world.use("UpdateReservationFlightsTool", **UPDATE)
    assert row["flights"] == world.seed["reservations"]["AAA111"]["flights"]
    assert len(row["payment_history"]) == 1
    assert world.recorded == [{"reservation_id": "AAA111", "charged": 0}]


def test_a_new_cabin_has_new_prices(world: World) -> None:
    row = world.use("UpdateReservationFlightsTool", **{**UPDATE, "cabin": "business"})
    assert row["flights"][0]["price"] == 300
    assert row["cabin"] == "business"
    assert row["payment_history"][-1] == {"payment_id": "credit_card_1", "amount": 220}
    assert world.db["flights"] == world.seed["flights"]


def test_a_number_in_other_letters_is_another_flight_at_the_price_of_today(world: World) -> None:
    flights = [{"flight_number": "hat001", "date": "2024-05-20"}]
    row = world.use("UpdateReservationFlightsTool", **{**UPDATE, "flights": flights})
    assert row["flights"][0] == {
        "flight_number": "hat001",
        "origin": "SFO",
        "destination": "DEN",
        "date": "2024-05-20",
        "price": 100,
    }


def test_a_refund_goes_to_a_gift_card(world: World) -> None:
    change = {**UPDATE, "cabin": "basic_economy", "payment_id": "gift_card_1"}
    row = world.use("UpdateReservationFlightsTool", **change)
    assert row["payment_history"][-1] == {"payment_id": "gift_card_1", "amount": -30}
    assert world.db["users"]["ada_byron_1000"]["payment_methods"]["gift_card_1"]["amount"] == 180.0


@pytest.mark.parametrize(
    ("flight_number", "date", "refusal"),
    [
        ("X", "2024-05-20", "not_found: Flight X not found"),
        ("HAT001", "2024-06-20", "value_error: Flight HAT001 not available on date 2024-06-20"),
        ("HAT002", "2024-05-21", "value_error: Flight HAT002 not available on date 2024-05-21"),
        ("HAT004", "2024-05-21", "value_error: Not enough seats on flight HAT004"),
    ],
)
def test_a_new_flight_must_be_open(world: World, flight_number: str, date: str, refusal: str) -> None:
    world.db["flights"]["HAT004"]["dates"]["2024-05-21"]["available_seats"]["economy"] = 0
    flights = [*UPDATE["flights"], {"flight_number": flight_number, "date": date}]
    assert world.refused("UpdateReservationFlightsTool", **{**UPDATE, "flights": flights}) == refusal


def test_passengers_are_replaced_by_as_many(world: World) -> None:
    eve = {**ADA, "first_name": "Eve"}
    change = {"reservation_id": "aaa111", "passengers": [{**eve, "seat": "1A"}]}
    assert world.use("UpdateReservationPassengersTool", **change)["passengers"] == [eve]
    assert world.recorded == [{"reservation_id": "aaa111"}]
    refusal = world.refused("UpdateReservationPassengersTool", reservation_id="AAA111", passengers=[])
    assert refusal == "value_error: Number of passengers does not match"
