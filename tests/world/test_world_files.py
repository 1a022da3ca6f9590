from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any, BinaryIO

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_voiceeval.world.files import plain, write_json, write_text, write_whole


def strict(path: Path) -> Any:
    def refuse(word: str) -> None:
        raise AssertionError(word)

    return json.loads(path.read_bytes().decode("utf-8"), parse_constant=refuse)


def test_a_file_that_fails_half_way_leaves_the_old_one(tmp_path: Path) -> None:
    path = write_text(tmp_path / "a" / "b.txt", "old")

    def fail(stream: BinaryIO) -> None:
        stream.write(b"new")
        raise OSError("disk full")

    with pytest.raises(OSError, match="disk full"):
        write_whole(path, fail)
    assert path.read_text() == "old"
    assert [entry.name for entry in path.parent.iterdir()] == ["b.txt"]


def test_json_is_utf_8_and_half_a_surrogate_pair_is_escaped(tmp_path: Path) -> None:
    path = write_json(tmp_path / "x.json", {"name": "jalapeño", "lone": "\ud800", "\udc80": 1})
    assert strict(path) == {"name": "jalapeño", "lone": "\\ud800", "\\udc80": 1}
    assert "jalapeño" in path.read_text(encoding="utf-8")


def test_what_json_does_not_have_is_replaced(tmp_path: Path) -> None:
    class Rude:
        def __str__(self) -> str:
            raise RuntimeError("no")

    value = {
        "nan": math.nan,
        "inf": [math.inf, -math.inf, 1.5],
        (1, 2): {None: 1, True: 2, 3: 4},
        "path": Path("a"),
        "pair": (1, "x"),
        "bytes": b"\xff",
        "rude": Rude(),
    }
    assert strict(write_json(tmp_path / "x.json", value)) == {
        "nan": None,
        "inf": [None, None, 1.5],
        "(1, 2)": {"null": 1, "true": 2, "3": 4},
        "path": "a",
        "pair": [1, "x"],
        "bytes": "b'\\xff'",
        "rude": "<Rude>",
    }


def test_a_value_that_holds_itself_or_is_very_deep_is_cut(tmp_path: Path) -> None:
    circle: dict[str, Any] = {}
    circle["again"] = circle["and again"] = circle
    deep: Any = 1
    for _ in range(5000):
        deep = [deep]
    assert strict(write_json(tmp_path / "x.json", [circle, deep]))[0]["again"] == "<dict>"


def test_a_whole_number_that_python_does_not_print_is_text(tmp_path: Path) -> None:
    assert strict(write_json(tmp_path / "x.json", 16**5000)).startswith("0x1000")


ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.binary() | st.dates(),
    lambda inner: st.lists(inner) | st.dictionaries(st.none() | st.floats() | st.text(), inner),
    max_leaves=10,
)


@given(ANYTHING)
def test_anything_becomes_json(value: Any) -> None:
    json.loads(json.dumps(plain(value), allow_nan=False))


def test_values_that_json_has_stay_as_they_are() -> None:
    value = {"a": [1, 2.5, None, True, "x"], "b": {}}
    assert plain(value) == value
