"""The tricky cases that running the reference gave, row by row, and where we part from it on purpose."""

from __future__ import annotations

from typing import Any

import pytest

from pytest_voiceeval.scoring.match import MatchRules, check_if_task_success, match_item

YES, NO = True, False
PLAIN = MatchRules()
CP = MatchRules(ignore_capitalization=True, ignore_punctuation=True)
STRICT = MatchRules(disallow_extra_items=True)
CLEAN = MatchRules(clean_text=True)

SCALARS = [
    (1, "1.50", "1.5", PLAIN, YES),
    (2, "1", 1, PLAIN, YES),
    (3, "1", True, PLAIN, YES),
    (4, True, "True", PLAIN, NO),
    (5, True, "true", CP, NO),
    (6, False, "0", PLAIN, YES),
    (7, None, None, PLAIN, YES),
    (8, None, "None", PLAIN, YES),
    (9, None, "none", CP, YES),
    (10, None, "null", PLAIN, NO),
    (11, "", None, PLAIN, NO),
    (12, "$9.99", "9.99", PLAIN, NO),
    (13, "$9.99", "9.99", CP, YES),
    (15, "$11.50", "11.50", CP, YES),
    (17, "1,299.00", "1299.00", CP, YES),
    (19, "1,5", "1.5", CP, YES),
    (20, "11.49", 11.490001, PLAIN, YES),
    (21, "11.49", 11.4902, PLAIN, NO),
    (22, "100", "100.001", PLAIN, YES),
    (23, "1000000", "1000010.00005", PLAIN, YES),
    (24, "1000010.00005", "1000000", PLAIN, NO),
    (27, "78712", "78713", PLAIN, NO),
    (28, "0", "1e-7", PLAIN, NO),
    (29, "0", "1e-9", PLAIN, YES),
    (30, "123-456-7890", "1234567890", CP, YES),
    (31, "123-456-7890", 1234567890, CP, YES),
    (32, "007", "7", PLAIN, YES),
    (33, "1_000", "1000", PLAIN, YES),
    (34, " 2 ", "2", PLAIN, YES),
    (35, " a", "a", CP, NO),
    (36, "A B", "AB", CP, NO),
    (37, "A-B", "AB", CP, YES),
    (38, "A_B", "AB", CP, NO),
    (39, "A  B", "A B", CP, NO),
    (40, "nan", "nan", PLAIN, NO),
    (41, "inf", "Infinity", PLAIN, YES),
    (42, "naïve", "naive", CP, NO),
    (43, "A", "a", CLEAN, NO),
    (44, "one", "1", PLAIN, NO),
    (45, "1", [1], PLAIN, NO),
    (46, "['x']", ["x"], PLAIN, YES),
]

BETTER_SCALARS = [
    # The reference compares its half-converted number as text.
    (14, "11.50", "$11.50", CP, YES),
    (16, "7", "$7", CP, YES),
    # The reference deletes the sign with the punctuation.
    (18, "-$49.99", "$49.99", CP, NO),
    # The reference takes digits for a quantity and tolerates a share of it.
    (25, "1234567890", "1234567891", PLAIN, NO),
    (26, "20260422", "20260423", PLAIN, NO),
]

STRUCTURES = [
    (47, {"a": 1}, {"a": 1, "b": 2}, PLAIN, YES),
    (48, {"a": None}, {}, PLAIN, NO),
    (49, {}, {"z": 1}, PLAIN, YES),
    (50, {"Name": "a"}, {"name": "a"}, CP, NO),
    (51, {"a": 1}, [{"a": 2}, {"a": 1}], PLAIN, YES),
    (51, {"a": 1}, [{"a": 2}, {"a": 1}], STRICT, YES),
    (52, {"a": 1}, [{"a": 1}, {"a": 2}], PLAIN, NO),
    (53, [{"a": 1}, {"b": 2}], [{"b": 2}, {"c": 1}, {"a": 1}], PLAIN, YES),
    (53, [{"a": 1}, {"b": 2}], [{"b": 2}, {"c": 1}, {"a": 1}], STRICT, NO),
    (54, [{"a": 1}, {"b": 2}], [{"a": 1, "b": 2}], PLAIN, NO),
    (55, [{"a": 1}, {"a": 1}], [{"a": 1}], PLAIN, NO),
    (56, [{"a": 1}, {"a": 1, "b": 2}], [{"a": 1, "b": 2}, {"a": 1}], PLAIN, NO),
    (57, [{"a": 1, "b": 2}, {"a": 1}], [{"a": 1, "b": 2}, {"a": 1}], PLAIN, YES),
    (58, [], [], PLAIN, YES),
    (58, [], [{"a": 1}], PLAIN, YES),
    (59, [], [{"a": 1}], STRICT, NO),
    (60, {"a": 1}, [], PLAIN, NO),
    (61, {"items": [{"n": "a"}, {"n": "b"}]}, {"items": [{"n": "b"}, {"n": "c"}, {"n": "a"}]}, PLAIN, YES),
    (62, {"items": [{"n": "a"}]}, {"items": [{"n": "a"}, {"n": "b"}]}, STRICT, YES),
    (63, {"items": []}, {"items": [{"n": "a"}]}, PLAIN, YES),
    (64, {"x": ["a", "a"]}, {"x": ["a", "b"]}, PLAIN, NO),
    (65, {"items": [{"n": "a"}]}, {"items": '[{"n":"a"}]'}, PLAIN, NO),
    (
        66,
        {"actions": [{"name": "t", "arguments": {"s": "A"}, "compare_args": []}]},
        [{"actions": [{"name": "t", "arguments": {"s": "B"}}]}],
        PLAIN,
        NO,
    ),
    (67, {"items": [{"n": "a"}]}, [{"actions": []}], PLAIN, NO),
    (68, {"message": "hello"}, [{"message": "Hello!"}], CP, YES),
    # From here on the reference raises, and ends the run.
    (69, {"a": 1}, "a", PLAIN, NO),
    (69, {"a": 1}, ["a"], PLAIN, NO),
    (69, {"a": 1}, [1], PLAIN, NO),
    (69, {"a": 1}, None, PLAIN, NO),
    (70, "abc", "abc", PLAIN, NO),
]


