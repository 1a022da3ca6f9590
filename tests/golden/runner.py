"""Holding the cases of a file against the code."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from pytest_voiceeval.errors import VoiceEvalError
from pytest_voiceeval.scenarios.registry import list_eval_scenarios, scenario_domain
from pytest_voiceeval.tools.registry import list_schema_tools_for_eval

from .calls import call_fault
from .differences import EXCEPTIONS, NOT_BUILT
from .files import Case, Given, GoldenFileError, Kind
from .records import record_fault
from .scoring import RUNNERS, scoring_fault

RUNS: dict[str, Callable[[Given], str]] = {
    "scoring case": scoring_fault,
    "tool call": call_fault,
    "scenario record": record_fault,
}


@dataclass(frozen=True)
class Outcome:
    """What came of a case; ``reason`` says why it did not hold, was skipped, or may differ."""

    case: Case
    state: Literal["held", "failed", "skipped", "excepted"]
    reason: str = ""


def outcome(case: Case) -> Outcome:
    """Return what comes of ``case``. Whatever it raises makes it fail, and nothing else."""
    name = subject(case)
    if name in NOT_BUILT and not is_built(name, case.kind):
        return Outcome(case, "skipped", f"{name}: {NOT_BUILT[name]}")
    fault = _fault(case)
    if not fault:
        return Outcome(case, "held")
    if case.id in EXCEPTIONS:
        return Outcome(case, "excepted", EXCEPTIONS[case.id])
    return Outcome(case, "failed", fault)


def subject(case: Case) -> str:
    """Return the function or the domain that a case is about; empty if it does not say."""
    if case.kind == "scoring case":
        return str(case.given.get("function", ""))
    if case.kind == "tool call":
        return str(case.given.get("domain", ""))
    return scenario_domain(case.id)


def is_built(name: str, kind: Kind) -> bool:
    """Return whether there is what cases of a kind need: a runner, tools, or scenarios of that name."""
    if kind == "scoring case":
        return name in RUNNERS
    if kind == "tool call":
        return bool(list_schema_tools_for_eval(name))
    return name in map(scenario_domain, list_eval_scenarios())


def _fault(case: Case) -> str:
    run = RUNS.get(case.kind)
    if run is None:
        return "neither a scoring case, nor a tool call, nor a scenario record"
    try:
        return run(case.given)
    except (GoldenFileError, VoiceEvalError) as exc:
        return str(exc)
    except Exception as exc:  # a case that breaks the code is a case that does not hold
        return f"{type(exc).__name__}: {exc}"
