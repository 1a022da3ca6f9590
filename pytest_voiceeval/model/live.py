"""What is told of a call while it goes on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from pytest_voiceeval.model.turns import Side


@dataclass(frozen=True)
class LiveTurn:
    """Something that was said.

    Attributes:
        scenario: whose call it is.
        speaker: who said it.
        at: seconds since the call began.
        text: as the bot told it.
    """

    scenario: str
    speaker: Side
    at: float
    text: str


OnTurn = Callable[[LiveTurn], object]