def rows(table: list[tuple[int, Any, Any, MatchRules, bool]]) -> list[Any]:
    return [pytest.param(*row[1:], id=f"row{row[0]}-{index}") for index, row in enumerate(table)]


@pytest.mark.parametrize(("reference", "prediction", "rules", "matches"), rows(SCALARS))
def test_scalars_match_row_by_row(reference: Any, prediction: Any, rules: MatchRules, matches: bool) -> None:
    assert match_item(reference, prediction, rules) is matches


@pytest.mark.parametrize(("reference", "prediction", "rules", "matches"), rows(BETTER_SCALARS))
def test_scalars_match_better_than_in_the_reference(
    reference: Any, prediction: Any, rules: MatchRules, matches: bool
) -> None:
    assert match_item(reference, prediction, rules) is matches


@pytest.mark.parametrize(("reference", "prediction", "rules", "matches"), rows(STRUCTURES))
def test_answers_match_row_by_row(reference: Any, prediction: Any, rules: MatchRules, matches: bool) -> None:
    assert check_if_task_success(reference, prediction, rules) is matches


@pytest.mark.parametrize(
    ("reference", "prediction", "matches"),
    [
        pytest.param("$11.50", "1150", NO, id="the decimal point counts"),
        pytest.param("$11.5", "11.50", YES, id="by value"),
        pytest.param("$-3.00", "-3", YES, id="sign inside"),
        pytest.param("\u22123", "-$3.00", YES, id="minus sign"),
        pytest.param("5 €", "5", YES, id="currency behind"),
        pytest.param("$100000", "100001", NO, id="no tolerance on money"),
        pytest.param("--3", "3", YES, id="no amount, so punctuation is deleted"),
        pytest.param("1,23,4", "1234", YES, id="no grouping, so punctuation is deleted"),
        pytest.param(9, "$9", YES, id="number as reference"),
    ],
)
def test_amounts_compare_by_value_where_punctuation_is_ignored(
    reference: Any, prediction: Any, matches: bool
) -> None:
    assert match_item(reference, prediction, CP) is matches


@pytest.mark.parametrize(
    ("reference", "prediction", "matches"),
    [
        pytest.param("1234567890", 1234567891, NO, id="another integer"),
        pytest.param("1234567890", 1234567891.0, NO, id="another whole float"),
        pytest.param("1234567890", 1234567890, YES, id="the integer"),
        pytest.param("1234567890", "01234567890", YES, id="leading zero"),
        pytest.param("12345678901234567890", "12345678901234567891", NO, id="beyond float precision"),
        pytest.param("9" * 400, "8" * 400, YES, id="beyond float range, both are infinite"),
        pytest.param("9" * 5000, "5", NO, id="beyond any integer that reads"),
        pytest.param(100000, "100001", YES, id="the reference is a number"),
    ],
)
def test_texts_of_digits_compare_without_tolerance(reference: Any, prediction: Any, matches: bool) -> None:
    assert match_item(reference, prediction) is matches


def test_integers_too_big_for_a_float_are_compared_as_text() -> None:
    assert match_item(10**400, 10**400)
    assert not match_item(10**400, 10**400 + 1)


@pytest.mark.parametrize("prediction", ["Infinity", float("inf"), "-Infinity", "1e999"])
def test_infinity_is_within_no_tolerance_of_a_number(prediction: Any) -> None:
    assert not match_item(5, prediction)
