"""Journeys of eva's airline that are cancelled."""

from __future__ import annotations

import pytest
from eva_calls import (
    HOME,
    NUMBER,
    ONWARD,
    VIA,
    bookings,
    records,
    refused,
    seats,
    use,
)
from small_worlds import World


@pytest.mark.parametrize(
    ("reason", "fare_type", "fee", "refund", "credit"),
    [
        ("voluntary", "non_refundable", 100, 0, 80.0),
        ("medical", "non_refundable", 100, 0, 80.0),
        ("voluntary", "refundable", 0, 180.0, 0),
        ("irrops_refund", "non_refundable", 0, 180.0, 0),
        ("24_hour_rule", "non_refundable", 0, 180.0, 0),
    ],
)
def test_what_a_cancellation_entitles_to(
    world: World, reason: str, fare_type: str, fee: int, refund: float, credit: float
) -> None:
    world.db["reservations"]["ABC123"]["fare_type"] = fare_type
    result = use(world, "CancelReservationTool", cancellation_reason=reason)
    assert (
        result["is_refundable"],
        result["cancellation_fee"],
        result["refund_amount_eligible"],
        result["credit_amount_eligible"],
    ) == (fee == 0, fee, refund, credit)
    assert records(world) == [
        {
            "action_type": "cancel_reservation",
            **NUMBER,
            "journey_id": HOME,
            "cancellation_reason": reason,
            "is_refundable": fee == 0,
            "cancellation_fee": fee,
            "refund_amount_eligible": refund,
        }
    ]


def test_a_fare_below_the_fee_leaves_no_credit(world: World) -> None:
    bookings(world)[0]["fare_paid"] = 60.0
    assert use(world, "CancelReservationTool")["credit_amount_eligible"] == 0


def test_the_reservation_is_cancelled_with_its_last_journey(world: World) -> None:
    first = use(world, "CancelReservationTool")
    assert (first["reservation_status"], seats(world, HOME)) == ("active", [3])
    assert world.db["reservations"]["ABC123"]["status"] == "confirmed"
    assert refused(world, "CancelReservationTool") == (
        f"already_cancelled: Journey {HOME} is already cancelled"
    )
    assert use(world, "CancelReservationTool", journey_id=VIA)["reservation_status"] == "cancelled"
    assert world.db["reservations"]["ABC123"]["status"] == "cancelled"
    assert world.db["refunds"] == world.db["travel_credits"] == {}


def test_the_kept_part_of_a_journey_can_be_cancelled(world: World) -> None:
    use(world, "RebookFlightTool", journey_id=VIA, new_journey_id=ONWARD, flight_number="SK102")
    use(world, "CancelReservationTool", journey_id=VIA)
    assert [b["status"] for b in bookings(world)] == ["confirmed", "cancelled", "confirmed", "cancelled"]
