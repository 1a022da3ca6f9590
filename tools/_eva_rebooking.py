"""Rebooking at eva's airline: one journey, or one leg of it, in place of another."""

from __future__ import annotations

import copy
from dataclasses import dataclass
from typing import Any

from pydantic import Field

from ._eva_params import (
    ConfirmationNumber,
    EvaParams,
    EvaWriteTool,
    FareClass,
    JourneyId,
    OptionalFlightNumber,
    RebookingType,
    refuse,
)
from ._eva_rows import (
    CANCELLED,
    Row,
    add_seats,
    booking_of,
    journey_row,
    journey_to_take,
    picked_segment,
    reservation_row,
    seats_left,
)

IRREGULAR = "irrops"
"""In a type of rebooking, which is on the airline then: no fee, and the old fare stays."""

CHANGE_FEE = 75
SAME_DAY_BASIC_FEE = 199
_FREE_TO_CHANGE = ("business", "first")
_SHOWN_OF_REPLACED = ("flight_number", "origin", "destination", "fare_paid")
_SHOWN_OF_KEPT = (*_SHOWN_OF_REPLACED, "seat")


class RebookParams(EvaParams):
    """Parameters of a rebooking."""

    confirmation_number: ConfirmationNumber
    journey_id: JourneyId
    new_journey_id: JourneyId
    rebooking_type: RebookingType = Field(description="Why it is rebooked, which decides on the fee.")
    waive_change_fee: bool = Field(description="Whether the fee is waived, as the policy may have it.")
    new_fare_class: FareClass | None = Field(None, description="Class to change to, if it changes.")
    flight_number: OptionalFlightNumber = None


@dataclass(frozen=True)
class _Rebooking:
    """What is rebooked: a booking, or with ``place`` one of its legs, to a class of another journey."""

    booking: Row
    new: Row
    place: int | None
    target: str
    is_irregular: bool
    is_waived: bool
    kind: str

    @property
    def old_segments(self) -> list[Row]:
        return self.booking.get("segments", [])  # type: ignore[no-any-return]  # a booking's legs

    @property
    def picked(self) -> Row | None:
        return None if self.place is None else self.old_segments[self.place]

    @property
    def kept(self) -> list[Row]:
        return [leg for place, leg in enumerate(self.old_segments) if place != self.place]

    @property
    def original(self) -> str:
        return str(self.booking.get("fare_class"))

    @property
    def old_fare(self) -> float:
        if self.picked is not None:
            return _paid(self.picked)
        fare = self.booking.get("fare_paid")
        return sum(map(_paid, self.old_segments)) if fare is None else fare

    @property
    def new_fare(self) -> float:
        return self.new["fares"][self.target]  # type: ignore[no-any-return]  # checked not to be null

    @property
    def change_fee(self) -> int:
        if self.is_irregular or self.is_waived:
            return 0
        if self.kind == "same_day":
            return SAME_DAY_BASIC_FEE if self.original == "basic_economy" else CHANGE_FEE
        return 0 if self.original in _FREE_TO_CHANGE else CHANGE_FEE

    @property
    def difference(self) -> float:
        return self.new_fare - self.old_fare

    @property
    def total(self) -> float:
        return 0 if self.is_irregular else self.change_fee + max(0, self.difference)

    def new_booking(self) -> Row:
        return {
            "journey_id": self.new["journey_id"],
            "fare_class": self.target,
            "fare_paid": self.old_fare if self.is_irregular else self.new_fare,
            "status": "confirmed",
            "segments": [self._leg(place, leg) for place, leg in enumerate(self.new["segments"])],
        }

    def kept_booking(self) -> Row:
        return {
            "journey_id": self.booking["journey_id"],
            "fare_class": self.original,
            "fare_paid": sum(map(_paid, self.kept)),
            "status": "confirmed",
            "segments": copy.deepcopy(self.kept),
        }

    def _leg(self, place: int, leg: Row) -> Row:
        """Return a leg of the new booking: bags and meal come along, the seat does not."""
        source = self._source(place)
        return {
            "flight_number": leg["flight_number"],
            "date": self.new["date"],
            "fare_paid": self._fare_of_leg(place, leg),
            "seat": None,
            "bags_checked": source.get("bags_checked") or 0,
            "meal_request": source.get("meal_request"),
        }

    def _source(self, place: int) -> Row:
        if self.picked is not None:
            return self.picked
        legs = self.old_segments
        return legs[place] if place < len(legs) else next(iter(legs), {})

    def _fare_of_leg(self, place: int, leg: Row) -> Any:
        if self.is_irregular and self.picked is None and place < len(self.old_segments):
            return self.old_segments[place].get("fare_paid")
        if self.is_irregular and self.picked is not None and len(self.new["segments"]) == 1:
            return self.picked.get("fare_paid")
        return leg.get("fares", {}).get(self.target, 0)


