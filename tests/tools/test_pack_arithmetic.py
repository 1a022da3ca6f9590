from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_voiceeval.scenarios.packs import builtin_pack
from pytest_voiceeval.tools import get_schema_tool_for_eval

builtin_pack().load_tools()


def work_out(expression: Any) -> Any:
    return get_schema_tool_for_eval("CalculateTool", "tau2_airline").invoke(expression=expression)


@pytest.mark.parametrize(
    ("expression", "result"),
    [
        ("2 + 2", "4.0"),
        (" (346 + 338) * 2 - (65 + 83) * 2", "1072.0"),
        ("7 // 2", "3.0"),
        ("2 ** 10", "1024.0"),
        ("2 ** -1", "0.5"),
        ("-3.14159", "-3.14"),
        ("10 / 4", "2.5"),
        (".5 + 1.", "1.5"),
        ("--1", "1.0"),
        ("10**400 // 10**399", "10.0"),
        ("1 ** 99999999999999999999", "1.0"),
        ("2.675", "2.67"),
    ],
)
def test_sums(expression: str, result: str) -> None:
    assert work_out(expression) == {"status": "success", "result": result}


@pytest.mark.parametrize("expression", ["1 + x", "1,5", "__import__('os')", "1\n+1", "5%", "\u0661"])
def test_other_characters_are_refused(expression: str) -> None:
    assert work_out(expression)["message"] == "Invalid characters in expression"
    assert work_out(expression)["error_type"] == "value_error"


@pytest.mark.parametrize(
    ("expression", "why"),
    [
        ("", "invalid syntax"),
        ("1 / 0", "division by zero"),
        ("01", "leading zeros"),
        ("2 (3)", "'int' object is not callable"),
        ("...", "ellipsis"),
        ("()", "not 'tuple'"),
        ("(*(1))", "cannot use starred"),
        ("(-8) ** 0.5", "complex"),
        ("9**9**9**9", "too large"),
        ("9**6000 * 9**6000", "too large"),
        ("10 ** 400", "too large"),
        ("-" * 5000 + "1", ""),
        ("(" * 5000 + "1" + ")" * 5000, ""),
    ],
)
@pytest.mark.filterwarnings("ignore::SyntaxWarning")
def test_what_is_no_sum_is_told(expression: str, why: str) -> None:
    result = work_out(expression)
    assert result["error_type"] == "value_error"
    assert result["message"].startswith("Invalid expression: ")
    assert why in result["message"]


@given(st.text("0123456789+-*/(). ", max_size=30))
def test_any_sum_is_answered(expression: str) -> None:
    result = work_out(expression)
    assert result["status"] in ("success", "error")
    if result["status"] == "success":
        assert not math.isnan(float(result["result"])) or "-" in expression or "*" in expression
