"""Scenario records: the fields of a record held against the scenario of that name."""

from __future__ import annotations

from functools import cache
from typing import Any

from pytest_voiceeval.run.record import scenario_record
from pytest_voiceeval.scenarios.registry import named_scenario_class

from .compare import same, shown
from .files import Given

INFORMATION = ("agent_prompt_sha256", "user_prompt_sha256", "clock_dependent")
"""Fields that tell of the reference, and are no requirement."""


def record_fault(given: Given) -> str:
    """Return which fields of a scenario record do not hold; empty if all hold.

    Raises:
        UnknownNameError: if there is no such scenario.
    """
    found = _record(given["name"])
    wrong = [
        f"{field}: found {shown(found[field])}, expected {shown(expected)}"
        if field in found
        else f"{field}: no field of a scenario record"
        for field, expected in given.items()
        if field not in INFORMATION and not _agrees(found, field, expected)
    ]
    return "; ".join(wrong)


@cache
def _record(name: str) -> dict[str, Any]:
    return scenario_record(named_scenario_class(name)())


def _agrees(found: dict[str, Any], field: str, expected: Any) -> bool:
    if field not in found:
        return False
    value = found[field]
    if isinstance(value, int | float) and isinstance(expected, int | float):
        return float(value) == float(expected)
    return same(value, expected)
