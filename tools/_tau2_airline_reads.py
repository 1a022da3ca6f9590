"""The airline's tools that only look things up."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from pytest_voiceeval.tools import CheckedTool, NoParams, Params, ToolRefusal

from ._tau2 import Row, success
from ._tau2_airline_rows import flight_row, reservation_row, user_row

AIRPORTS = {
    "SFO": "San Francisco",
    "JFK": "New York",
    "LAX": "Los Angeles",
    "ORD": "Chicago",
    "DFW": "Dallas",
    "DEN": "Denver",
    "SEA": "Seattle",
    "ATL": "Atlanta",
    "MIA": "Miami",
    "BOS": "Boston",
    "PHX": "Phoenix",
    "IAH": "Houston",
    "LAS": "Las Vegas",
    "MCO": "Orlando",
    "EWR": "Newark",
    "CLT": "Charlotte",
    "MSP": "Minneapolis",
    "DTW": "Detroit",
    "PHL": "Philadelphia",
    "LGA": "LaGuardia",
}
NEXT_DAY = "+1"
"""Behind a time of arrival that is on the day after the departure."""

_SHOWN_OF_FLIGHT = ("flight_number", "origin", "destination")
_SHOWN_TIMES = ("scheduled_departure_time_est", "scheduled_arrival_time_est")


class UserParams(Params):
    """Parameters of tools about a customer."""

    user_id: str = Field(description="Id of the customer, such as 'jane_doe_1234'.")


class ReservationParams(Params):
    """Parameters of tools about a reservation."""

    reservation_id: str = Field(description="Six letters and digits, such as 'A1B2C3'.")


class RouteParams(Params):
    """Parameters of searches."""

    origin: str = Field(description="Code of the airport of departure, such as 'JFK'.")
    destination: str = Field(description="Code of the airport of arrival, such as 'LAX'.")
    date: str = Field(description="Day of departure as YYYY-MM-DD.")


class FlightStatusParams(Params):
    """Parameters of a question for the status of a flight."""

    flight_number: str = Field(description="Flight number, such as 'HAT001'.")
    date: str = Field(description="Day of departure as YYYY-MM-DD.")


class GetUserDetailsTool(CheckedTool[UserParams]):
    """Returns a customer."""

    description = (
        "Look up a customer: name, address, membership, payment methods with their balances, saved "
        "passengers, and the ids of all reservations."
    )
    PARAMS_MODEL = UserParams

    def run(self, params: UserParams) -> Row:
        return user_row(self.db, params.user_id)


class GetReservationDetailsTool(CheckedTool[ReservationParams]):
    """Returns a reservation."""

    description = "Look up a reservation: flights, cabin, passengers, bags, insurance, and what was paid."
    PARAMS_MODEL = ReservationParams

    def run(self, params: ReservationParams) -> Row:
        return reservation_row(self.db, params.reservation_id)


class ListAllAirportsTool(CheckedTool[NoParams]):
    """Returns the airports."""

    description = "List all airports with their codes and cities."
    PARAMS_MODEL = NoParams
    NEEDS_DB = False

    def run(self, params: NoParams) -> Row:
        return success(airports=[{"iata": code, "city": city} for code, city in AIRPORTS.items()])


class SearchDirectFlightTool(CheckedTool[RouteParams]):
    """Returns the direct flights of a day."""

    description = "Search flights without a stop that can be booked on a day, with seats and prices by cabin."
    PARAMS_MODEL = RouteParams

    def run(self, params: RouteParams) -> Row:
        return success(flights=direct_flights(self.db, params.origin, params.destination, params.date))


class SearchOnestopFlightTool(CheckedTool[RouteParams]):
    """Returns the pairs of flights that make a journey."""

    description = "Search journeys of two flights that can be booked on a day, with seats and prices."
    PARAMS_MODEL = RouteParams

    def run(self, params: RouteParams) -> Row:
        pairs = [
            [{**first, "date": params.date}, {**second, "date": day}]
            for first in direct_flights(self.db, params.origin, None, params.date)
            for day in [_day_of_arrival(first, params.date)]
            for second in direct_flights(self.db, first["destination"], params.destination, day)
            # As texts: an arrival on the next day keeps its mark, which sorts behind the time alone.
            if second["scheduled_departure_time_est"] >= first["scheduled_arrival_time_est"]
        ]
        return success(onestop_flights=pairs)


class GetFlightStatusTool(CheckedTool[FlightStatusParams]):
    """Returns the status of a flight."""

    description = "Look up the status of a flight on a day, such as available, on time, delayed or cancelled."
    PARAMS_MODEL = FlightStatusParams

    def run(self, params: FlightStatusParams) -> Row:
        flight = flight_row(self.db, params.flight_number)
        if flight is None or params.date not in flight["dates"]:
            raise ToolRefusal("not_found", f"Flight {params.flight_number} not found on date {params.date}")
        return success(flight_status=flight["dates"][params.date]["status"])


def direct_flights(db: Row, origin: str, destination: str | None, date: str) -> list[dict[str, Any]]:
    """Return the flights that can be booked on a day; ``destination`` ``None`` stands for all."""
    return [
        {
            **{key: flight[key] for key in _SHOWN_OF_FLIGHT},
            "status": day["status"],
            **{key: flight[key] for key in _SHOWN_TIMES},
            "available_seats": day["available_seats"],
            "prices": day["prices"],
        }
        for flight in db["flights"].values()
        if flight["origin"] == origin and destination in (None, flight["destination"])
        for day in [flight["dates"].get(date)]
        if day is not None and day["status"] == "available"
    ]


def _day_of_arrival(flight: Row, date: str) -> str:
    """Return the day on which a flight that starts on ``date`` arrives; all flights are in May 2024."""
    if NEXT_DAY not in flight["scheduled_arrival_time_est"]:
        return date
    return f"2024-05-{int(date[-2:]) + 1}"
