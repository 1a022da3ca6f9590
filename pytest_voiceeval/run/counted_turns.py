"""Which turns of a call count: ``total_turns`` and all that is decided by it."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pytest_voiceeval.model.conversation import Conversation
    from pytest_voiceeval.model.turns import Turn

OPEN_END_SECONDS = 0.5
"""The call ended within a turn that was cut off, if the sound of it ends no earlier before the end."""


def counted_turns(conversation: Conversation) -> list[Turn]:
    """Return the turns that came to an end: all but those in which the call ended.

    A turn that was interrupted and stopped came to an end: after it the other side was heard, or nobody.
    """
    turns = conversation.turns
    last = {turn.speaker: turn for turn in turns}
    ended_by = conversation.duration_seconds - OPEN_END_SECONDS

    def is_open(turn: Turn) -> bool:
        if turn.end == turn.start:  # nothing of it was heard
            return True
        return turn.end >= ended_by and all(turn.end + OPEN_END_SECONDS >= other.end for other in turns)

    return [turn for turn in turns if not (turn.cut_off and turn is last[turn.speaker] and is_open(turn))]
