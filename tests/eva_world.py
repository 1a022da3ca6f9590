"""A small world in the shape of eva's airline database, made up for tests."""

from __future__ import annotations

from typing import Any

Row = dict[str, Any]

FARES = {
    "basic_economy": 100.0,
    "main_cabin": 200.0,
    "premium_economy": None,
    "business": 900.0,
    "first": None,
}
SEATS = {"basic_economy": 0, "main_cabin": 2, "premium_economy": 1, "business": 1, "first": 0}
ALL = ["window", "aisle", "middle"]


def leg(number: str, origin: str, destination: str, leaves: str, **changes: Any) -> Row:
    """Return a leg of a journey."""
    return {
        "segment_number": 1,
        "flight_number": number,
        "origin": origin,
        "destination": destination,
        "scheduled_departure": leaves,
        "scheduled_arrival": f"{int(leaves[:2]) + 2:02}{leaves[2:]}",
        "status": "scheduled",
        "available_seats": dict(SEATS),
        "fares": dict(FARES),
        "available_seat_types": {"main_cabin": ["aisle"], "business": list(ALL)},
        **changes,
    }


def journey(day: str, *legs: Row, status: str = "scheduled", bookable: bool = True, **changes: Any) -> Row:
    """Return a journey on ``day`` of May 2026."""
    numbers = "_".join(row["flight_number"] for row in legs)
    return {
        "journey_id": f"FL_{numbers}_202605{day}",
        "date": f"2026-05-{day}",
        "origin": legs[0]["origin"],
        "destination": legs[-1]["destination"],
        "num_stops": len(legs) - 1,
        "total_duration_minutes": 120 * len(legs),
        "status": status,
        "bookable": bookable,
        "fares": dict(FARES),
        "segments": list(legs),
        **changes,
    }


def booked(row: Row, fare_class: str = "main_cabin", fare: float = 180.0, **of_leg: Any) -> Row:
    """Return the booking of a journey."""
    share = fare / len(row["segments"])
    return {
        "journey_id": row["journey_id"],
        "fare_class": fare_class,
        "fare_paid": fare,
        "status": "confirmed",
        "segments": [
            {
                "flight_number": part["flight_number"],
                "date": row["date"],
                "fare_paid": share,
                "seat": "22C",
                "bags_checked": 1,
                "meal_request": "vegan",
                **of_leg,
            }
            for part in row["segments"]
        ],
    }


def eva() -> Row:
    """Return an airline with one reservation of two journeys, and some journeys to change to."""
    home = journey("12", leg("SK200", "DEN", "SFO", "09:00"))
    via = journey("10", leg("SK101", "SFO", "SLC", "08:00"), leg("SK102", "SLC", "DEN", "12:00"))
    others = [
        journey("10", leg("SK300", "SFO", "DEN", "15:00")),
        journey("10", leg("SK310", "SFO", "DEN", "07:00"), fares=FARES | {"main_cabin": 150.0}),
        journey("10", leg("SK320", "SFO", "DEN", "06:00"), status="cancelled"),
        journey("10", leg("SK330", "SFO", "DEN", "05:00"), bookable=False),
        journey("10", leg("SK340", "SLC", "DEN", "16:00")),
        journey("10", leg("SK350", "SFO", "LAX", "10:00"), leg("SK351", "LAX", "DEN", "14:00")),
    ]
    reservation = {
        "confirmation_number": "ABC123",
        "status": "confirmed",
        "booking_date": "2026-01-02",
        "passengers": [{"passenger_id": "PAX001", "first_name": "Ada", "last_name": "Byron"}],
        "bookings": [booked(home), booked(via, fare=240.0)],
        "fare_type": "non_refundable",
        "ancillaries": {"seat_selection_fee": 0.0, "bags_fee": 0.0},
    }
    return {
        "_current_date": "2026-05-09",
        "reservations": {"ABC123": reservation},
        "journeys": {row["journey_id"]: row for row in (home, via, *others)},
        "disruptions": {"SK101_2026-05-10": {"flight_number": "SK101", "date": "2026-05-10"}},
        "travel_credits": {},
        "meal_vouchers": {},
        "refunds": {},
    }
