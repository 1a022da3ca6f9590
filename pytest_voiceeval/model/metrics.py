"""What a scenario came to: signals, verdict, and the metrics of its call."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from pytest_voiceeval.model.signals import SuccessSignal


class Verdict(StrEnum):
    """The composite of the whitelisted signals."""

    PASSED = "passed"
    FAILED = "failed"
    NOT_APPLICABLE = "not_applicable"
    ERROR = "error"
    """A whitelisted signal could not be determined, by no fault of the agent."""


@dataclass(frozen=True)
class SignalResult:
    """One signal.

    Attributes:
        signal: which one.
        passed: the signal as a boolean; ``None`` if it does not apply.
        value: raw value for ``metrics.json`` (bool, rate, ``"N/A"``).
        explanation: for a person: expected beside found, line by line, where it failed; why it
            does not apply, where it does not.
        error: why it could not be determined, by no fault of the agent; then ``passed`` is ``None``.
    """

    signal: SuccessSignal
    passed: bool | None
    value: Any = None
    explanation: str = ""
    error: str = ""


@dataclass(frozen=True)
class Breakdown:
    """Signal keys by outcome, each list in the order of ``SuccessSignal``."""

    passed: tuple[str, ...] = ()
    failed: tuple[str, ...] = ()
    not_applicable: tuple[str, ...] = ()
    excluded: tuple[str, ...] = ()
    error: tuple[str, ...] = ()

    def to_json(self) -> dict[str, list[str]]:
        """Return the four lists of ``success_breakdown``, and ``error`` where there is one."""
        return {
            "passed": list(self.passed),
            "failed": list(self.failed),
            "not_applicable": list(self.not_applicable),
            "excluded": list(self.excluded),
            **({"error": list(self.error)} if self.error else {}),
        }


@dataclass(frozen=True)
class Scores:
    """What scoring found: one result for each signal that was looked at, and the composite."""

    verdict: Verdict
    results: tuple[SignalResult, ...]
    breakdown: Breakdown

    def result(self, signal: SuccessSignal) -> SignalResult | None:
        """Return the result of ``signal``; ``None`` if it was not looked at."""
        return next((r for r in self.results if r.signal is signal), None)


@dataclass(frozen=True)
class Metrics:
    """The metrics of one scenario: its scores, where its files are, and ``metrics.json``.

    ``json`` holds exactly what ``metrics.json`` holds (keys of the reference, in its order,
    then ours).
    """

    scenario_name: str
    scores: Scores
    scenario_directory: str
    json: Mapping[str, Any] = field(repr=False)

    @property
    def verdict(self) -> Verdict:
        """The composite verdict."""
        return self.scores.verdict

    @property
    def successful(self) -> bool:
        """True if every whitelisted signal that applies passed, and one does."""
        return self.scores.verdict is Verdict.PASSED


def percentile(values: Sequence[float], q: float) -> float | None:
    """Return the ``q`` quantile (0 to 1) by linear interpolation; ``None`` of no values.

    Source: Hyndman and Fan (1996), The American Statistician 50(4), definition 7.
    """
    if not values:
        return None
    ordered = sorted(values)
    place = q * (len(ordered) - 1)
    low = math.floor(place)
    high = math.ceil(place)
    return ordered[low] + (ordered[high] - ordered[low]) * (place - low)
