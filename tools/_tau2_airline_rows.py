"""The airline's database: parameters that several tools have, and looking rows up by what was spoken."""

from __future__ import annotations

from enum import StrEnum
from typing import Any

from pydantic import BaseModel, Field

from pytest_voiceeval.tools import ToolRefusal

from ._tau2 import Row, Whole

NOW = "2024-05-15T15:00:00"
BAG_PRICE = 50
INSURANCE_PRICE = 30


class Cabin(StrEnum):
    """Classes of seats."""

    BUSINESS = "business"
    ECONOMY = "economy"
    BASIC_ECONOMY = "basic_economy"


class FlightType(StrEnum):
    """Kinds of itineraries."""

    ROUND_TRIP = "round_trip"
    ONE_WAY = "one_way"


class Insurance(StrEnum):
    """Whether a reservation is insured."""

    YES = "yes"
    NO = "no"


class FlightChoice(BaseModel):
    """A flight on a day."""

    flight_number: str = Field(description="Flight number, such as 'HAT001'.")
    date: str = Field(description="Day of departure as YYYY-MM-DD.")


class Passenger(BaseModel):
    """Who flies."""

    first_name: str = Field(description="First name.")
    last_name: str = Field(description="Last name.")
    dob: str = Field(description="Date of birth as YYYY-MM-DD.")


class Payment(BaseModel):
    """A share of the price."""

    payment_id: str = Field(description="Id of one of the customer's payment methods.")
    amount: Whole = Field(description="Dollars paid with it.")


def user_row(db: Row, user_id: str) -> Row:
    """Return a customer; the id may be in any case."""
    row: Row | None = db["users"].get(user_id.lower())
    if row is None:
        raise ToolRefusal("not_found", f"User {user_id} not found")
    return row


def reservation_row(db: Row, reservation_id: str) -> Row:
    """Return a reservation; the id may be in any case."""
    row: Row | None = db["reservations"].get(reservation_id.upper())
    if row is None:
        raise ToolRefusal("not_found", f"Reservation {reservation_id} not found")
    return row


def flight_row(db: Row, flight_number: str) -> Row | None:
    """Return a flight, ``None`` if there is none; the number may be in any case."""
    row: Row | None = db["flights"].get(flight_number.upper())
    return row


def flight_leg(flight: Row, choice: FlightChoice, cabin: Cabin) -> Row:
    """Return the part of an itinerary that is flown with a flight, at the price of its day and cabin."""
    return {
        "flight_number": choice.flight_number,
        "origin": flight["origin"],
        "destination": flight["destination"],
        "date": choice.date,
        "price": flight["dates"][choice.date]["prices"][cabin.value],
    }


def check_seats(day: Row, choice: FlightChoice, cabin: Cabin, passengers: int) -> None:
    """Refuse a flight of ``day`` that is not open for booking, or has too few seats left."""
    if day["status"] != "available":
        raise ToolRefusal("value_error", f"Flight {choice.flight_number} not available on date {choice.date}")
    if day["available_seats"][cabin.value] < passengers:
        raise ToolRefusal("value_error", f"Not enough seats on flight {choice.flight_number}")


def charge(user: Row, reservation: Row, payment_id: str, total: int) -> None:
    """Have a customer pay ``total`` dollars for a change of a reservation; below 0 it is a refund.

    Raises:
        ToolRefusal: if the payment method can't be used; then nothing was changed.
    """
    method: Row | None = user["payment_methods"].get(payment_id)
    if method is None:
        raise ToolRefusal("value_error", "Payment method not found")
    if method["source"] == "certificate":
        raise ToolRefusal("value_error", "Certificate cannot be used to update reservation")
    if method["source"] == "gift_card":
        if method["amount"] < total:
            raise ToolRefusal("value_error", "Gift card balance is not enough")
        method["amount"] -= total
    if total != 0:
        reservation["payment_history"].append({"payment_id": payment_id, "amount": total})


def dumped(models: list[Any]) -> list[Row]:
    """Return parameters as rows."""
    return [model.model_dump(mode="json") for model in models]
