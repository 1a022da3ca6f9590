"""What kind of agent a call was held with, as ``metrics.json`` tells it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

AGENT_MODE = "agent_mode"
"""Key of ``metrics.json``, our addition: whether the agent was evaluated from inside, or a black box."""

AGENT_PROTOCOL = "agent_protocol"
"""Key of ``metrics.json``, our addition: what the agent spoke over its connection."""

RECOGNISED_BY = "agent_mode_reason"
"""Key of ``metrics.json``, our addition: by what an agent was found out to be a black box, if by anything."""

EVALUATED = "evaluated"
BLACK_BOX = "black-box"

SHOWN = 3
"""How many scenarios are named in one line."""


def black_box_text(record: Mapping[str, Any]) -> str:
    """Return that the agent of a call was a black box, for a person; empty if it was none."""
    if record.get(AGENT_MODE) != BLACK_BOX:
        return ""
    reason = record.get(RECOGNISED_BY)
    return (
        f"the agent was a black box ({record.get(AGENT_PROTOCOL, 'protocol unknown')}): its prompt, tools "
        "and world were its own" + (f"; it was taken for one because of {reason}" if reason else "")
    )


def mixed_modes_line(records: Iterable[Mapping[str, Any]]) -> str:
    """Return that the agent was found to be a black box in some scenarios only; empty if it was not.

    Each process finds out for itself what its bots are, and so does each start of a run: an agent that
    takes a scenario in one, and refuses its first one in another, is scored by more here than there. Where
    a setting or a fixture says what it is, nothing is found out.

    Args:
        records: what ``metrics.json`` of each scenario holds.
    """
    listed = list(records)
    found = sorted(str(r.get("scenario_name")) for r in listed if r.get(RECOGNISED_BY))
    others = sum(r.get(AGENT_MODE) == EVALUATED for r in listed)
    if not found or not others:
        return ""
    names = ", ".join(found[:SHOWN]) + (f" and {len(found) - SHOWN} more" if len(found) > SHOWN else "")
    return (
        f"the agent was taken for a black box in {len(found)} scenario(s) ({names}) and evaluated in "
        f"{others}: these verdicts do not compare; say which it is with --voice-agent-mode=evaluated or "
        "black-box"
    )


def black_box_line(records: Iterable[Mapping[str, Any]]) -> str:
    """Return in how many scenarios the agent was a black box; empty if in none.

    Args:
        records: what ``metrics.json`` of each scenario holds.
    """
    found = [record for record in records if record.get(AGENT_MODE) == BLACK_BOX]
    if not found:
        return ""
    protocols = ", ".join(sorted({str(record.get(AGENT_PROTOCOL)) for record in found}))
    return (
        f"black box in {len(found)} scenario(s) ({protocols}): the agent was only called; signals that need "
        "its inside do not apply"
    )
