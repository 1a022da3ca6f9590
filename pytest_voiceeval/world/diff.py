"""How two databases differ: as a tree for programs, as lines by path for people."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from pytest_voiceeval.world.hashing import (
    ORDER_FREE_KEYS,
    canonical_form,
    canonical_text,
    normalize_for_comparison,
)
from pytest_voiceeval.world.overlay import plain_copy, raw_items, unchanged

NOTHING = "nothing"
SHOWN_CHARACTERS = 120

_ATOMS = (str, int, float, bool, type(None))


def compute_db_diff(expected: dict[str, Any], actual: dict[str, Any]) -> dict[str, Any]:
    """Return the tables added, removed and modified, down to the fields of their records.

    "Added" means found in ``actual`` only. Leaves say what is wrong by ``type``: ``value_mismatch``,
    ``type_mismatch``, ``list_length_mismatch``, ``list_differences``; ``non_dict_table`` for tables
    that are not objects, which are compared as they are. Equality is Python's: ``True == 1``.
    """
    expected, actual = _differing(expected, actual)
    both = [table for table in sorted(expected) if table in actual]
    diffs = {table: _table_diff(expected[table], actual[table]) for table in both}
    return {
        "tables_added": sorted(actual.keys() - expected.keys()),
        "tables_removed": sorted(expected.keys() - actual.keys()),
        "tables_modified": {table: diff for table, diff in diffs.items() if diff is not None},
    }


def _differing(expected: Any, actual: Any) -> tuple[Any, Any]:
    """Return both without the parts that they share, as far down as they are objects."""
    if not (isinstance(expected, dict) and isinstance(actual, dict)):
        return expected, actual
    left, right = dict(raw_items(expected)), dict(raw_items(actual))
    for key in [key for key in left if key in right]:
        if left[key] is right[key] or _is_same_part(left[key], right[key]):
            del left[key], right[key]
        else:
            left[key], right[key] = _differing(left[key], right[key])
    return left, right


def _is_same_part(expected: Any, actual: Any) -> bool:
    part = unchanged(expected)
    return part is not None and part is unchanged(actual)


def _table_diff(expected: Any, actual: Any) -> dict[str, Any] | None:
    if not (isinstance(expected, dict) and isinstance(actual, dict)):
        if expected == actual:
            return None
        return {"type": "non_dict_table", "expected": plain_copy(expected), "actual": plain_copy(actual)}
    return _object_diff(normalize_for_comparison(expected), normalize_for_comparison(actual), "records")


def _object_diff(expected: dict[str, Any], actual: dict[str, Any], noun: str) -> dict[str, Any] | None:
    if expected == actual:
        return None
    both = [key for key in sorted(expected) if key in actual]
    diffs = {key: _value_diff(expected[key], actual[key]) for key in both}
    return {
        f"{noun}_added": sorted(actual.keys() - expected.keys()),
        f"{noun}_removed": sorted(expected.keys() - actual.keys()),
        f"{noun}_modified": {key: diff for key, diff in diffs.items() if diff is not None},
    }


def _value_diff(expected: Any, actual: Any) -> dict[str, Any] | None:
    if expected == actual:
        return None
    if isinstance(expected, dict) and isinstance(actual, dict):
        return _object_diff(expected, actual, "fields")
    if isinstance(expected, list) and isinstance(actual, list):
        return _list_diff(expected, actual)
    if type(expected) is not type(actual):
        return {
            "type": "type_mismatch",
            "expected": expected,
            "actual": actual,
            "expected_type": type(expected).__name__,
            "actual_type": type(actual).__name__,
        }
    return {"type": "value_mismatch", "expected": expected, "actual": actual}


def _list_diff(expected: list[Any], actual: list[Any]) -> dict[str, Any]:
    if len(expected) != len(actual):
        return {
            "type": "list_length_mismatch",
            "expected_length": len(expected),
            "actual_length": len(actual),
            "expected": expected,
            "actual": actual,
        }
    diffs = [_value_diff(left, right) for left, right in zip(expected, actual, strict=True)]
    differences = [{"index": index, "diff": diff} for index, diff in enumerate(diffs) if diff is not None]
    return {"type": "list_differences", "differences": differences}


def diff_by_path(expected: Any, actual: Any) -> list[str]:
    """Return one line for each difference that changes the hash: its path, expected → actual.

    For JSON values, no line means the same hash, and the other way round. ``nothing`` stands for
    what is absent.
    Example: ``reservations.ZFA04V.status: "cancelled" → null``.
    """
    expected, actual = _differing(expected, actual)
    return list(_lines("", canonical_form(expected), canonical_form(actual)))


def _lines(path: str, expected: Any, actual: Any, *, order_free: bool = False) -> Iterator[str]:
    if isinstance(expected, dict) and isinstance(actual, dict):
        yield from _object_lines(path, expected, actual)
    elif isinstance(expected, list) and isinstance(actual, list):
        yield from (_bag_lines if order_free else _list_lines)(path, expected, actual)
    elif not _is_same_atom(expected, actual) and canonical_text(expected) != canonical_text(actual):
        yield _line(path, shown(expected), shown(actual))


def _is_same_atom(expected: Any, actual: Any) -> bool:
    """Return whether both are certain to have one text; of equal values, only those of one type are."""
    return type(expected) is type(actual) and type(expected) in _ATOMS and bool(expected == actual)


def _object_lines(path: str, expected: dict[str, Any], actual: dict[str, Any]) -> Iterator[str]:
    for key in sorted(expected.keys() | actual.keys()):
        place = join_key(path, key)
        if key not in actual:
            yield _line(place, shown(expected[key]), NOTHING)
        elif key not in expected:
            yield _line(place, NOTHING, shown(actual[key]))
        else:
            yield from _lines(place, expected[key], actual[key], order_free=key in ORDER_FREE_KEYS)


def _list_lines(path: str, expected: list[Any], actual: list[Any]) -> Iterator[str]:
    for index in range(max(len(expected), len(actual))):
        place = f"{path}[{index}]"
        if index >= len(actual):
            yield _line(place, shown(expected[index]), NOTHING)
        elif index >= len(expected):
            yield _line(place, NOTHING, shown(actual[index]))
        else:
            yield from _lines(place, expected[index], actual[index])


def _bag_lines(path: str, expected: list[Any], actual: list[Any]) -> Iterator[str]:
    spare = list(actual)
    texts = [canonical_text([element]) for element in actual]
    for element in expected:
        text = canonical_text([element])
        if text in texts:
            place = texts.index(text)
            del spare[place], texts[place]
        else:
            yield _line(f"{path}[]", shown(element), NOTHING)
    for element in spare:
        yield _line(f"{path}[]", NOTHING, shown(element))


def _line(path: str, expected: str, actual: str) -> str:
    return f"{path or 'database'}: {expected} → {actual}"


def join_key(path: str, key: str) -> str:
    """Return ``path`` with ``key`` added: ``path.key``, or ``path["a.b"]`` where a dot would mislead."""
    if not str(key) or any(character in str(key) for character in '.[]" '):
        return f"{path}[{json.dumps(key, ensure_ascii=False)}]"
    return f"{path}.{key}" if path else str(key)


def shown(value: Any, limit: int = SHOWN_CHARACTERS) -> str:
    """Return ``value`` as JSON on one line, cut in the middle where it is longer than ``limit``."""
    text = json.dumps(value, ensure_ascii=False, default=str)
    if len(text) <= limit:
        return text
    head = limit * 2 // 3
    return f"{text[:head]} … {text[head + 3 - limit :]}"
