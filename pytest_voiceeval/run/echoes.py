"""A simulated user that says what the agent has said: a model that has lost its role."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

from pytest_voiceeval.model.conversation import Conversation
from pytest_voiceeval.model.turns import AGENT, USER, Turn

ECHOES = "simulator_echoes"
"""Key of ``metrics.json``, our addition, only where the caller repeated the agent: in how many turns."""

FEWEST_WORDS = 4
"""Who repeats fewer words may well mean it, as in "Good bye." or "That is right."."""

FEWEST_ECHOES = 2
"""A caller may read one answer back."""


def echoed_turns(turns: Sequence[Turn]) -> list[Turn]:
    """Return the user's turns that are, word by word, the agent's turn right before them."""
    return [
        turn
        for before, turn in pairwise(turns)
        if (before.speaker, turn.speaker) == (AGENT, USER)
        and len(_words(turn)) >= FEWEST_WORDS
        and _words(turn) == _words(before)
    ]


def echoing_caller(conversation: Conversation) -> str:
    """Return that the simulated user mostly repeated the agent, so that its call tells nothing of it."""
    said = [turn for turn in conversation.turns if turn.speaker == USER]
    echoes = echoed_turns(conversation.turns)
    if len(echoes) < FEWEST_ECHOES or len(echoes) * 2 < len(said):
        return ""
    return (
        f"{conversation.scenario_name}: the simulated user repeated the agent word by word in {len(echoes)} "
        f'of its {len(said)} turns, last in "{echoes[-1].text}"; see to the user bot: its model has lost its '
        "role"
    )


def _words(turn: Turn) -> list[str]:
    return re.findall(r"\w+", turn.text.casefold())
