"""The metrics of a scenario as reports read them, whoever wrote the file and whatever is missing in it."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

EXACT = 2**53
"""Whole numbers up to this size stay whole; a longer one is a float, of which sums can be taken."""

NUMBERS = (
    *("total_turns", "scenario_duration", "duration_seconds", "judge_score", "judge_spread"),
    *("nl_assertion_pass_rate", "db_state_assertion_pass_rate"),
)
UNKNOWN = "?"


def readable(metrics: Mapping[str, Any]) -> dict[str, Any]:
    """Return what ``metrics.json`` holds, without what is not of the type that its key must have.

    Keys that reports only show stay as they are. An entry of a list that tells nothing is left out of it;
    one of which only a part is missing has an empty text or a question mark there.
    """
    found = {}
    for key, value in metrics.items():
        read = value if key not in _READERS else _READERS[key](value)
        if key not in _READERS or read is not None:
            found[key] = read
    return found


def number(value: object) -> float | int | None:
    """Return a finite number that arithmetic can be done with; ``None`` of anything else."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    if isinstance(value, int) and abs(value) <= EXACT:
        return value
    try:
        real = float(value)
    except OverflowError:
        return None
    return real if math.isfinite(real) else None


def _numbers(value: object) -> dict[str, float | int] | None:
    if not isinstance(value, Mapping):
        return None
    return {key: read for key, inner in value.items() if (read := number(inner)) is not None}


def _statistics(value: object) -> dict[str, float | int | None] | None:
    """Return numbers, and ``None`` where nothing was measured."""
    if not isinstance(value, Mapping):
        return None
    return {key: number(inner) for key, inner in value.items() if inner is None or number(inner) is not None}


def _entries(value: object) -> list[dict[str, Any]]:
    entries = value if isinstance(value, list | tuple) else ()
    return [dict(entry) for entry in entries if isinstance(entry, Mapping)]


def _texts(value: object) -> list[str]:
    return [str(inner) for inner in value] if isinstance(value, list | tuple) else []


def _latencies(value: object) -> list[dict[str, Any]]:
    found = []
    for entry in _entries(value):
        milliseconds = number(entry.get("latency_ms"))
        if milliseconds is None:
            continue
        parts = _numbers(entry.pop("parts_ms", None))
        texts = {"user_transcript": "", "agent_transcript": ""}
        split = {} if parts is None else {"parts_ms": parts}
        found.append(texts | entry | {"latency_ms": milliseconds} | split)
    return found


def _turns(value: object) -> list[dict[str, Any]]:
    return [
        entry
        for entry in _entries(value)
        if isinstance(entry.get("role"), str) and isinstance(entry.get("text"), str)
    ]


def _attempts(value: object) -> list[dict[str, Any]]:
    """Return attempts, each with its number and with the name of a folder that lies beside the scenario's."""
    found = [{"attempt": UNKNOWN, "directory": UNKNOWN} | entry for entry in _entries(value)]
    for entry in found:
        name = entry["directory"]
        if not isinstance(name, str) or not name or Path(name).name != name:
            entry["directory"] = UNKNOWN
    return found


def _tool_errors(value: object) -> list[dict[str, Any]]:
    return [{"tool": UNKNOWN} | entry for entry in _entries(value) if isinstance(entry.get("answer"), str)]


def _texts_by_key(value: object) -> dict[str, list[str]] | None:
    """Return lists of texts, as the breakdown of signals and the errors that bots reported."""
    if not isinstance(value, Mapping):
        return None
    return {key: _texts(inner) for key, inner in value.items()}


def _mapping(value: object) -> Mapping[str, Any] | None:
    return value if isinstance(value, Mapping) else None


_READERS: dict[str, Callable[[object], object]] = {
    **dict.fromkeys(NUMBERS, number),
    "latency_stats": _statistics,
    "latencies": _latencies,
    "turns": _turns,
    "attempts": _attempts,
    "success_breakdown": _texts_by_key,
    "reported_errors": _texts_by_key,
    "pull_errors": _mapping,
    "tool_errors": _tool_errors,
    "unjudged": _texts,
}
