"""The airline's tool that books."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from pytest_voiceeval.tools import CheckedWriteTool, Params, ToolRefusal

from ._tau2 import Row, Whole
from ._tau2_airline_rows import (
    BAG_PRICE,
    INSURANCE_PRICE,
    NOW,
    Cabin,
    FlightChoice,
    FlightType,
    Insurance,
    Passenger,
    Payment,
    check_seats,
    dumped,
    flight_leg,
    flight_row,
    user_row,
)

RESERVATION_IDS = ("HATHAT", "HATHAU", "HATHAV")


class BookParams(Params):
    """Parameters of a booking."""

    user_id: str = Field(description="Id of the customer, such as 'jane_doe_1234'.")
    origin: str = Field(description="Code of the airport where the journey begins, such as 'JFK'.")
    destination: str = Field(description="Code of the airport where it leads, such as 'LAX'.")
    flight_type: FlightType = Field(description="One way, or there and back.")
    cabin: Cabin = Field(description="Cabin of all flights.")
    flights: list[FlightChoice] = Field(description="All flights, in order.")
    passengers: list[Passenger] = Field(description="Who flies.")
    payment_methods: list[Payment] = Field(
        description="What is paid with which of the customer's payment methods; together the whole price."
    )
    total_baggages: Whole = Field(description="Number of all checked bags.")
    nonfree_baggages: Whole = Field(description="How many of them are not free.")
    insurance: Insurance = Field(description="Whether the journey is insured.")


class BookReservationTool(CheckedWriteTool[BookParams]):
    """Books a journey."""

    description = "Book a journey for a customer. Use it once the customer has agreed to all details."
    PARAMS_MODEL = BookParams

    def run(self, params: BookParams) -> Any:
        user = user_row(self.db, params.user_id)
        reservation_id = self._next_id()
        total = self._price(params)
        self._check_payments(params, user, total)
        for payment in params.payment_methods:
            method = user["payment_methods"].get(payment.payment_id)
            if method is None:
                # A certificate that is given twice: all checks pass, and it is gone the second time.
                return {"error": repr(payment.payment_id)}
            if method["source"] == "gift_card":
                method["amount"] -= payment.amount
            elif method["source"] == "certificate":
                del user["payment_methods"][payment.payment_id]
        reservation = self._reservation(params, reservation_id)
        for choice in params.flights:
            self._day(choice)["available_seats"][params.cabin.value] -= len(params.passengers)
        self.db["reservations"][reservation_id] = reservation
        user["reservations"].append(reservation_id)
        self.record_call(params, {"reservation_id": reservation_id})
        return reservation

    def _next_id(self) -> str:
        for reservation_id in RESERVATION_IDS:
            if reservation_id not in self.db["reservations"]:
                return reservation_id
        raise ToolRefusal("value_error", "Too many reservations")

    def _flight(self, choice: FlightChoice) -> Row:
        flight = flight_row(self.db, choice.flight_number)
        if flight is None:
            raise ToolRefusal("not_found", f"Flight {choice.flight_number} not found")
        return flight

    def _day(self, choice: FlightChoice) -> Row:
        """Return a flight's seats and prices on the chosen day."""
        day: Row | None = self._flight(choice)["dates"].get(choice.date)
        if day is None:
            raise ToolRefusal("not_found", f"Flight {choice.flight_number} not found on date {choice.date}")
        return day

    def _price(self, params: BookParams) -> int:
        """Return the price of all in dollars, or refuse a flight that cannot be booked."""
        passengers = len(params.passengers)
        total = 0
        for choice in params.flights:
            day = self._day(choice)
            check_seats(day, choice, params.cabin, passengers)
            total += day["prices"][params.cabin.value] * passengers
        if params.insurance is Insurance.YES:
            total += INSURANCE_PRICE * passengers
        return total + BAG_PRICE * params.nonfree_baggages

    def _check_payments(self, params: BookParams, user: Row, total: int) -> None:
        for payment in params.payment_methods:
            method = user["payment_methods"].get(payment.payment_id)
            if method is None:
                raise ToolRefusal("value_error", f"Payment method {payment.payment_id} not found")
            if method["source"] != "credit_card" and method["amount"] < payment.amount:
                raise ToolRefusal("value_error", f"Not enough balance in payment method {payment.payment_id}")
        paid = sum(payment.amount for payment in params.payment_methods)
        if paid != total:
            raise ToolRefusal(
                "value_error",
                f"Payment amount does not add up, total price is {total}, but paid {paid}",
            )

    def _reservation(self, params: BookParams, reservation_id: str) -> Row:
        given = params.model_dump(mode="json")
        return {
            "reservation_id": reservation_id,
            **{key: given[key] for key in ("user_id", "origin", "destination", "flight_type", "cabin")},
            "flights": [flight_leg(self._flight(choice), choice, params.cabin) for choice in params.flights],
            "passengers": dumped(params.passengers),
            "payment_history": given["payment_methods"],
            "created_at": NOW,
            **{key: given[key] for key in ("total_baggages", "nonfree_baggages", "insurance")},
            "status": None,
        }
