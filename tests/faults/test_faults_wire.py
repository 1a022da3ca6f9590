"""Every row of the table of faults, held on virtual time."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from leftovers import leaving_no_task
from scripted_calls import call
from table import AGENTS, ELSEWHERE, SIMULATORS, Fault

from pytest_voiceeval.errors import BotError
from pytest_voiceeval.model.conversation import Conversation
from pytest_voiceeval.model.stop_reason import StopReason
from pytest_voiceeval.testing import VirtualClock


def held(fault: Fault) -> tuple[Conversation | BotError, float]:
    """Return what becomes of a call with the fault, and how long that takes on its clock."""

    async def timed() -> tuple[Conversation | BotError, float]:
        loop = asyncio.get_running_loop()
        begun = loop.time()
        try:
            found: Any = await call(fault.user(), fault.agent(), **fault.settings)
        except BotError as exc:
            found = exc
        return found, loop.time() - begun

    return VirtualClock().run(leaving_no_task(timed()))


def told(found: Conversation | BotError) -> str:
    """Return all that a person can read of it."""
    if isinstance(found, BotError):
        return str(found)
    return "\n".join([found.ending.cause, *found.ending.lines(), *found.events])


@pytest.mark.parametrize("fault", AGENTS, ids=lambda fault: fault.what)
def test_a_fault_of_the_agent_on_the_wire(fault: Fault) -> None:
    check(fault)


@pytest.mark.parametrize("fault", SIMULATORS, ids=lambda fault: fault.what)
def test_a_fault_of_the_simulated_user(fault: Fault) -> None:
    check(fault)


def check(fault: Fault) -> None:
    found, seconds = held(fault)
    text = told(found)
    if isinstance(fault.outcome, StopReason):
        assert isinstance(found, Conversation), text
        assert found.stop_reason is fault.outcome
        assert found.turns == () or found.recording.pcm
    else:
        assert type(found) is fault.outcome, text
    assert [words for words in fault.words if words not in text] == [], text
    assert seconds <= fault.within


def test_each_row_has_a_name_of_its_own_and_a_limit() -> None:
    for rows in (AGENTS, SIMULATORS):
        assert len({fault.what for fault in rows}) == len(rows)
        assert all(0 < fault.within <= 120 for fault in rows)


@pytest.mark.parametrize("place", sorted(set(ELSEWHERE.values())))
def test_what_the_table_names_elsewhere_is_there(place: str) -> None:
    path, name = place.split("::")
    source = (Path(__file__).parents[2] / path).read_text(encoding="utf-8")
    assert f"def {name}(" in source
