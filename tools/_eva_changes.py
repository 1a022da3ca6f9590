"""Changes of a booked journey at eva's airline: cancelling, seat, bags, meal, and the standby list."""

from __future__ import annotations

from pydantic import Field

from ._eva_params import (
    CancellationReason,
    ConfirmationNumber,
    EvaParams,
    EvaWriteTool,
    JourneyId,
    MealType,
    OptionalFlightNumber,
    PassengerId,
    PassengerIds,
    SeatPreference,
    refuse,
)
from ._eva_rows import (
    CANCELLED,
    Row,
    add_seats,
    booking_of,
    journey_row,
    journey_to_take,
    meant_segments,
    picked_segment,
    reservation_row,
)

CANCELLATION_FEE = 100
_REFUNDED = ("irrops_refund", "24_hour_rule")
_FIRST_ROWS = {"basic_economy": 25, "main_cabin": 20, "premium_economy": 10, "business": 5, "first": 1}
_OTHER_ROW = 20
_LETTERS = {"window": "A", "middle": "B", "aisle": "C", "no_preference": "C"}
_ALL_TYPES = ["window", "aisle", "middle"]


class CancelParams(EvaParams):
    """Parameters of a cancellation."""

    confirmation_number: ConfirmationNumber
    journey_id: JourneyId
    cancellation_reason: CancellationReason = Field(description="Why, which decides on the refund.")


class SeatParams(EvaParams):
    """Parameters of a seat assignment."""

    confirmation_number: ConfirmationNumber
    passenger_id: PassengerId
    journey_id: JourneyId
    seat_preference: SeatPreference = Field(description="Which kind of seat.")
    flight_number: OptionalFlightNumber = None


class BaggageParams(EvaParams):
    """Parameters of a baggage allowance."""

    confirmation_number: ConfirmationNumber
    journey_id: JourneyId
    num_bags: int = Field(ge=0, le=5, description="How many checked bags there are then, 0 to 5.")
    flight_number: OptionalFlightNumber = None


class MealParams(EvaParams):
    """Parameters of a meal request."""

    confirmation_number: ConfirmationNumber
    passenger_id: PassengerId
    journey_id: JourneyId
    meal_type: MealType = Field(description="Which meal.")
    flight_number: OptionalFlightNumber = None


class StandbyParams(EvaParams):
    """Parameters of an entry in a standby list."""

    confirmation_number: ConfirmationNumber
    journey_id: JourneyId
    passenger_ids: PassengerIds


class CancelReservationTool(EvaWriteTool[CancelParams]):
    """Cancels the booking of one journey. What the customer gets back is for other tools to pay."""

    description = "Cancel a booked journey. Returns which refund or travel credit it entitles to."
    PARAMS_MODEL = CancelParams

    def run(self, params: CancelParams) -> Row:
        reservation = reservation_row(self.db, params.confirmation_number)
        booking = booking_of(reservation, params.journey_id)
        if booking.get("status") == CANCELLED:
            raise refuse("already_cancelled", f"Journey {params.journey_id} is already cancelled")
        fare = booking.get("fare_paid") or 0
        reason = params.cancellation_reason
        is_refundable = reason in _REFUNDED or reservation.get("fare_type") == "refundable"
        fee = 0 if is_refundable else CANCELLATION_FEE
        refund = fare if is_refundable else 0
        booking["status"] = CANCELLED
        add_seats(journey_row(self.db, params.journey_id), str(booking.get("fare_class")), 1)
        is_over = all(b.get("status") == CANCELLED for b in reservation["bookings"])
        if is_over:
            reservation["status"] = CANCELLED
        told = {"confirmation_number": params.confirmation_number, "journey_id": params.journey_id}
        outcome = {
            "is_refundable": is_refundable,
            "cancellation_fee": fee,
            "refund_amount_eligible": refund,
        }
        self.note(**told, cancellation_reason=reason, **outcome)
        return {
            "status": "success",
            **told,
            **outcome,
            "credit_amount_eligible": 0 if is_refundable else max(0, fare - CANCELLATION_FEE),
            "reservation_status": CANCELLED if is_over else "active",
            "message": f"Journey {params.journey_id} cancelled successfully",
        }


