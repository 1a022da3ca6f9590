"""Scenarios of eva's airline as they lie in its dataset: read, and checked as far as they are used."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ValidationError

from pytest_voiceeval import data_path

DOMAIN = "eva_airline"
DATASET = "eva_airline_dataset.jsonl"

CONFIRMATION_KEYS = (
    "confirmation_number",
    "confirmation_code",
    "Booking confirmation number",
    "Booking confirmation code",
    "Confirmation number",
    "Your confirmation number",
    "confirmation_code_if_eventually_provided",
)
LAST_NAME_KEYS = (
    "last_name",
    "passenger_last_name",
    "Passenger last name",
    "Your last name",
    "last_name_if_eventually_provided",
)
FIRST_NAME_KEYS = ("first_name", "first_name_if_asked", "first_name_if_requested", "Passenger first name")
FLIGHT_KEYS = ("original_flight_number", "flight_number")
"""Under which of its keys the dataset may have a fact, the first one first."""


class _Tree(BaseModel):
    must_have_criteria: list[str] = []
    negotiation_behavior: list[str] = []
    edge_cases: list[str] = []
    failure_condition: str = ""
    escalation_behavior: str = ""


class _Goal(BaseModel):
    high_level_user_goal: str
    starting_utterance: str = ""
    decision_tree: _Tree
    information_required: dict[str, Any] = {}


class _Caller(BaseModel):
    name: str
    user_persona: str = ""


class _Truth(BaseModel):
    expected_scenario_db: dict[str, Any]


class _Record(BaseModel):
    id: str
    current_date_time: str
    user_goal: _Goal
    user_config: _Caller
    ground_truth: _Truth


@dataclass(frozen=True)
class Trip:
    """What the caller has booked: airports, day and time of departure, flight; empty what is not known."""

    origin: str = ""
    destination: str = ""
    date: str = ""
    time: str = ""
    flight: str = ""


@dataclass(frozen=True)
class EvaTask:
    """One scenario of the dataset.

    Attributes:
        id: as in the dataset, such as 1.1.2; also the name of its database.
        date: day of the call, YYYY-MM-DD.
        goal: what the caller wants, told to the caller.
        opening: what the caller says first.
        caller, personality: who calls.
        confirmation, last_name, first_name: what the caller knows of the reservation; empty if nothing.
        trip: what the caller has booked.
        must_haves, negotiation, edge_cases, failure, escalation: how the caller decides.
        expected_db: the database after the call.
    """

    id: str
    date: str
    goal: str
    opening: str
    caller: str
    personality: str
    confirmation: str
    last_name: str
    first_name: str
    trip: Trip
    must_haves: list[str]
    negotiation: list[str]
    edge_cases: list[str]
    failure: str
    escalation: str
    expected_db: dict[str, Any]


def read_tasks() -> list[EvaTask]:
    """Return the scenarios of the dataset in its order.

    Raises:
        DataMissingError: if the data are not there.
        ValueError: if the file is there and is not as it must be.
    """
    return list(_tasks(data_path(DOMAIN, DATASET)))


def _tasks(path: Path) -> Iterator[EvaTask]:
    try:
        text = path.read_text(encoding="utf-8")
    except UnicodeDecodeError as exc:
        raise ValueError(f"{path}: {exc}") from None
    for number, line in enumerate(text.splitlines(), start=1):
        if line.strip():
            try:
                yield _task(_Record.model_validate(json.loads(line)))
            except ValidationError as exc:
                first = exc.errors(include_url=False)[0]
                where = ".".join(map(str, first["loc"]))
                raise ValueError(f"{path}:{number}: {where}: {first['msg']}") from None
            except ValueError as exc:
                raise ValueError(f"{path}:{number}: {exc}") from None


def _task(record: _Record) -> EvaTask:
    goal, caller = record.user_goal, record.user_config
    known, tree = goal.information_required, goal.decision_tree
    return EvaTask(
        id=record.id,
        date=record.current_date_time[:10],
        goal=goal.high_level_user_goal,
        opening=goal.starting_utterance,
        caller=caller.name,
        personality=caller.user_persona,
        confirmation=_first(known, CONFIRMATION_KEYS),
        last_name=_first(known, LAST_NAME_KEYS),
        first_name=_first(known, FIRST_NAME_KEYS),
        trip=_trip(known),
        must_haves=tree.must_have_criteria,
        negotiation=tree.negotiation_behavior,
        edge_cases=tree.edge_cases,
        failure=tree.failure_condition,
        escalation=tree.escalation_behavior,
        expected_db=record.ground_truth.expected_scenario_db,
    )


def _first(known: dict[str, Any], keys: tuple[str, ...]) -> str:
    return next((str(known[key]) for key in keys if known.get(key)), "")


def _trip(known: dict[str, Any]) -> Trip:
    details = known.get("original_travel_details")
    first = details[0] if isinstance(details, list) and details and isinstance(details[0], dict) else {}
    return Trip(
        origin=_first(first, ("origin",)),
        destination=_first(first, ("destination",)),
        date=_first(first, ("flight_date",)),
        time=_first(first, ("departure_time",)),
        flight=_first(known, FLIGHT_KEYS),
    )
