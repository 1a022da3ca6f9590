"""The golden cases that lie beside the repository: reading them, and one runner for each function.

A runner takes a case's input and returns what the function under test makes of it. Add a runner
here, and a test that asks for its cases.
"""

from __future__ import annotations

import copy
import json
import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from pytest_voiceeval.model.conversation import StopReason
from pytest_voiceeval.scenarios.base import Scenario
from pytest_voiceeval.scoring.conversation_end import conversation_end, evaluate_conversation_end
from pytest_voiceeval.scoring.db_state import evaluate_db_state_assertion
from pytest_voiceeval.scoring.match import (
    MatchRules,
    check_if_task_success,
    match_action,
    match_dict,
    match_item,
    match_list,
    match_str_and_float,
    normalize_scenario_payload,
)
from pytest_voiceeval.world.diff import compute_db_diff
from pytest_voiceeval.world.hashing import get_dict_hash, normalize_for_comparison

SHARED = Path(__file__).parents[2] / "shared"
SCORING_CASES = SHARED / "golden" / "scoring_cases.jsonl"

VERDICT_FIELDS = ("passed", "actual", "expected")


@dataclass(frozen=True)
class Case:
    """One line of ``scoring_cases.jsonl``."""

    id: str
    function: str
    input: dict[str, Any]
    output: Any
    compare: str
    tags: tuple[str, ...] = ()


def cases(function: str) -> list[Any]:
    """Return the parameters for all cases of ``function``; one that skips where the files are absent."""
    if not SCORING_CASES.is_file():
        skip = pytest.mark.skip(reason=f"no golden files: {SCORING_CASES} is absent")
        return [pytest.param(None, id="absent", marks=skip)]
    found = [case for case in _read() if case.function == function]
    assert found, f"{SCORING_CASES} has no case of {function}"
    return [pytest.param(case, id=case.id) for case in found]


@cache
def _read() -> tuple[Case, ...]:
    lines = SCORING_CASES.read_text(encoding="utf-8").split("\n")
    records = [json.loads(line, object_hook=_float) for line in lines if line.strip()]
    return tuple(
        Case(r["id"], r["function"], r["input"], r["output"], r["compare"], tuple(r["tags"])) for r in records
    )


def _float(value: dict[str, Any]) -> Any:
    return float(value["$float"]) if value.keys() == {"$float"} else value


def assert_holds(case: Case, run: Callable[[dict[str, Any]], Any]) -> None:
    """Assert that ``run`` makes of the case's input what the case says, by its ``compare`` rule."""
    if case.compare == "raises_or_negative":
        _assert_raises_or_negative(case, run)
        return
    found = run(copy.deepcopy(case.input))
    if case.compare == "verdict_and_category":
        assert found == case.output, f"{case.tags}: {found!r} is not {case.output!r}"
    elif case.compare == "verdict":
        assert [found[key] for key in VERDICT_FIELDS] == [case.output[key] for key in VERDICT_FIELDS]
        assert (found["error"] is None) == (case.output["error"] is None), found["error"]
    elif case.compare == "exact":
        assert _same(found, case.output), f"{case.tags}: {found!r} is not {case.output!r}"
    else:
        raise AssertionError(f"{case.id}: no way to compare by {case.compare!r} yet")


def _assert_raises_or_negative(case: Case, run: Callable[[dict[str, Any]], Any]) -> None:
    try:
        found = run(copy.deepcopy(case.input))
    except Exception:
        return
    assert not found, f"{case.tags}: {found!r}"


def _same(left: Any, right: Any) -> bool:
    """Return whether two values are equal, kinds of numbers included; NaN equals itself here."""
    if type(left) is not type(right):
        return False
    if isinstance(left, dict):
        return left.keys() == right.keys() and all(_same(value, right[key]) for key, value in left.items())
    if isinstance(left, list):
        return len(left) == len(right) and all(map(_same, left, right))
    return left == right or (isinstance(left, float) and math.isnan(left) and math.isnan(right))


def _rules(given: dict[str, Any]) -> MatchRules:
    not_flags = ("reference", "prediction", "reference_text", "prediction_text")
    return MatchRules(**{key: value for key, value in given.items() if key not in not_flags})


def run_match_str_and_float(given: dict[str, Any]) -> bool:
    return match_str_and_float(given["reference"], given["prediction"], _rules(given))


def run_match_item(given: dict[str, Any]) -> bool:
    return match_item(given["reference"], given["prediction"], _rules(given))


def run_match_list(given: dict[str, Any]) -> bool:
    return match_list(given["reference"], given["prediction"], _rules(given))


def run_match_dict(given: dict[str, Any]) -> bool:
    return match_dict(given["reference"], given["prediction"], _rules(given))


def run_match_action(given: dict[str, Any]) -> bool:
    return match_action(given["reference"], given["prediction"])


def run_check_if_task_success(given: dict[str, Any]) -> bool:
    reference, prediction = json.loads(given["reference_text"]), json.loads(given["prediction_text"])
    return check_if_task_success(reference, prediction, _rules(given))


def run_normalize_scenario_payload(given: dict[str, Any]) -> Any:
    return normalize_scenario_payload(given["payload"])


def run_normalize_for_comparison(given: dict[str, Any]) -> Any:
    return normalize_for_comparison(given["value"])


def run_get_dict_hash(given: dict[str, Any]) -> str:
    return get_dict_hash(given["db"])


def run_compute_db_diff(given: dict[str, Any]) -> dict[str, Any]:
    return compute_db_diff(given["expected"], given["actual"])


def run_compute_is_successful(given: dict[str, Any]) -> Any:
    scenario = type("Judged", (Scenario,), {"name": "judged", "success_signals": given["success_signals"]})
    return scenario().compute_is_successful(given["signals"])


STOPS = {
    "agent_end_tool": StopReason.EXIT,
    "max_duration": StopReason.TIMEOUT,
    "inactivity": StopReason.INACTIVITY,
}


def run_evaluate_conversation_end(given: dict[str, Any]) -> dict[str, Any]:
    facts = (STOPS[given["stop"]].value, given["turns"], given["simulator_end_reported"])
    end = conversation_end(given["policy"], *facts)
    assert evaluate_conversation_end(given["policy"], *facts) == (end.is_valid, end.evidence)
    return {"valid": end.is_valid, "category": end.cause and end.cause.value}


def run_evaluate_db_state_assertion(given: dict[str, Any]) -> dict[str, Any]:
    return evaluate_db_state_assertion(
        given["assertion"],
        domain=given["domain"],
        db=_edited_db(given["db"]),
        user_db=_edited_db(given["user_db"]),
    )


def _edited_db(given: dict[str, Any] | None) -> dict[str, Any] | None:
    """Return the database of a ``base`` file with the ``set`` edits, each a path and a value."""
    if given is None:
        return None
    db: dict[str, Any] = json.loads((SHARED / "data" / given["base"]).read_text(encoding="utf-8"))
    for path, value in given["set"]:
        target: Any = db
        for step in path[:-1]:
            target = target[step]
        target[path[-1]] = value
    return db
