"""Who speaks first."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping

from pytest_voiceeval.bridge.party import Party
from pytest_voiceeval.bridge.tape import Tape
from pytest_voiceeval.model.turns import AGENT, USER, Side

KICKOFF = "Hello"
"""What is put to an agent that takes text as the user's first turn, so that it greets."""

GREETING_SECONDS = 5.0
"""How long any other agent, which is simply called, may be silent until the user is told to speak first."""

SPEAK_FIRST = (
    "(The call was answered, and nobody says anything. You speak first: greet, and say what you want.)"
)
"""What is put to the simulated user then."""


async def kick_off(agent: Party) -> None:
    """Have an agent greet, if it can be told to."""
    if not agent.is_black_box:
        await agent.send_text(KICKOFF)


async def see_to_start(parties: Mapping[Side, Party], tape: Tape, *, note: Callable[[str], None]) -> None:
    """Have the user speak first where an agent could not be told to greet, and does not by itself.

    Both sides would wait for each other until the call ends.
    """
    if not parties[AGENT].is_black_box:
        return
    await asyncio.sleep(GREETING_SECONDS)
    if not tape.track(AGENT).sounds:
        note(f"[USER] is told to speak first: the agent has said nothing for {GREETING_SECONDS:g} s")
        await parties[USER].send_text(SPEAK_FIRST)
