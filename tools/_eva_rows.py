"""Rows of eva's airline database, and how its tools find them."""

from __future__ import annotations

from typing import Any

from ._eva_params import refuse

Row = dict[str, Any]

CANCELLED = "cancelled"


def reservation_row(db: Row, confirmation_number: str) -> Row:
    """Return a reservation by its number in upper case; raises ToolRefusal."""
    reservation = _table(db, "reservations").get(confirmation_number)
    if reservation is None:
        raise refuse("not_found", f"Reservation {confirmation_number} not found")
    return reservation  # type: ignore[no-any-return]  # a table holds rows


def journey_row(db: Row, journey_id: str) -> Row | None:
    """Return a journey, if there is one of that id."""
    return _table(db, "journeys").get(journey_id)


def journey_to_take(db: Row, journey_id: str) -> Row:
    """Return a journey; raises ToolRefusal."""
    journey = journey_row(db, journey_id)
    if journey is None:
        raise refuse("flight_not_found", f"Flight {journey_id} not found")
    return journey


def booking_of(reservation: Row, journey_id: str) -> Row:
    """Return the booking of a journey, if possible one that is not cancelled; raises ToolRefusal."""
    bookings = [b for b in reservation.get("bookings", []) if b.get("journey_id") == journey_id]
    if not bookings:
        raise refuse("journey_not_found", f"Journey {journey_id} not found in reservation")
    return next((b for b in bookings if b.get("status") != CANCELLED), bookings[0])


def picked_segment(booking: Row, flight_number: str | None) -> int:
    """Return the place of the leg that is meant among the booking's legs; raises ToolRefusal."""
    journey_id, segments = booking["journey_id"], booking.get("segments", [])
    if flight_number is None:
        if len(segments) == 1:
            return 0
        raise refuse(
            "flight_number_required",
            f"Journey {journey_id} has {len(segments)} segments; flight_number is required",
        )
    for place, segment in enumerate(segments):
        if segment.get("flight_number") == flight_number:
            return place
    raise refuse("flight_not_found", f"Flight {flight_number} not found in journey {journey_id}")


def meant_segments(booking: Row, flight_number: str | None) -> list[Row]:
    """Return the leg that ``flight_number`` names, or all of them without one; raises ToolRefusal."""
    segments: list[Row] = booking.get("segments", [])
    return segments if flight_number is None else [segments[picked_segment(booking, flight_number)]]


def seats_left(journey: Row) -> dict[str, int]:
    """Return how many seats each class has on the whole journey: those of its fullest leg."""
    first, *others = [segment.get("available_seats", {}) for segment in journey.get("segments", [])] or [{}]
    return {
        fare_class: min([count, *(seats.get(fare_class, 0) for seats in others)])
        for fare_class, count in first.items()
    }


def add_seats(journey: Row | None, fare_class: str, count: int) -> None:
    """Add to the free seats of each leg of a journey, if there is one."""
    for segment in journey.get("segments", []) if journey is not None else []:
        seats = segment["available_seats"]
        seats[fare_class] = seats.get(fare_class, 0) + count


def _table(db: Row, name: str) -> Row:
    return db.get(name) or {}
