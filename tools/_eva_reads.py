"""The tools of eva's airline that only look things up."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pydantic import Field

from ._eva_params import (
    FARE_CLASSES,
    Airport,
    ConfirmationNumber,
    Date,
    EvaParams,
    EvaTool,
    FareClassOrAny,
    FlightNumber,
    refuse,
)
from ._eva_rows import Row, journey_row, reservation_row, seats_left

ANY = "any"
_FLYING = ("scheduled", "on_time", "delayed")
_SHOWN = ("journey_id", "origin", "destination", "num_stops", "total_duration_minutes", "segments")


class ReservationParams(EvaParams):
    """Parameters of a question for a reservation."""

    confirmation_number: ConfirmationNumber
    last_name: str = Field(description="Last name of a passenger, which proves who is calling.")


class FlightStatusParams(EvaParams):
    """Parameters of a question for the status of a flight."""

    flight_number: FlightNumber
    flight_date: Date


class DisruptionParams(EvaParams):
    """Parameters of a question for a disruption."""

    flight_number: FlightNumber
    date: Date


class SearchParams(EvaParams):
    """Parameters of a search."""

    origin: Airport
    destination: Airport
    date: Date
    passenger_count: int = Field(ge=1, description="How many people travel.")
    fare_class: FareClassOrAny = Field(description="Class with enough seats.")


class GetReservationTool(EvaTool[ReservationParams]):
    """Returns a reservation to somebody who knows a name in it."""

    description = "Look up a reservation: passengers, booked journeys with seats, bags and meals, and fees."
    PARAMS_MODEL = ReservationParams

    def run(self, params: ReservationParams) -> Row:
        reservation = reservation_row(self.db, params.confirmation_number)
        names = [str(p.get("last_name", "")).lower() for p in reservation.get("passengers", [])]
        if params.last_name and params.last_name.lower() not in names:
            raise refuse(
                "authentication_failed",
                f"Last name does not match reservation {params.confirmation_number}",
            )
        bookings = sorted(reservation.get("bookings", []), key=_departure)
        return {"status": "success", "reservation": {**reservation, "bookings": bookings}}


class GetFlightStatusTool(EvaTool[FlightStatusParams]):
    """Returns the journey that a flight is part of."""

    description = "Look up a flight on a day: its status, delay, gate, times, seats and fares."
    PARAMS_MODEL = FlightStatusParams

    def run(self, params: FlightStatusParams) -> Row:
        number, date = params.flight_number.upper(), params.flight_date
        journey = journey_row(self.db, f"FL_{number}_{date.replace('-', '')}")
        if journey is None:
            journey = next(self._with_flight(number, date), None)
        if journey is None:
            raise refuse("not_found", f"Flight {params.flight_number} not found for date {date}")
        return {"status": "success", "journey": journey}

    def _with_flight(self, number: str, date: str) -> Iterator[Row]:
        for journey in (self.db.get("journeys") or {}).values():
            flights = [segment.get("flight_number") for segment in journey.get("segments", [])]
            if journey.get("date") == date and number in flights:
                yield journey


class GetDisruptionInfoTool(EvaTool[DisruptionParams]):
    """Returns what is known of a disruption."""

    description = "Look up why a flight was disrupted, and what its passengers are entitled to."
    PARAMS_MODEL = DisruptionParams

    def run(self, params: DisruptionParams) -> Row:
        number = params.flight_number.upper()
        disruption = (self.db.get("disruptions") or {}).get(f"{number}_{params.date}")
        if disruption is None:
            raise refuse("not_found", f"No disruption info found for flight {number}")
        return {"status": "success", "disruption": disruption}


class SearchRebookingOptionsTool(EvaTool[SearchParams]):
    """Returns the journeys that can be booked, by departure."""

    description = "Search journeys that can be booked on a day, with seats and the fare of a class."
    PARAMS_MODEL = SearchParams

    def run(self, params: SearchParams) -> Row:
        options = [
            _option(journey, params.fare_class, params.passenger_count)
            for journey in (self.db.get("journeys") or {}).values()
            if _is_offered(journey, params)
        ]
        options.sort(key=lambda option: str(option["departure_time"]))
        count = len(options)
        return {
            "status": "success",
            "options": options,
            "count": count,
            "message": f"{count} flight(s) found",
        }


def _departure(booking: Row) -> tuple[str, str]:
    segments = booking.get("segments") or [{}]
    return str(segments[0].get("date", "")), str(booking.get("journey_id", ""))


def _is_offered(journey: Row, params: SearchParams) -> bool:
    wanted = (params.origin, params.destination, params.date)
    if tuple(journey.get(key) for key in ("origin", "destination", "date")) != wanted:
        return False
    if journey.get("status") not in _FLYING or not journey.get("bookable", False):
        return False
    seats = seats_left(journey)
    classes = seats if params.fare_class == ANY else [params.fare_class]
    return any(seats.get(fare_class, 0) >= params.passenger_count for fare_class in classes)


def _option(journey: Row, fare_class: str, count: int) -> dict[str, Any]:
    seats, segments = seats_left(journey), journey.get("segments") or [{}]
    return {
        **{key: journey.get(key) for key in _SHOWN},
        "departure_time": segments[0].get("scheduled_departure"),
        "arrival_time": segments[-1].get("scheduled_arrival"),
        "available_seats": {name: seats.get(name, 0) for name in FARE_CLASSES},
        "fare": _fare(journey, seats, fare_class, count),
    }


def _fare(journey: Row, seats: dict[str, int], fare_class: str, count: int) -> float | None:
    """Return the fare of a class; of any, the lowest fare that enough seats can be had for."""
    fares = journey.get("fares") or {}
    if fare_class != ANY:
        return fares.get(fare_class)
    open_classes = [name for name in FARE_CLASSES if seats.get(name, 0) >= count]
    return min((fares[name] for name in open_classes if fares.get(name) is not None), default=None)
