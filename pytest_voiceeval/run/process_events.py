"""What ``metrics.json`` tells of the processes behind the bots of a call."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from pytest_voiceeval.model.turns import SIDES, Side

if TYPE_CHECKING:
    from pytest_voiceeval.model.conversation import Conversation

PROCESSES = "bot_processes"
"""The key of ``metrics.json``."""


def processes_json(conversation: Conversation) -> dict[str, Any]:
    """Return what ``metrics.json`` holds of them: no key where nothing happened to them."""
    found = {side: _told(conversation, side) for side in SIDES}
    told = {side: events for side, events in found.items() if events}
    return {PROCESSES: told} if told else {}


def _told(conversation: Conversation, side: Side) -> dict[str, str]:
    evidence = conversation.side(side)
    events = {"restarted": evidence.restarted, "ended": evidence.ended}
    return {event: text for event, text in events.items() if text}


def process_events(record: Mapping[str, Any], event: str) -> dict[str, str]:
    """Return what is told of an event, ``restarted`` or ``ended``, for each side that had it."""
    sides = record.get(PROCESSES)
    told = sides if isinstance(sides, Mapping) else {}
    return {
        side: str(events[event])
        for side, events in told.items()
        if isinstance(events, Mapping) and event in events
    }


def restarts_line(records: Iterable[Mapping[str, Any]]) -> str:
    """Return before which scenarios a bot's process was started again; empty if before none.

    Args:
        records: what ``metrics.json`` of each scenario holds.
    """
    told = [
        f"{side} before {record.get('scenario_name')}"
        for record in records
        for side in process_events(record, "restarted")
    ]
    return f"processes of bots started again {len(told)} time(s): {', '.join(told)}" if told else ""
