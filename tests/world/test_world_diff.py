from __future__ import annotations

from typing import Any

import pytest

from pytest_voiceeval.world.diff import compute_db_diff, diff_by_path, join_key, shown


def fields(expected: Any, actual: Any) -> Any:
    """Return the modified field ``f`` of a record that has it as ``expected`` and as ``actual``."""
    diff = compute_db_diff({"t": {"r": {"f": expected}}}, {"t": {"r": {"f": actual}}})
    return diff["tables_modified"]["t"]["records_modified"]["r"]["fields_modified"]["f"]


def test_lists_of_other_lengths_say_so() -> None:
    assert fields([1], [1, 2]) == {
        "type": "list_length_mismatch",
        "expected_length": 1,
        "actual_length": 2,
        "expected": [1],
        "actual": [1, 2],
    }


def test_lists_of_one_length_differ_element_by_element() -> None:
    assert fields([1, 2, 3], [1, 0, "3"])["differences"] == [
        {"index": 1, "diff": {"type": "value_mismatch", "expected": 2, "actual": 0}},
        {
            "index": 2,
            "diff": {
                "type": "type_mismatch",
                "expected": 3,
                "actual": "3",
                "expected_type": "int",
                "actual_type": "str",
            },
        },
    ]


@pytest.mark.parametrize(
    ("expected", "actual", "line"),
    [
        pytest.param("cancelled", "none", 'r.Z.f: "cancelled" → null', id="value"),
        pytest.param([1, 2], [1, 3], "r.Z.f[1]: 2 → 3", id="element"),
        pytest.param([1], [1, {"a": 2}], 'r.Z.f[1]: nothing → {"a": 2}', id="element too many"),
        pytest.param([1, 2], [1], "r.Z.f[1]: 2 → nothing", id="element missing"),
        pytest.param({"a.b": 1}, {"a.b": 2}, 'r.Z.f["a.b"]: 1 → 2', id="key with a dot"),
        pytest.param({}, {"a": 1}, "r.Z.f.a: nothing → 1", id="key too many"),
        pytest.param({"a": [1]}, {}, "r.Z.f.a: [1] → nothing", id="key missing"),
        pytest.param([], {}, "r.Z.f: [] → {}", id="kind"),
        pytest.param(1, True, "r.Z.f: 1 → true", id="true is not one, as in the hash"),
        pytest.param(
            {"bookings": [3, 1, 2]}, {"bookings": [2, 3, 4]}, "r.Z.f.bookings[]: 1 → nothing", id="order-free"
        ),
    ],
)
def test_difference_by_path(expected: Any, actual: Any, line: str) -> None:
    assert diff_by_path({"r": {"Z": {"f": expected}}}, {"r": {"Z": {"f": actual}}})[0] == line


def test_order_free_lists_differ_by_what_is_missing_and_what_is_too_many() -> None:
    assert diff_by_path({"bookings": [1, 1, 2]}, {"bookings": [2, 1, 3]}) == [
        "bookings[]: 1 → nothing",
        "bookings[]: nothing → 3",
    ]


def test_the_session_is_no_difference() -> None:
    assert diff_by_path({"a": 1}, {"a": 1, "session": {"x": 1}}) == []


def test_other_kinds_at_the_top_are_one_difference() -> None:
    assert diff_by_path({"a": 1}, None) == ['database: {"a": 1} → null']


def test_long_values_are_cut_in_the_middle() -> None:
    text = shown("a" * 50 + "b" * 50, limit=30)
    assert len(text) == 30
    assert text.startswith('"aaaa')
    assert text.endswith('bbb"')


@pytest.mark.parametrize(
    ("key", "path"), [("b", "a.b"), ("", 'a[""]'), ("b c", 'a["b c"]'), ("b.c", 'a["b.c"]'), ("é", "a.é")]
)
def test_keys_join_so_that_a_path_reads_one_way(key: str, path: str) -> None:
    assert join_key("a", key) == path
