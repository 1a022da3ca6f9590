"""Comparing what was found with what a golden case says."""

from __future__ import annotations

import json
import math
from typing import Any

from .files import GoldenFileError

SHOWN = 300
VERDICT_FIELDS = ("passed", "actual", "expected")


def difference(rule: str, found: Any, expected: Any) -> str:
    """Return how ``found`` differs from ``expected`` under ``rule``; empty if it does not.

    Raises:
        GoldenFileError: if there is no such rule.
    """
    if rule == "exact":
        return _differs(found, expected)
    if rule == "verdict":
        fields = [*VERDICT_FIELDS, "has an error"]
        return _differs(_picked(fields, found), _picked(fields, expected))
    if rule == "first_item":
        return _differs(list(found)[:1], list(expected)[:1])
    if rule == "verdict_and_category":
        return _differs({key: found.get(key) for key in expected}, expected)
    if rule == "error_type":
        fields = ["status", "error_type"]
        return _differs(_picked(fields, found), _picked(fields, expected))
    if rule == "error":
        return "" if tells_an_error(found) else f"{shown(found)} tells no error"
    raise GoldenFileError(f"no way to compare by {rule!r}")


def tells_an_error(answer: Any) -> bool:
    """Return whether a model that gets ``answer`` is told of an error."""
    if not isinstance(answer, dict):
        return isinstance(answer, str) and "error" in answer.lower()
    return bool(answer.get("error")) or answer.get("status") == "error" or answer.get("success") is False


def _picked(fields: list[str], value: Any) -> Any:
    if not isinstance(value, dict):
        return value
    whole = {**value, "has an error": value.get("error") is not None}
    return {field: whole.get(field) for field in fields}


def _differs(found: Any, expected: Any) -> str:
    return "" if same(found, expected) else f"found {shown(found)}, expected {shown(expected)}"


def same(left: Any, right: Any) -> bool:
    """Return whether two values are equal, kinds of scalars included; NaN equals itself here."""
    if isinstance(left, dict) and isinstance(right, dict):
        return left.keys() == right.keys() and all(same(value, right[key]) for key, value in left.items())
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and all(map(same, left, right))
    if type(left) is not type(right):
        return False
    return bool(left == right) or (isinstance(left, float) and math.isnan(left) and math.isnan(right))


def shown(value: Any) -> str:
    """Return ``value`` as JSON on one line, cut where it is long."""
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= SHOWN else f"{text[:SHOWN]} …"
