"""What goes along with a test report: plain texts and numbers, for JUnit XML and xdist."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from pytest_voiceeval.run.attempts import retried_attempts

if TYPE_CHECKING:
    from pytest_voiceeval.model.metrics import Metrics

Property = tuple[str, object]

SCENARIO = "voice_scenario"
ARTIFACTS = "voice_artifacts"
VERDICT = "voice_verdict"
ATTEMPTS = "voice_attempts"
"""How many calls were held; only where one was held again."""
RETRY_REASON = "voice_retry_reason"
"""Why the last call that does not count does not."""
CHANGED = "voice_changed"
"""What of a scenario is other now than when its result was made; only where that is from before."""
CALL_SECONDS = "voice_call_seconds"
"""Wall time from the beginning of a call to its end; only of calls that were held beside others.

pytest's own durations tell how long it waited for the call and scored it, not how long the call took.
"""
HELD_ALONE = "voice_held_alone"
"""Why a call was not held ahead of its turn beside others; only where some are."""
BROKEN = "voice_error"
"""Names the fixture in whose set-up the test ended."""


def properties(metrics: Metrics) -> list[Property]:
    """Return verdict, signals, latency, stop reason and folder; what was not measured is left out."""
    content = metrics.json
    found: list[Property] = [
        (SCENARIO, metrics.scenario_name),
        (ARTIFACTS, metrics.scenario_directory),
        (VERDICT, metrics.verdict.value),
    ]
    outcomes = {True: "passed", False: "failed", None: "not_applicable"}
    found += [
        (f"voice_{r.signal.value}", "error" if r.error else outcomes[r.passed])
        for r in metrics.scores.results
    ]
    found += [(f"voice_{key}", content[key]) for key in ("judge_score", "judge_error") if key in content]
    latency = content["latency_stats"].get("mean_ms")
    if latency is not None:
        found.append(("voice_latency_mean_ms", round(latency, 1)))
    found += [
        ("voice_stop_reason", content["stop_reason"]),
        ("voice_turns", content["total_turns"]),
        ("voice_duration_seconds", round(content["duration_seconds"], 3)),
    ]
    if retried := retried_attempts(content):
        found += attempts(len(retried) + 1, str(retried[-1]["retry_reason"]))
    return found


def attempts(number: int, reason: str) -> list[Property]:
    """Return that this attempt is held, and why the one before it does not count."""
    return [(ATTEMPTS, number), (RETRY_REASON, reason)]


def replaced(present: Iterable[Property], new: Sequence[Property]) -> list[Property]:
    """Return the properties with ``new`` ones in place of those of the same name."""
    names = {name for name, _ in new}
    return [*(pair for pair in present if pair[0] not in names), *new]


def look_up(present: Iterable[Property], name: str) -> object | None:
    """Return the value of a property; ``None`` if there is none."""
    return next((value for key, value in present if key == name), None)
