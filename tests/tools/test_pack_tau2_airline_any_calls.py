"""Any calls of the tools of tau2's airline, in any order."""

from __future__ import annotations

from typing import Any

from airline_calls import ADA, DOMAIN
from hypothesis import given
from hypothesis import strategies as st
from small_worlds import airline, assert_invoke_equals_execute, call, mostly, same_shape

ids = {
    "user_id": mostly("ada_byron_1000", "Bob_Stone_2000"),
    "reservation_id": mostly("AAA111", "aaa111", "HATHAT"),
    "payment_id": mostly("credit_card_1", "gift_card_1", "certificate_1", "certificate_3221322"),
}
small = mostly(st.integers(-3, 5), st.integers(-500, 500))
cabin = mostly("business", "economy", "basic_economy")
choice = st.fixed_dictionaries(
    {
        "flight_number": mostly("HAT001", "HAT002", "hat003", "HAT004"),
        "date": mostly("2024-05-20", "2024-05-21", "2024-05-10"),
    }
)
flights = mostly(st.lists(choice, max_size=2))
passenger = st.fixed_dictionaries({key: mostly(value) for key, value in ADA.items()})
passengers = mostly(st.lists(passenger, max_size=2))
payment = st.fixed_dictionaries({"payment_id": ids["payment_id"], "amount": mostly(st.integers(-100, 200))})
route = {
    "origin": mostly("SFO", "DEN"),
    "destination": mostly("DEN", "JFK"),
    "date": mostly("2024-05-20", "2024-05-21"),
}
calls = st.lists(
    st.one_of(
        call("GetUserDetailsTool", user_id=ids["user_id"]),
        call("GetReservationDetailsTool", reservation_id=ids["reservation_id"]),
        call("ListAllAirportsTool"),
        call("SearchDirectFlightTool", **route),
        call("SearchOnestopFlightTool", **route),
        call("GetFlightStatusTool", flight_number=mostly("HAT001"), date=route["date"]),
        call(
            "BookReservationTool",
            user_id=ids["user_id"],
            origin=route["origin"],
            destination=route["destination"],
            flight_type=mostly("one_way", "round_trip"),
            cabin=cabin,
            flights=flights,
            passengers=passengers,
            payment_methods=mostly(st.lists(payment, max_size=3)),
            total_baggages=small,
            nonfree_baggages=small,
            insurance=mostly("yes", "no"),
        ),
        call("CancelReservationTool", reservation_id=ids["reservation_id"]),
        call("SendCertificateTool", user_id=ids["user_id"], amount=small),
        call(
            "UpdateReservationBaggagesTool",
            reservation_id=ids["reservation_id"],
            total_baggages=small,
            nonfree_baggages=small,
            payment_id=ids["payment_id"],
        ),
        call(
            "UpdateReservationFlightsTool",
            reservation_id=ids["reservation_id"],
            cabin=cabin,
            flights=flights,
            payment_id=ids["payment_id"],
        ),
        call(
            "UpdateReservationPassengersTool",
            reservation_id=ids["reservation_id"],
            passengers=passengers,
        ),
        call("CalculateTool", expression=mostly(st.text("0123456789+-*/(). ", max_size=8))),
        call("TransferToHumanAgentsTool", summary=mostly("stuck")),
    ),
    max_size=5,
)


@given(calls)
def test_no_sequence_of_calls_raises_or_spoils_the_database(calls: list[tuple[str, dict[str, Any]]]) -> None:
    seed = airline()
    db = assert_invoke_equals_execute(DOMAIN, seed, calls)
    assert db.keys() == seed.keys()
    assert same_shape(db["flights"], seed["flights"])
    for table, key in (("reservations", "AAA111"), ("users", "ada_byron_1000")):
        like = seed[table][key]
        assert all(same_shape(row, like) for row in db[table].values())
        assert db[table].keys() >= seed[table].keys()
