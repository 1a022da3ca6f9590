"""The rates of a run, folded from the metrics of its scenarios and from nothing else."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pytest_voiceeval.model.signals import SuccessSignal
from pytest_voiceeval.model.turns import AGENT, SIDES
from pytest_voiceeval.run.files import read_json

TOKEN_KINDS = ("n_calls", "prompt", "completion")


def domain_of(scenario_name: str) -> str:
    """Return the bucket of a scenario: its name before the first ``__``, or all of it."""
    return scenario_name.partition("__")[0]


def no_tokens() -> dict[str, dict[str, int]]:
    """Return token usage of zero for both sides."""
    return {side: dict.fromkeys(TOKEN_KINDS, 0) for side in ("agent", "user")}


def agent_model_calls(metrics: Mapping[str, Any]) -> int | None:
    """Return how often the agent's model answered; ``None`` if that is unknown.

    Taken from the token usage, else from the assistant messages of the saved context.
    """
    usage = metrics.get("token_usage")
    agent = usage.get(AGENT) if isinstance(usage, Mapping) else None
    calls: object = agent.get("n_calls") if isinstance(agent, Mapping) else None
    if isinstance(calls, int) and not isinstance(calls, bool):
        return calls
    folder = metrics.get("scenario_directory")
    context = read_json(Path(folder) / "bot_logs_agent" / "llm_context.json") if folder else None
    if not isinstance(context, list):
        return None
    answers = [e for e in context if isinstance(e, Mapping) and e.get("role") == "assistant"]
    return len(answers)


def task_successful(breakdown: Mapping[str, Any]) -> bool:
    """Return whether no signal but the clean exit failed."""
    return not set(breakdown.get("failed") or ()) - {SuccessSignal.CLEAN_EXIT.value}


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _assertions(metrics: Mapping[str, Any]) -> list[bool]:
    """Return each natural-language assertion's verdict, from the judge's file."""
    folder = metrics.get("scenario_directory")
    judged = read_json(Path(folder) / "judge_result.json") if folder else None
    verdicts = judged.get("nl_assertion_verdicts") if isinstance(judged, Mapping) else None
    return [bool(v.get("passed")) for v in verdicts or () if isinstance(v, Mapping)]


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

        A scenario whose agent answered fewer than ``min_agent_turns`` times counts as failed and
        in no other rate.
        """
        self._add_tokens(metrics.get("token_usage"))
        calls = agent_model_calls(metrics) if min_agent_turns > 0 else None
        if calls is not None and calls < min_agent_turns:
            self.insufficient_turns_skipped.append(str(metrics.get("scenario_name", "?")))
            self._add("success", domain, False)
            self._add("task_success", domain, False)
            return
        for key, bucket in (
            ("is_action_match", "action_match"),
            ("judge_passed", "judge_pass"),
            ("db_state_match", "db_state"),
            ("clean_exit", "clean_exit"),
        ):
            if isinstance(metrics.get(key), bool):
                self._add(bucket, domain, metrics[key])
        if _is_number(metrics.get("judge_score")):
            self._add("judge_score", domain, float(metrics["judge_score"]))
        if _is_number(metrics.get("nl_assertion_pass_rate")):
            self._add("nl_assertion", domain, *_assertions(metrics))
        verdicts = metrics.get("db_state_assertion_verdicts") or ()
        self._add("db_state_assertion", domain, *(bool(v.get("passed")) for v in verdicts))
        if isinstance(metrics.get("is_successful"), bool):
            self._add("success", domain, metrics["is_successful"])
            self._add("task_success", domain, task_successful(metrics.get("success_breakdown") or {}))

    def _add(self, bucket: str, domain: str, *values: Any) -> None:
        if values:
            getattr(self, f"{bucket}_results").extend(values)
            getattr(self, f"per_domain_{bucket}").setdefault(domain, []).extend(values)

    def _add_tokens(self, usage: object) -> None:
        for side in SIDES:
            counts = usage.get(side) if isinstance(usage, Mapping) else None
            if isinstance(counts, Mapping):
                for kind in TOKEN_KINDS:
                    self.run_token_usage[side][kind] += int(counts.get(kind) or 0)
