"""The metrics of a call that was held before, from its files."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pytest_voiceeval.model.metrics import Breakdown, Metrics, Scores, SignalResult, Verdict
from pytest_voiceeval.model.signals import SuccessSignal
from pytest_voiceeval.run.evidence import RULE, TRANSCRIPT
from pytest_voiceeval.run.readable import readable

KEYS = {
    SuccessSignal.ACTION_MATCH: "is_action_match",
    SuccessSignal.DB_STATE_MATCH: "db_state_match",
    SuccessSignal.DB_STATE_ASSERTION: "db_state_assertion_pass_rate",
    SuccessSignal.NL_ASSERTION: "nl_assertion_pass_rate",
    SuccessSignal.JUDGE_PASSED: "judge_passed",
    SuccessSignal.CLEAN_EXIT: "clean_exit",
}
"""The key of ``metrics.json`` that holds a signal's value."""

JUDGED = (SuccessSignal.NL_ASSERTION, SuccessSignal.JUDGE_PASSED)

ALWAYS: dict[str, Any] = {
    "total_turns": 0,
    "duration_seconds": 0.0,
    "turns": [],
    "latency_stats": {"count": 0, "mean_ms": None},
    "latencies": [],
    "stop_reason": "?",
}
"""Keys that every file has, and what stands for one that lacks them."""


def restored_metrics(content: Mapping[str, Any], folder: Path) -> Metrics:
    """Return the metrics that ``metrics.json`` in ``folder`` holds, with all that reports tell of them."""
    full = ALWAYS | readable(content) | {"scenario_directory": str(folder)}
    name = str(full.get("scenario_name") or folder.name)
    results = tuple(_result(signal, full) for signal in SuccessSignal)
    scores = Scores(_verdict(full), results, _breakdown(full.get("success_breakdown")))
    return Metrics(name, scores, str(folder), full)


def restored_transcript(folder: Path) -> str:
    """Return the turns of a call as its transcript tells them; empty if there is none."""
    try:
        text = (folder / TRANSCRIPT).read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
    parts = text.split(f"{RULE}\n")
    return parts[2].strip("\n") if len(parts) > 2 else ""


def _result(signal: SuccessSignal, content: Mapping[str, Any]) -> SignalResult:
    value = content.get(KEYS[signal])
    passed = value if isinstance(value, bool) else None
    if isinstance(value, int | float):
        passed = value >= 1.0
    explanations = content.get("explanations")
    explanation = explanations.get(signal.value) if isinstance(explanations, Mapping) else None
    broke = passed is None and signal in JUDGED and not explanation
    error = str(content.get("judge_error") or "") if broke else ""
    return SignalResult(signal, passed, value, str(explanation or ""), error)


def _verdict(content: Mapping[str, Any]) -> Verdict:
    if content.get("verdict") in list(Verdict):
        return Verdict(content["verdict"])
    success = content.get("is_successful")
    if not isinstance(success, bool):
        return Verdict.NOT_APPLICABLE
    return Verdict.PASSED if success else Verdict.FAILED


def _breakdown(given: object) -> Breakdown:
    lists = given if isinstance(given, Mapping) else {}
    keys = ("passed", "failed", "not_applicable", "excluded", "error")
    return Breakdown(**{key: tuple(map(str, lists.get(key) or ())) for key in keys})
