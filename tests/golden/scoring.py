"""Scoring cases: one runner for each function, which returns what the function makes of a case's input."""

from __future__ import annotations

import copy
import json
import tempfile
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

from pytest_voiceeval.model.stop_reason import StopReason
from pytest_voiceeval.run.aggregate import RunAggregator
from pytest_voiceeval.run.resume import classify_scenario_resume_state
from pytest_voiceeval.run.retries import auto_retry_reason
from pytest_voiceeval.scenarios.base import Scenario
from pytest_voiceeval.scoring import match
from pytest_voiceeval.scoring.conversation_end import conversation_end, evaluate_conversation_end
from pytest_voiceeval.scoring.db_state import evaluate_db_state_assertion
from pytest_voiceeval.tools.base import deliverable
from pytest_voiceeval.world.artifacts import load_db_artifact
from pytest_voiceeval.world.diff import compute_db_diff
from pytest_voiceeval.world.hashing import get_dict_hash, normalize_for_comparison

from .compare import difference, shown
from .files import Given, GoldenFileError

Runner = Callable[[Given], Any]

NOT_FLAGS = ("reference", "prediction", "reference_text", "prediction_text")


def scoring_fault(given: Given) -> str:
    """Return how a scoring case does not hold; empty if it holds.

    Raises:
        GoldenFileError: if the case is not in the form of one, or its function is unknown.
    """
    runner = RUNNERS.get(given["function"])
    if runner is None:
        raise GoldenFileError(
            f"no runner for function {given['function']!r}; there are: {', '.join(RUNNERS)}"
        )
    rule = given.get("compare", "exact")
    raised: Exception | None = None
    try:
        found = runner(Given(copy.deepcopy(given["input"])))
    except GoldenFileError:
        raise
    except Exception as exc:  # what it raises is an outcome
        raised = exc
    if rule == "raises_or_negative":
        return "" if raised or not found else f"{shown(found)} is not negative"
    if raised:
        if given.get("raises"):
            return ""
        return f"raised {type(raised).__name__}: {raised}"
    return difference(rule, found, given["output"])


def _rules(given: Given) -> match.MatchRules:
    return match.MatchRules(**{key: value for key, value in given.items() if key not in NOT_FLAGS})


def _matching(function: Callable[[Any, Any, match.MatchRules], bool]) -> Runner:
    return lambda given: function(given["reference"], given["prediction"], _rules(given))


def _check_if_task_success(given: Given) -> bool:
    reference, prediction = json.loads(given["reference_text"]), json.loads(given["prediction_text"])
    return match.check_if_task_success(reference, prediction, _rules(given))


def _compute_is_successful(given: Given) -> Any:
    members = {"name": "judged", "success_signals": given["success_signals"]}
    return type("Judged", (Scenario,), members)().compute_is_successful(given["signals"])


def _evaluate_db_state_assertion(given: Given) -> dict[str, Any]:
    return evaluate_db_state_assertion(
        given["assertion"],
        domain=given["domain"],
        db=_edited_db(given["db"]),
        user_db=_edited_db(given["user_db"]),
    )


STOPS = {
    "agent_end_tool": StopReason.EXIT,
    "max_duration": StopReason.TIMEOUT,
    "inactivity": StopReason.INACTIVITY,
    "agent_hangup": StopReason.AGENT_HANGUP,
    "user_hangup": StopReason.USER_HANGUP,
}
"""How a talk stopped, as cases say it, where the reference has no written form."""


def _evaluate_conversation_end(given: Given) -> dict[str, Any]:
    stop_reason = given.get("stop_reason") or STOPS.get(given["stop"], given["stop"])
    facts = (stop_reason, given["turns"], given["simulator_end_reported"])
    end = conversation_end(given["policy"], *facts)
    if evaluate_conversation_end(given["policy"], *facts) != (end.is_valid, end.evidence):
        raise AssertionError("conversation_end and evaluate_conversation_end differ")
    return {"valid": end.is_valid, "category": end.cause and end.cause.value}


def _auto_retry_reason(given: Given) -> dict[str, Any]:
    reason = auto_retry_reason(**given)
    categories = {"stale": "no_turns", "insufficient turns": "insufficient_turns"}
    return {
        "retry": reason is not None,
        "category": reason if reason is None else categories[reason.partition(":")[0]],
    }


def _classify_scenario_resume_state(given: Given) -> list[str]:
    with tempfile.TemporaryDirectory() as root:
        folder = Path(root) / "scenario"
        if given.get("exists", True):
            with_files(folder, given.get("files") or {})
        return list(classify_scenario_resume_state(folder, given.get("min_agent_turns") or 0))


def _edited_db(given: Any) -> dict[str, Any] | None:
    """Return the database of a ``base`` file with the ``set`` edits, each a path and a value."""
    if given is None:
        return None
    edited = Given(given)
    db = load_db_artifact(edited["base"])
    for path, value in edited["set"]:
        set_at(db, path, value)
    return db


def set_at(db: Any, path: list[Any], value: Any) -> None:
    """Set the value at a path of keys and indices; what holds it must be there."""
    for step in path[:-1]:
        db = db[step]
    db[path[-1]] = value


def _aggregated(given: Given) -> dict[str, Any]:
    aggregate = RunAggregator()
    with tempfile.TemporaryDirectory() as root:
        for number, step in enumerate(map(Given, given["sequence"])):
            folder = with_files(Path(root) / str(number), step.get("files") or {})
            metrics = {**step["metrics"], "scenario_directory": str(folder)}
            aggregate.add_scenario(metrics, step["domain"], step.get("min_agent_turns") or 0)
    return asdict(aggregate)


def with_files(folder: Path, files: dict[str, str]) -> Path:
    """Write ``files``, by their path in it, into ``folder`` and return that."""
    folder.mkdir(parents=True)
    for name, content in files.items():
        path = (folder / name).resolve()
        if not path.is_relative_to(folder.resolve()):
            raise GoldenFileError(f"file {name!r} does not lie in the folder")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content, encoding="utf-8")
    return folder


RUNNERS: dict[str, Runner] = {
    "match_str_and_float": _matching(match.match_str_and_float),
    "match_item": _matching(match.match_item),
    "match_list": _matching(match.match_list),
    "match_dict": _matching(match.match_dict),
    "match_action": lambda given: match.match_action(given["reference"], given["prediction"]),
    "check_if_task_success": _check_if_task_success,
    "normalize_scenario_payload": lambda given: match.normalize_scenario_payload(given["payload"]),
    "normalize_for_comparison": lambda given: normalize_for_comparison(given["value"]),
    "normalize_empty_result": lambda given: deliverable(given["result"]),
    "get_dict_hash": lambda given: get_dict_hash(given["db"]),
    "compute_db_diff": lambda given: compute_db_diff(given["expected"], given["actual"]),
    "compute_is_successful": _compute_is_successful,
    "auto_retry_reason": _auto_retry_reason,
    "classify_scenario_resume_state": _classify_scenario_resume_state,
    "evaluate_conversation_end": _evaluate_conversation_end,
    "evaluate_db_state_assertion": _evaluate_db_state_assertion,
    "RunAggregator.add_scenario": _aggregated,
}
