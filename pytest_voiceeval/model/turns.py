"""Turns of a conversation, and the silence between them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

Side = Literal["user", "agent"]

USER: Side = "user"
AGENT: Side = "agent"
SIDES: tuple[Side, Side] = (USER, AGENT)


def other(side: Side) -> Side:
    """Return the side that ``side`` talks with."""
    return AGENT if side == USER else USER


@dataclass(frozen=True)
class Turn:
    """One side speaking.

    Attributes:
        speaker: who speaks.
        start: first audible sample, seconds from the start of the recording.
        end: end of the last audible sample, same scale.
        text: what the speaker's own speech synthesis was given; may be empty.
        spoken_at: seconds from the start of the recording at which the first audible sample
            *reached the bridge*; ``start`` is later by the depth of the jitter buffer.
        cut_off: the turn was interrupted, or the call ended within it.
    """

    speaker: Side
    start: float
    end: float
    text: str = ""
    spoken_at: float | None = None
    cut_off: bool = False


@dataclass(frozen=True)
class ResponseLatency:
    """One agent answer: the silence between the end of the user's audio and the first of the agent's.

    ``seconds`` is measured at the bridge: last audible user sample sent to the agent, first audible
    agent sample received. It is below 0 where the agent spoke over the user.
    """

    seconds: float
    user_text: str
    agent_text: str


def response_latencies(turns: Sequence[Turn]) -> list[ResponseLatency]:
    """Return one latency for each agent turn right after a user turn, in call order.

    A turn of which nothing could be heard has none.

    Raises:
        ValueError: if the turns are not sorted by start.

    Source: floor transfer offset, de Ruiter et al. (2006), Language 82(3).
    """
    latencies = []
    for before, after in pairwise(turns):
        if after.start < before.start:
            raise ValueError(f"turn at {after.start:.3f} s comes late; sort the turns by start")
        audible = before.end > before.start and after.end > after.start
        if (before.speaker, after.speaker) == (USER, AGENT) and audible:
            heard = after.start if after.spoken_at is None else after.spoken_at
            latencies.append(ResponseLatency(heard - before.end, before.text, after.text))
    return latencies
