from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_voiceeval.world.diff import diff_by_path
from pytest_voiceeval.world.hashing import (
    ORDER_FREE_KEYS,
    canonical_text,
    get_dict_hash,
    normalize_for_comparison,
)

scalars = (
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.sampled_from(["none", "Null "])
)
keys = st.text(max_size=3) | st.sampled_from([*sorted(ORDER_FREE_KEYS), "session"])
values = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(keys, inner, max_size=4)
)
databases = st.dictionaries(keys, values, max_size=4)

PUBLISHED = [
    ({}, "{}", "44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a"),
    ({"a": 1}, '{"a":1}', "015abd7f5cc57a2dd94b7590f04ad8084273905ee33ec5cebeae62276a97f862"),
    ({"a": 1.0}, '{"a":1}', "015abd7f5cc57a2dd94b7590f04ad8084273905ee33ec5cebeae62276a97f862"),
    (
        {"reservations": {"R1": {"status": "cancelled", "fare": 100.0, "bags": [1, 2.0], "note": "None"}}},
        '{"reservations":{"R1":{"bags":[1,2],"fare":100,"note":null,"status":"cancelled"}}}',
        "d98ba73b44f79250a48b4ab427689d245c4c0c33ef62ec1ffba7866323a289ee",
    ),
    (
        {"n": "Zoë 日本"},
        '{"n":"Zo\\u00eb \\u65e5\\u672c"}',
        "6b6c79e559fcb5706388e5ab3ea7116dfcdebac405566ac56900f3383a70be8a",
    ),
    ([1, 2], "[1,2]", "49a64717d5d4cb19952e6eac2946415cf6879adacf9908e7d872332d32c6e684"),
]

SAME, OTHER = True, False
ROWS = [
    (71, {"a": 1}, {"a": "1"}, OTHER),
    (71, {"a": 1}, {"a": True}, OTHER),
    (72, {"a": None}, {"a": " NULL "}, SAME),
    (73, {"a": None}, {"a": ""}, OTHER),
    (73, {"a": None}, {"a": "nil"}, OTHER),
    (73, {"a": None}, {}, OTHER),
    (74, {"none": 1}, {"None": 1}, OTHER),
    (75, {"a": -0.0}, {"a": 0}, SAME),
    (76, {"a": 1e22}, {"a": 10000000000000000000000}, SAME),
    (77, {"a": 0.1 + 0.2}, {"a": 0.3}, OTHER),
    (78, {"a": [1, 2]}, {"a": [2, 1]}, OTHER),
    (79, {"u": {"bookings": ["b", "a"]}}, {"u": {"bookings": ["a", "b"]}}, SAME),
    (80, {"bookings": [[2, 1]]}, {"bookings": [[1, 2]]}, OTHER),
    (81, {"standby_list": [1, 1]}, {"standby_list": [1]}, OTHER),
    (82, {"a": 1, "session": {"x": 1}}, {"a": 1}, SAME),
    (83, {"a": {"session": 1}}, {"a": {}}, OTHER),
    (84, {"a": 1, "Session": 1}, {"a": 1}, OTHER),
    (85, {"a": 1, "__x": 1}, {"a": 1}, OTHER),
    (87, {"a": "x "}, {"a": "x"}, OTHER),
    (88, {"a": "\u00e9"}, {"a": "e\u0301"}, OTHER),
    (89, {"a": []}, {"a": {}}, OTHER),
]


@pytest.mark.parametrize(("db", "text", "digest"), PUBLISHED, ids=range(len(PUBLISHED)))
def test_canonical_text_and_hash_are_the_published_ones(db: Any, text: str, digest: str) -> None:
    assert canonical_text(db) == text
    assert get_dict_hash(db) == digest


@pytest.mark.parametrize(
    ("left", "right", "same"),
    [pytest.param(*row[1:], id=f"row{row[0]}-{index}") for index, row in enumerate(ROWS)],
)
def test_hash_tells_apart_row_by_row(left: Any, right: Any, same: bool) -> None:
    assert (get_dict_hash(left) == get_dict_hash(right)) is same
    assert (diff_by_path(left, right) == []) is same


def test_integer_keys_hash_as_text() -> None:
    assert get_dict_hash({1: "a"}) == get_dict_hash({"1": "a"})


def test_order_free_lists_are_sorted_by_text() -> None:
    assert canonical_text({"bookings": [9, 10]}) == '{"bookings":[10,9]}'


def reorder(value: Any) -> Any:
    """Return ``value`` with the keys of its objects, and its order-free lists, the other way round."""
    if isinstance(value, list):
        return [reorder(element) for element in value]
    if not isinstance(value, dict):
        return value
    turned = {key: reorder(value[key]) for key in reversed(value)}
    return {
        key: entry[::-1] if key in ORDER_FREE_KEYS and isinstance(entry, list) else entry
        for key, entry in turned.items()
    }


def floats_for_integers(value: Any) -> Any:
    if isinstance(value, list):
        return [floats_for_integers(element) for element in value]
    if isinstance(value, dict):
        return {key: floats_for_integers(entry) for key, entry in value.items()}
    whole = type(value) is int and abs(value) < 2**53
    return float(value) if whole else value


@given(databases)
def test_order_without_meaning_leaves_the_hash(db: dict[str, Any]) -> None:
    assert get_dict_hash(reorder(db)) == get_dict_hash(db)


@given(databases)
def test_whole_floats_leave_the_hash(db: dict[str, Any]) -> None:
    assert get_dict_hash(floats_for_integers(db)) == get_dict_hash(db)


@given(databases, values)
def test_the_session_leaves_the_hash(db: dict[str, Any], session: Any) -> None:
    without = {key: value for key, value in db.items() if key != "session"}
    assert get_dict_hash({**db, "session": session}) == get_dict_hash(without)


@given(values)
def test_the_normal_form_is_its_own(value: Any) -> None:
    normal = normalize_for_comparison(value)
    assert json.dumps(normalize_for_comparison(normal)) == json.dumps(normal)


@given(databases)
def test_hashing_changes_nothing(db: dict[str, Any]) -> None:
    before = json.dumps(db)
    get_dict_hash(db)
    assert json.dumps(db) == before


@given(databases, databases)
def test_no_difference_by_path_means_the_same_hash(left: dict[str, Any], right: dict[str, Any]) -> None:
    assert (diff_by_path(left, right) == []) == (get_dict_hash(left) == get_dict_hash(right))
    assert diff_by_path(left, reorder(left)) == []
