"""What reports carry: plain values, whatever a fixture hands in."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from enum import Enum, IntEnum, StrEnum
from pathlib import Path, PurePosixPath
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_voiceeval.report.sendable import MOST_LEVELS, sendable


class Colour(Enum):
    RED = "red"


class Word(StrEnum):
    YES = "yes"


class Level(IntEnum):
    HIGH = 3


class Broken:
    def __str__(self) -> str:
        raise RuntimeError("no text")


@pytest.mark.parametrize(
    ("value", "sent"),
    [
        (np.float64(1.5), 1.5),
        (np.float32(0.5), 0.5),
        (np.int64(7), 7),
        (np.bool_(True), True),
        (np.str_("tea"), "tea"),
        (np.array([[1, 2], [3, 4]]), [[1, 2], [3, 4]]),
        (np.datetime64("2026-01-02T03:04:05"), "2026-01-02T03:04:05"),
        (float("nan"), "nan"),
        (np.float64("-inf"), "-inf"),
        ({"b", "a"}, ["a", "b"]),
        (frozenset({2, "1"}), ["1", 2]),
        (b"tea \xff", "tea \\xff"),
        (bytearray(b"tea"), "tea"),
        (PurePosixPath("a/b"), "a/b"),
        (Path("a\udcff"), "a\\udcff"),
        (datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC), "2026-01-02T03:04:05+00:00"),
        (date(2026, 1, 2), "2026-01-02"),
        (time(3, 4), "03:04:00"),
        (timedelta(seconds=90), "0:01:30"),
        (Decimal("1.10"), "1.10"),
        (2**20_000, hex(2**20_000)),
        pytest.param(-(2**40), str(-(2**40)), id="too low for xdist"),
        ("half \ud800 a pair", "half \\ud800 a pair"),
        (Colour.RED, "red"),
        (Word.YES, "yes"),
        (Level.HIGH, 3),
        ({1: (1, None), "\ud800": {"x": b"y"}}, {"1": [1, None], "\\ud800": {"x": "y"}}),
        (Broken(), "<Broken>"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_a_value_becomes_a_plain_one(value: object, sent: object) -> None:
    found = sendable(value)
    assert found == sent
    assert type(found) is type(sent)


def test_what_holds_itself_and_what_is_nested_too_deep_ends() -> None:
    ring: list[object] = [1]
    ring.append(ring)
    assert sendable(ring) == [1, "<list>"]
    deep: object = "end"
    for _ in range(MOST_LEVELS + 5):
        deep = [deep]
    assert "end" not in json.dumps(sendable(deep))


def only_plain(value: object) -> bool:
    if type(value) is list:
        return all(map(only_plain, value))
    if type(value) is dict:
        return all(type(key) is str and only_plain(inner) for key, inner in value.items())
    return value is None or type(value) in (str, int, float, bool)


def strategies() -> st.SearchStrategy[Any]:
    leaves = st.one_of(
        *(
            st.none(),
            st.booleans(),
            st.integers(),
            st.floats(),
            st.binary(),
            st.datetimes(),
            st.complex_numbers(),
        ),
        st.text(st.characters(exclude_categories=())),
    )
    extend: Callable[[st.SearchStrategy[Any]], st.SearchStrategy[Any]] = lambda inner: st.one_of(  # noqa: E731
        st.lists(inner), st.dictionaries(st.one_of(st.text(), st.integers()), inner)
    )
    return st.recursive(leaves, extend, max_leaves=10)


@given(strategies())
def test_whatever_it_was_every_report_can_carry_it(value: object) -> None:
    execnet = pytest.importorskip("execnet")
    found = sendable(value)
    assert only_plain(found)
    assert execnet.loads(execnet.dumps(found)) == found
    json.dumps(found, allow_nan=False).encode("utf-8")
