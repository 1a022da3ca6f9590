"""Rehearsals of eva's scenarios: the caller says who they are and what they want, the agent does the play."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from pytest_voiceeval import Rehearsal, Say, Use

from ._eva_plays import PLAYS, uses
from ._eva_tasks import EvaTask
from ._spoken import utterances
from ._tau2_rehearsal import DONE, GO_ON, GOODBYE, REFUSED, WAITING, WORKING

GREETING = Say("Thank you for calling the airline. How can I help you today?")
WHO = Say("I will look into that. May I have your confirmation number and your last name?")
FOUND = Say("Thank you, I have found your reservation. What would you like me to do?")


def rehearse(task: EvaTask, db: dict[str, Any]) -> Rehearsal | None:
    """Return the rehearsal of a scenario on its database; ``None`` for one that there is no play for."""
    play = PLAYS.get(task.id)
    if play is None:
        return None
    [(number, reservation)] = db["reservations"].items()
    last_name = str(reservation["passengers"][0]["last_name"])
    opening = _says(task.opening or task.goal)
    identity = Say(f"My confirmation number is {' '.join(number)} and my last name is {last_name}.")
    wish = _says(task.goal)
    work = uses(play, number)
    lookup = Use("GetReservationTool", {"confirmation_number": number, "last_name": last_name}, writes=False)
    return Rehearsal(
        user=(*opening, identity, *wish, WAITING, GOODBYE),
        agent=(
            GREETING,
            *_go_on(opening),
            WHO,
            lookup,
            FOUND,
            *_go_on(wish),
            WORKING,
            *work,
            DONE if work else REFUSED,
            Use("EndConversationTool"),
        ),
    )


def _says(text: str) -> list[Say]:
    """Return a text of the dataset as the caller says it: amounts and times of day as they are spoken."""
    text = re.sub(r"\$(\d[\d,.]*\d|\d)", r"\1 dollars", text)
    text = re.sub(r"\b(\d{1,2}):00\b", r"\1", text)
    text = re.sub(r"\b(\d{1,2}):(\d\d)\b", r"\1 \2", text)
    return [Say(spoken) for spoken in utterances(text)]


def _go_on(spoken: Sequence[Say]) -> list[Say]:
    """Return what the agent says between these utterances of the caller."""
    return [GO_ON[number % len(GO_ON)] for number in range(len(spoken) - 1)]
