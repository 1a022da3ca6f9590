"""Turns of a conversation, and the silence between them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Literal

Side = Literal["user", "agent"]

USER: Side = "user"
AGENT: Side = "agent"
SIDES: tuple[Side, Side] = (USER, AGENT)


def other(side: Side) -> Side:
    """Return the side that ``side`` talks with."""
    return AGENT if side == USER else USER


WorkShare = Literal["recognition", "model", "synthesis"]

WORK_SHARES: tuple[WorkShare, ...] = ("recognition", "model", "synthesis")


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
        work: seconds that the speaker's bot reports to have worked on it, by kind of work: until the
            transcript of what it answers, until the model's first token (of all calls of the model), until
            the first sound; empty for a bot that reports nothing.
    """

    speaker: Side
    start: float
    end: float
    text: str = ""
    spoken_at: float | None = None
    cut_off: bool = False
    work: Mapping[WorkShare, float] = field(default_factory=dict)


@dataclass(frozen=True)
class ResponseLatency:
    """One agent answer: the silence between the end of the user's audio and the first of the agent's.

    ``seconds`` is measured at the bridge: last audible user sample sent to the agent, first audible
    agent sample received. It is below 0 where the agent spoke over the user.

    ``work`` splits it, as far as the agent's bot reports: ``recognition``, ``model``, ``synthesis``. What is
    left is turn-taking and transport.
    """

    seconds: float
    user_text: str
    agent_text: str
    work: Mapping[WorkShare, float] = field(default_factory=dict)

    @property
    def rest(self) -> float | None:
        """Seconds that no reported work accounts for; ``None`` if none is reported."""
        return self.seconds - sum(self.work.values()) if self.work else None


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
            latencies.append(ResponseLatency(heard - before.end, before.text, after.text, after.work))
    return latencies
