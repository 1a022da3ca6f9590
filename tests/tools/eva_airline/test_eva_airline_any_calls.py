"""Any calls of eva's tools, in any order."""

from __future__ import annotations

from typing import Any

from eva_calls import (
    DOMAIN,
    EARLY,
    HOME,
    LATE,
    LONG_WAY,
    ONWARD,
    VIA,
)
from eva_world import ALL, FARES, eva
from hypothesis import given
from hypothesis import strategies as st
from small_worlds import assert_invoke_equals_execute, call, mostly, same_shape

number = mostly("ABC123", "abc123", "ABC123", "ZZZ999")
passenger = mostly("PAX001", "PAX001", "PAX2")
journey_id = mostly(HOME, VIA, LATE, EARLY, ONWARD, LONG_WAY)
flight = mostly(None, None, "SK101", "SK102", "SK200")
day = mostly("2026-05-10", "2026-05-12")
amounts = mostly(1, 2.5, "3")
text = mostly(st.text(max_size=4))
on_journey = {"confirmation_number": number, "journey_id": journey_id}
for_passenger = {"confirmation_number": number, "passenger_id": passenger}
calls = st.lists(
    st.one_of(
        call("GetReservationTool", confirmation_number=number, last_name=mostly("Byron", "")),
        call("GetFlightStatusTool", flight_number=mostly("SK101", "SK300"), flight_date=day),
        call("GetDisruptionInfoTool", flight_number=mostly("SK101"), date=day),
        call(
            "SearchRebookingOptionsTool",
            origin=mostly("SFO", "DEN"),
            destination=mostly("DEN", "SFO"),
            date=day,
            passenger_count=mostly(1, 2),
            fare_class=mostly(*FARES, "any"),
        ),
        call(
            "RebookFlightTool",
            **on_journey,
            new_journey_id=journey_id,
            rebooking_type=mostly("voluntary", "same_day", "irrops_delay"),
            waive_change_fee=mostly(True, False),
            new_fare_class=mostly(None, *FARES),
            flight_number=flight,
        ),
        call("CancelReservationTool", **on_journey, cancellation_reason=mostly("voluntary", "24_hour_rule")),
        call(
            "ProcessRefundTool",
            confirmation_number=number,
            refund_amount=amounts,
            refund_type=mostly("full_fare"),
        ),
        call(
            "AssignSeatTool",
            **on_journey,
            passenger_id=passenger,
            seat_preference=mostly(*ALL, "no_preference"),
            flight_number=flight,
        ),
        call("AddBaggageAllowanceTool", **on_journey, num_bags=mostly(0, 5), flight_number=flight),
        call(
            "AddMealRequestTool",
            **on_journey,
            passenger_id=passenger,
            meal_type=mostly("none", "vegan"),
            flight_number=flight,
        ),
        call("AddToStandbyTool", **on_journey, passenger_ids=mostly(st.lists(passenger, max_size=2))),
        call("IssueTravelCreditTool", **for_passenger, amount=amounts, credit_reason=mostly("goodwill")),
        call("IssueHotelVoucherTool", **for_passenger, num_nights=mostly(1, 4)),
        call("IssueMealVoucherTool", **for_passenger, voucher_reason=mostly("delay_over_2_hours")),
        call("TransferToAgentTool", confirmation_number=number, transfer_reason=text, issue_summary=text),
    ),
    max_size=6,
)


@given(calls)
def test_no_sequence_of_calls_raises_or_spoils_the_database(calls: list[tuple[str, dict[str, Any]]]) -> None:
    seed = eva()
    db = assert_invoke_equals_execute(DOMAIN, seed, calls)
    assert db.keys() - {"hotel_vouchers"} == seed.keys()
    assert db["journeys"].keys() == seed["journeys"].keys()
    assert same_shape(db["journeys"], {key: _without_lists(row) for key, row in seed["journeys"].items()})
    reservation, like = db["reservations"]["ABC123"], seed["reservations"]["ABC123"]
    assert same_shape({**reservation, "bookings": []}, like)
    for booking in reservation["bookings"]:
        assert booking.keys() == like["bookings"][0].keys()
        assert all(leg.keys() == like["bookings"][0]["segments"][0].keys() for leg in booking["segments"])
        assert booking["segments"]


def _without_lists(journey: dict[str, Any]) -> dict[str, Any]:
    """Return a journey without what may be null or a list of anything."""
    return {key: value for key, value in journey.items() if key not in ("segments", "fares")}