class RebookFlightTool(EvaWriteTool[RebookParams]):
    """Books another journey in place of one that is booked, or of one leg of it."""

    description = (
        "Rebook a journey to another one, or with a flight number one leg of it. Seats are not taken over: "
        "assign one afterwards. Returns what it costs."
    )
    PARAMS_MODEL = RebookParams

    def run(self, params: RebookParams) -> Row:
        reservation = reservation_row(self.db, params.confirmation_number)
        change = self._checked(reservation, params)
        costs = _costs(change)
        replaced = _shown(change.picked, _SHOWN_OF_REPLACED) if change.picked is not None else None
        self._apply(reservation, change, params.journey_id)
        self._note(change, params)
        cabin = f" in {change.target}" if change.target != change.original else ""
        result: Row = {
            "status": "success",
            "confirmation_number": params.confirmation_number,
            "new_journey": _summary(change.new),
            "cost_summary": costs,
            "message": f"Successfully rebooked to flight {params.new_journey_id}{cabin}",
        }
        if replaced is not None:
            kept = [_shown(leg, _SHOWN_OF_KEPT) for leg in change.kept]
            result |= {"partial_rebook": True, "replaced_segment": replaced, "kept_segments": kept}
        return result

    def _checked(self, reservation: Row, params: RebookParams) -> _Rebooking:
        booking = booking_of(reservation, params.journey_id)
        new = journey_to_take(self.db, params.new_journey_id)
        if not new.get("bookable", True):
            raise refuse("not_bookable", f"Flight {params.new_journey_id} is not available for booking")
        place = picked_segment(booking, params.flight_number) if params.flight_number else None
        target = params.new_fare_class or str(booking.get("fare_class"))
        if (new.get("fares") or {}).get(target) is None:
            raise refuse(
                "fare_class_not_available",
                f"Fare class '{target}' is not available on flight {params.new_journey_id}",
            )
        if seats_left(new).get(target, 0) <= 0:
            raise refuse(
                "no_seats_available", f"No seats available in {target} on flight {params.new_journey_id}"
            )
        kind = params.rebooking_type
        return _Rebooking(booking, new, place, target, IRREGULAR in kind, params.waive_change_fee, kind)

    def _apply(self, reservation: Row, change: _Rebooking, journey_id: str) -> None:
        bookings = reservation["bookings"]
        added = [change.new_booking()]
        if change.picked is not None and change.kept:
            added.append(change.kept_booking())
        # The first of that journey, which need not be the one that was rebooked.
        next(b for b in bookings if b.get("journey_id") == journey_id)["status"] = CANCELLED
        for booking in added:
            bookings.append(booking)
        reservation["status"] = "changed"
        add_seats(change.new, change.target, -1)
        add_seats(journey_row(self.db, journey_id), change.original, 1)

    def _note(self, change: _Rebooking, params: RebookParams) -> None:
        replaced = {} if change.picked is None else {"replaced_flight_number": params.flight_number}
        self.note(
            confirmation_number=params.confirmation_number,
            old_journey_id=params.journey_id,
            new_journey_id=params.new_journey_id,
            rebooking_type=params.rebooking_type,
            original_fare_class=change.original,
            new_fare_class=change.target,
            change_fee=change.change_fee,
            fare_difference=change.difference,
            total_collected=change.total,
            partial_rebook=change.picked is not None,
            **replaced,
        )


def _costs(change: _Rebooking) -> Row:
    return {
        "original_fare_class": change.original,
        "new_fare_class": change.target,
        "cabin_changed": change.target != change.original,
        "change_fee": change.change_fee,
        "fare_difference": change.difference,
        "credit_due": max(0, -change.difference),
        "total_collected": change.total,
        "fee_waived": change.is_irregular or change.is_waived,
    }


def _summary(journey: Row) -> Row:
    segments = journey["segments"]
    return {
        "journey_id": journey["journey_id"],
        "num_stops": journey.get("num_stops"),
        "segments": segments,
        "departure": segments[0].get("scheduled_departure"),
        "arrival": segments[-1].get("scheduled_arrival"),
        "origin": journey.get("origin"),
        "destination": journey.get("destination"),
    }


def _shown(leg: Row, keys: tuple[str, ...]) -> Row:
    return {key: leg.get(key) for key in keys}


def _paid(leg: Row) -> float:
    return leg.get("fare_paid") or 0
