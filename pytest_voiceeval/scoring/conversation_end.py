"""Whether a conversation came to a valid end, and by what."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from pytest_voiceeval.errors import DefinitionError
from pytest_voiceeval.model.stop_reason import StopReason
from pytest_voiceeval.model.turns import USER, Turn

QUOTED_CHARACTERS = 80


class ConversationEndPolicy(StrEnum):
    """Which ends of a conversation are valid."""

    TOOL_ONLY = "tool-only"
    """Only that the agent ends the call with its end tool."""
    VALID_TERMINAL_STATE = "valid-terminal-state"
    """Also that the simulator reports the end, or that nobody says anything after the user's last turn."""


class EndCause(StrEnum):
    """What made the end of a conversation valid."""

    AGENT_END_TOOL = "agent_end_tool"
    SIMULATOR_END = "simulator_end"
    INACTIVITY_AFTER_USER_TURN = "inactivity_after_user_turn"


@dataclass(frozen=True)
class ConversationEnd:
    """How a conversation ended.

    Attributes:
        cause: what makes the end valid; ``None`` if nothing does.
        evidence: the fact behind that, for a person.
    """

    cause: EndCause | None
    evidence: str

    @property
    def is_valid(self) -> bool:
        """Whether the policy allows such an end."""
        return self.cause is not None


_HOW_IT_ENDED: dict[str, str] = {
    StopReason.TIMEOUT: "the time limit was reached",
    StopReason.INACTIVITY: "nobody made a sound any more",
    StopReason.AGENT_HANGUP: "the agent's connection closed before that",
    StopReason.USER_HANGUP: "the simulated user went away",
    StopReason.CANCELLED: "the run was interrupted",
    StopReason.ERROR: "the call broke off by an error that is not the agent's",
}

Said = Turn | Mapping[str, Any]
"""A turn, or an entry of ``turns`` in ``metrics.json`` (``role``, ``text``)."""


def evaluate_conversation_end(
    policy: ConversationEndPolicy | str,
    stop_reason: StopReason | str | None,
    turns: Sequence[Said],
    simulator_end_reported: bool = False,
) -> tuple[bool, str]:
    """Return whether a conversation ended validly, and the concrete fact behind that.

    Args:
        policy: which ends are valid; a member of ``ConversationEndPolicy`` or its text.
        stop_reason: how the call ended; a member of ``StopReason``, its text, or ``None`` if unknown.
        turns: what was said, in order.
        simulator_end_reported: the simulated user said that it is done.

    Raises:
        DefinitionError: (a ``ValueError``) if there is no such policy.
    """
    end = conversation_end(policy, stop_reason, turns, simulator_end_reported)
    return end.is_valid, end.evidence


def conversation_end(
    policy: ConversationEndPolicy | str,
    stop_reason: StopReason | str | None,
    turns: Sequence[Said],
    simulator_end_reported: bool = False,
) -> ConversationEnd:
    """Return how a conversation ended; arguments and errors are those of ``evaluate_conversation_end``."""
    chosen = end_policy(policy)
    if stop_reason == StopReason.EXIT:
        text = f"the agent ended the call with its end tool (stop reason {StopReason.EXIT.value})"
        return ConversationEnd(EndCause.AGENT_END_TOOL, text)
    if chosen is ConversationEndPolicy.VALID_TERMINAL_STATE:
        if simulator_end_reported:
            text = f"the simulator reported the end of the conversation (stop reason {_shown(stop_reason)})"
            return ConversationEnd(EndCause.SIMULATOR_END, text)
        if stop_reason == StopReason.INACTIVITY and turns and _speaker(turns[-1]) == USER:
            text = f"inactivity timeout after the user's final turn, {_quoted(turns[-1])}"
            return ConversationEnd(EndCause.INACTIVITY_AFTER_USER_TURN, text)
    evidence = _why_not(chosen, stop_reason, turns)
    if simulator_end_reported:
        evidence += "; the simulator had reported the end"
    return ConversationEnd(None, evidence)


def end_policy(text: ConversationEndPolicy | str) -> ConversationEndPolicy:
    """Return the policy of that name.

    Raises:
        DefinitionError: (a ``ValueError``) if there is none.
    """
    try:
        return ConversationEndPolicy(text)
    except ValueError:
        known = ", ".join(ConversationEndPolicy)
        raise DefinitionError(f"no conversation-end policy {text!r}; choose one of: {known}") from None


def _why_not(policy: ConversationEndPolicy, stop_reason: str | None, turns: Sequence[Said]) -> str:
    expected = "expected the agent to end the call with its end tool"
    if policy is ConversationEndPolicy.VALID_TERMINAL_STATE:
        expected += ", the simulator to report the end, or silence after the user's final turn"
    how = _HOW_IT_ENDED.get(stop_reason or "", "")
    found = f"found stop reason {_shown(stop_reason)}" + (f": {how}" if how else "")
    if stop_reason == StopReason.INACTIVITY:
        found += f" after {_last(turns)}"
    return f"{expected}, {found}"


def _shown(stop_reason: str | None) -> str:
    return "unknown" if stop_reason is None else str(stop_reason)


def _last(turns: Sequence[Said]) -> str:
    if not turns:
        return "a call in which nobody spoke"
    return f"the {_speaker(turns[-1])}'s turn {_quoted(turns[-1])}"


def _speaker(turn: Said) -> str:
    return turn.speaker if isinstance(turn, Turn) else str(turn.get("role"))


def _quoted(turn: Said) -> str:
    text = turn.text if isinstance(turn, Turn) else str(turn.get("text") or "")
    words = " ".join(text.split())
    shortened = words if len(words) <= QUOTED_CHARACTERS else f"{words[: QUOTED_CHARACTERS - 2]} …"
    return f'"{shortened}"'
