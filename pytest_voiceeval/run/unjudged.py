"""Signals that count, that only a judge could give, and for which there was none."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from pytest_voiceeval.model.judgement import NO_JUDGE
from pytest_voiceeval.model.metrics import Scores

UNJUDGED = "unjudged"


def unjudged_signals(scores: Scores) -> list[str]:
    """Return the keys of the whitelisted signals that nobody judged."""
    keys = scores.breakdown.not_applicable
    return [r.signal.value for r in scores.results if r.explanation == NO_JUDGE and r.signal.value in keys]


def unjudged_line(records: Iterable[Mapping[str, Any]]) -> str:
    """Return in how many scenarios nobody judged what counts; empty if in none.

    Args:
        records: what ``metrics.json`` of each scenario holds.
    """
    unjudged = [signals for record in records if (signals := record.get(UNJUDGED))]
    if not unjudged:
        return ""
    names = ", ".join(sorted({str(signal) for signals in unjudged for signal in signals}))
    return f"not judged in {len(unjudged)} scenario(s): {names}; {NO_JUDGE}"
