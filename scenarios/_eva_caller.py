"""How a passenger of eva's airline calls: persona, task, steps and guidelines, from the dataset."""

from __future__ import annotations

from collections.abc import Iterator

from pytest_voiceeval import Actions, Persona, Task

from ._eva_tasks import EvaTask
from ._voice_notes import SPELLING

ROLE = "passenger who phones an airline"
MOST_OF_DESCRIPTION = 200
MOST_OF_PERSONALITY = 300
MOST_NEGOTIATION = 3
MOST_EDGE_CASES = 5

_DIGITS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")


def description(task: EvaTask) -> str:
    """Return the goal in short: as many whole sentences as fit."""
    beginning = task.goal[:MOST_OF_DESCRIPTION]
    end = beginning.rfind(".")
    return beginning[: end + 1] if end >= 0 else beginning


def persona(task: EvaTask) -> Persona:
    """Return who calls."""
    return Persona(
        role=ROLE,
        name=task.caller,
        background=task.goal,
        personality=task.personality[:MOST_OF_PERSONALITY],
    )


def goal(task: EvaTask) -> Task:
    """Return what the passenger wants."""
    return Task(goal=task.goal)


def actions(task: EvaTask) -> Actions:
    """Return how the passenger goes about it."""
    opening = f'Greet the agent and say: "{task.opening}"' if task.opening else "Greet the agent."
    return Actions(
        instructions=[
            opening,
            "Give your confirmation number when you are asked for it.",
            "Give your last name when you are asked for it.",
            "Tell the details of your trip, and what you need of a solution, when you are asked for them.",
            "Of what you are offered, take only what meets every must-have. If nothing does, follow the "
            "failure path.",
            "Say thank you and goodbye once your matter is settled, or cannot be.",
        ],
        guidelines=list(_guidelines(task)),
    )


def spelled(code: str) -> str:
    """Return a code, and how it is spelled: ``JFK2 (spelled out as J, F, K, two)``."""
    letters = [
        _DIGITS[int(character)] if character in "0123456789" else character.upper()
        for character in code
        if character.isascii() and character.isalnum()
    ]
    return f"{code} (spelled out as {', '.join(letters)})"


def _guidelines(task: EvaTask) -> Iterator[str]:
    yield SPELLING
    yield from _identity(task)
    yield from _route(task)
    yield from (f"Must-have: {text}" for text in task.must_haves)
    yield from task.negotiation[:MOST_NEGOTIATION]
    yield from (f"Edge case: {text}" for text in task.edge_cases[:MOST_EDGE_CASES])
    if task.failure:
        yield f"Failure path: {task.failure}"
    if task.escalation:
        yield f"Escalation: {task.escalation}"


def _identity(task: EvaTask) -> Iterator[str]:
    facts = {
        "confirmation number": spelled(task.confirmation) if task.confirmation else "",
        "last name": task.last_name,
        "first name": task.first_name,
    }
    known = [f"your {what} is {fact}" for what, fact in facts.items() if fact]
    if known:
        yield f"For identification: {', '.join(known)}."


def _route(task: EvaTask) -> Iterator[str]:
    trip = task.trip
    if not (trip.origin and trip.destination):
        return
    parts = [f"from {spelled(trip.origin)} to {spelled(trip.destination)}"]
    if trip.date:
        parts.append(f"on {trip.date}")
    if trip.time:
        parts.append(f"departing at {trip.time}")
    if trip.flight:
        parts.append(f"flight {spelled(trip.flight)}")
    yield f"You are booked {', '.join(parts)}."
