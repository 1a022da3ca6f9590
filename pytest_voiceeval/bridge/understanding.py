"""Words of an agent that tells none: those that the other side has understood."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping

from pytest_voiceeval.bridge.party import Party
from pytest_voiceeval.bridge.tape import Tape
from pytest_voiceeval.model.turns import AGENT, USER, Side

UNDERSTANDING_SECONDS = 5.0
"""How long a user may take to understand an agent's last words, when the call is over."""

LOOK_SECONDS = 0.02


async def until_understood(parties: Mapping[Side, Party], tape: Tape, *, now: Callable[[], float]) -> None:
    """Wait until the user has understood the last words of an agent that does not tell them itself.

    Meanwhile it must get silence: by that it knows that a speech is over. A user that never tells what it
    understands is not waited for.
    """
    agent, understood = tape.track(AGENT), tape.track(USER).understood
    tells_words = any(mark.kind == "text" for mark in agent.marks)
    if not parties[AGENT].is_black_box or tells_words or not agent.sounds or not understood:
        return
    limit = now() + UNDERSTANDING_SECONDS
    while now() < limit and not parties[USER].lost.done():
        if understood[-1].at >= agent.sounds[-1].end:
            return
        await asyncio.sleep(LOOK_SECONDS)
