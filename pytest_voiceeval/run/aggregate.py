"""The rates of a run, folded from the metrics of its scenarios and from nothing else."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pytest_voiceeval.model.turns import SIDES
from pytest_voiceeval.run.agent_turns import has_too_few, task_successful
from pytest_voiceeval.run.files import read_json
from pytest_voiceeval.run.readable import number
from pytest_voiceeval.run.words import ERROR

TOKEN_KINDS = ("n_calls", "prompt", "completion")
BOOLEANS = {
    "is_action_match": "action_match",
    "judge_passed": "judge_pass",
    "db_state_match": "db_state",
    "clean_exit": "clean_exit",
}
"""Keys of ``metrics.json`` that are one result each, and their buckets."""


def domain_of(scenario_name: str) -> str:
    """Return the bucket of a scenario: its name before the first ``__``, or all of it."""
    return scenario_name.partition("__")[0]


def no_tokens() -> dict[str, dict[str, int]]:
    """Return token usage of zero for both sides."""
    return {side: dict.fromkeys(TOKEN_KINDS, 0) for side in ("agent", "user")}


def _passed(verdicts: object) -> list[bool]:
    """Return whether each of ``verdicts`` passed; what is no list of verdicts has none."""
    entries = verdicts if isinstance(verdicts, list) else []
    return [bool(entry.get("passed")) for entry in entries if isinstance(entry, Mapping)]


def _assertions(metrics: Mapping[str, Any]) -> list[bool]:
    """Return each natural-language assertion's verdict, from the judge's file."""
    folder = metrics.get("scenario_directory")
    judged = read_json(Path(str(folder)) / "judge_result.json") if folder else None
    return _passed(judged.get("nl_assertion_verdicts")) if isinstance(judged, Mapping) else []


def _results(metrics: Mapping[str, Any]) -> dict[str, list[Any]]:
    """Return what each bucket gets of a scenario: what is there, and of the type that it must be."""
    results: dict[str, list[Any]] = {}
    for key, bucket in BOOLEANS.items():
        results[bucket] = [metrics[key]] if isinstance(metrics.get(key), bool) else []
    if (score := number(metrics.get("judge_score"))) is not None:
        results["judge_score"] = [float(score)]
    if number(metrics.get("nl_assertion_pass_rate")) is not None:
        results["nl_assertion"] = _assertions(metrics)
    results["db_state_assertion"] = _passed(metrics.get("db_state_assertion_verdicts"))
    if isinstance(metrics.get("is_successful"), bool):
        results["success"] = [metrics["is_successful"]]
        results["task_success"] = [task_successful(metrics.get("success_breakdown"))]
    return results


def _counts(usage: object, side: str) -> dict[str, int]:
    """Return the counts of one side that are whole numbers, and none that is too long to print."""
    counts = usage.get(side) if isinstance(usage, Mapping) else None
    given = counts if isinstance(counts, Mapping) else {}
    found = {kind: value for kind in TOKEN_KINDS if isinstance(value := given.get(kind), int)}
    return {kind: value for kind, value in found.items() if number(int(value)) is not None}


@dataclass
class RunAggregator:
    """Buckets of results, for the run and for each domain.

    Scenarios count where a signal is one value; assertions count one by one. A scenario to which
    no signal applies counts nowhere.
    """

    success_results: list[bool] = field(default_factory=list)
    task_success_results: list[bool] = field(default_factory=list)
    action_match_results: list[bool] = field(default_factory=list)
    judge_score_results: list[float] = field(default_factory=list)
    judge_pass_results: list[bool] = field(default_factory=list)
    db_state_results: list[bool] = field(default_factory=list)
    nl_assertion_results: list[bool] = field(default_factory=list)
    db_state_assertion_results: list[bool] = field(default_factory=list)
    clean_exit_results: list[bool] = field(default_factory=list)
    insufficient_turns_skipped: list[str] = field(default_factory=list)
    per_domain_success: dict[str, list[bool]] = field(default_factory=dict)
    per_domain_task_success: dict[str, list[bool]] = field(default_factory=dict)
    per_domain_action_match: dict[str, list[bool]] = field(default_factory=dict)
    per_domain_judge_score: dict[str, list[float]] = field(default_factory=dict)
    per_domain_judge_pass: dict[str, list[bool]] = field(default_factory=dict)
    per_domain_db_state: dict[str, list[bool]] = field(default_factory=dict)
    per_domain_nl_assertion: dict[str, list[bool]] = field(default_factory=dict)
    per_domain_db_state_assertion: dict[str, list[bool]] = field(default_factory=dict)
    per_domain_clean_exit: dict[str, list[bool]] = field(default_factory=dict)
    run_token_usage: dict[str, dict[str, int]] = field(default_factory=no_tokens)

    def add_scenario(self, metrics: Mapping[str, Any], domain: str, min_agent_turns: int = 0) -> None:
        """Fold the metrics of one scenario in.

        Metrics that are not complete, or not as they must be, add what there is in them. A scenario whose
        agent answered fewer than ``min_agent_turns`` times counts as failed and in no other rate. One that
        came to an error, as the judge's, counts in no rate: its tokens were spent all the same.
        """
        if metrics.get("verdict") == ERROR:
            results: dict[str, list[Any]] = {}
        elif has_too_few(metrics, min_agent_turns):
            self.insufficient_turns_skipped.append(str(metrics.get("scenario_name", "?")))
            results = {"success": [False], "task_success": [False]}
        else:
            results = _results(metrics)
        for bucket, values in results.items():
            self._add(bucket, domain, values)
        for side in SIDES:
            for kind, count in _counts(metrics.get("token_usage"), side).items():
                self.run_token_usage[side][kind] += count

    def _add(self, bucket: str, domain: str, values: list[Any]) -> None:
        if values:
            getattr(self, f"{bucket}_results").extend(values)
            getattr(self, f"per_domain_{bucket}").setdefault(domain, []).extend(values)