class AssignSeatTool(EvaWriteTool[SeatParams]):
    """Assigns a seat, whose number follows from the class, the passenger and the kind of seat."""

    description = "Assign a seat on a booked journey, or with a flight number on one leg of it."
    PARAMS_MODEL = SeatParams

    def run(self, params: SeatParams) -> Row:
        reservation = reservation_row(self.db, params.confirmation_number)
        booking = booking_of(reservation, params.journey_id)
        segment = booking["segments"][picked_segment(booking, params.flight_number)]
        number = params.flight_number or segment.get("flight_number")
        fare_class, wish = str(booking.get("fare_class")), params.seat_preference
        self._check_seats(params.journey_id, number, fare_class, wish)
        digits = params.passenger_id[-3:]
        if not digits.isdecimal():
            return {"error": f"invalid literal for int() with base 10: {digits!r}"}
        seat = f"{_FIRST_ROWS.get(fare_class, _OTHER_ROW) + int(digits)}{_LETTERS[wish]}"
        segment["seat"] = seat
        told = {
            "confirmation_number": params.confirmation_number,
            "passenger_id": params.passenger_id,
            "journey_id": params.journey_id,
            "flight_number": number,
        }
        self.note(**told, seat_preference=wish, seat_assigned=seat)
        return {
            "status": "success",
            **told,
            "seat_assigned": seat,
            "fare_class": fare_class,
            "preference": wish,
            "message": f"Seat {seat} ({wish}) successfully assigned",
        }

    def _check_seats(self, journey_id: str, number: str, fare_class: str, wish: str) -> None:
        """Raise ToolRefusal if the flight is known and has no such seat."""
        journey = journey_row(self.db, journey_id) or {}
        legs = [leg for leg in journey.get("segments", []) if leg.get("flight_number") == number]
        if not legs:
            return
        if legs[0].get("available_seats", {}).get(fare_class, 0) <= 0:
            raise refuse("no_seats_available", f"No seats available in {fare_class} fare class")
        types = legs[0].get("available_seat_types", {}).get(fare_class, _ALL_TYPES)
        if wish != "no_preference" and wish not in types:
            raise refuse(
                "seat_type_unavailable",
                f"No {wish} seats available in {fare_class} on this flight. "
                f"Available types: {', '.join(types)}",
            )


class AddBaggageAllowanceTool(EvaWriteTool[BaggageParams]):
    """Sets the number of checked bags."""

    description = "Set how many bags are checked in on a booked journey, or on one leg of it."
    PARAMS_MODEL = BaggageParams

    def run(self, params: BaggageParams) -> Row:
        reservation = reservation_row(self.db, params.confirmation_number)
        booking = booking_of(reservation, params.journey_id)
        for segment in meant_segments(booking, params.flight_number):
            segment["bags_checked"] = params.num_bags
        told = {"confirmation_number": params.confirmation_number, "journey_id": params.journey_id}
        self.note(**told, flight_number=params.flight_number, num_bags=params.num_bags)
        return {
            "status": "success",
            **told,
            "bags_checked": params.num_bags,
            "message": f"Baggage allowance set to {params.num_bags} checked bag(s)",
        }


class AddMealRequestTool(EvaWriteTool[MealParams]):
    """Requests a meal."""

    description = "Request a special meal on a booked journey, or on one leg of it."
    PARAMS_MODEL = MealParams

    def run(self, params: MealParams) -> Row:
        reservation = reservation_row(self.db, params.confirmation_number)
        booking = booking_of(reservation, params.journey_id)
        for segment in meant_segments(booking, params.flight_number):
            segment["meal_request"] = params.meal_type
        told = {
            "confirmation_number": params.confirmation_number,
            "passenger_id": params.passenger_id,
            "journey_id": params.journey_id,
            "meal_type": params.meal_type,
        }
        self.note(**told, flight_number=params.flight_number)
        return {"status": "success", **told, "message": f"{params.meal_type} meal request added"}


class AddToStandbyTool(EvaWriteTool[StandbyParams]):
    """Puts passengers on the standby list of a journey."""

    description = "Put passengers on the standby list of a journey."
    PARAMS_MODEL = StandbyParams

    def run(self, params: StandbyParams) -> Row:
        journey = journey_to_take(self.db, params.journey_id)
        if journey.get("status") == CANCELLED:
            raise refuse("flight_cancelled", "Cannot add to standby for cancelled flight")
        number, ids = params.confirmation_number, params.passenger_ids
        reservation = (self.db.get("reservations") or {}).get(number)
        if reservation is not None:
            known = [passenger.get("passenger_id") for passenger in reservation.get("passengers", [])]
            if unknown := [passenger for passenger in ids if passenger not in known]:
                raise refuse("invalid_passengers", f"Unknown passenger ID(s): {', '.join(unknown)}")
        _listed(journey)
        position = len(journey["standby_list"]) + len(ids)
        if reservation is not None:
            _listed(reservation)
            reservation["standby_list"].append(
                {
                    "journey_id": params.journey_id,
                    "passenger_ids": list(ids),
                    "position": position,
                    "status": "pending",
                }
            )
        for passenger in ids:
            entry = {"confirmation_number": number, "passenger_id": passenger}
            journey["standby_list"].append({**entry, "position": len(journey["standby_list"]) + 1})
        told = {"confirmation_number": number, "journey_id": params.journey_id}
        self.note(**told, passenger_ids=list(ids))
        return {
            "status": "success",
            **told,
            "standby_list_position": position,
            "message": f"Added {len(ids)} passenger(s) to standby list",
        }


def _listed(row: Row) -> None:
    """Give a row an empty standby list if it has none."""
    if "standby_list" not in row:
        row["standby_list"] = []
