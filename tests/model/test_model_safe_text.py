"""Texts of others: whatever they are, they stay readable and do nothing where they are written."""

from __future__ import annotations

import csv
import io
import json
import re
import unicodedata
import xml.etree.ElementTree as ET
from xml.sax.saxutils import escape

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_voiceeval.model.safe_text import (
    CELL_CHARACTERS,
    cell,
    encodable,
    json_document,
    shortened,
    shown_lines,
    visible,
    visible_line,
    visible_words,
)

ANY = st.text(st.characters(exclude_categories=()), max_size=40)
ODD = st.text(
    st.sampled_from("\0\x07\x1b[2J\x7f\x85\x9b\u2028\u202e\u200b\ufeff\ud800\udfffa<>&]\r\n\t\"'\\,é😀"),
    max_size=40,
)
BIDI = {"LRE", "RLE", "PDF", "LRO", "RLO", "LRI", "RLI", "FSI", "PDI"}


def acting(text: str, keep: str = "") -> list[str]:
    """Return what in ``text`` acts on a terminal by the categories of Unicode."""
    return [
        sign
        for sign in text
        if sign not in keep
        and (
            unicodedata.category(sign) in {"Cc", "Cs", "Zl", "Zp"} or unicodedata.bidirectional(sign) in BIDI
        )
    ]


@pytest.mark.parametrize(
    ("text", "seen"),
    [
        ("Tea, please.", "Tea, please."),
        ("\x1b[2J\x1b]0;title\x07", "\\x1b[2J\\x1b]0;title\\x07"),
        ("\x9b31m", "\\x9b31m"),
        ("half \ud800", "half \\ud800"),
        ("\u202etxt.exe", "\\u202etxt.exe"),
        ("ze\u200bro", "ze\\u200bro"),
        ("over\rwritten", "over\\rwritten"),
        ("two\r\nlines\n\tin", "two\nlines\n\tin"),
        ("jalapeño é 你好 שלום سلام", "jalapeño é 你好 שלום سلام"),
        ("👩‍👩‍👧 می‌خواهم", "👩‍👩‍👧 می‌خواهم"),
        ("e\u0301", "e\u0301"),
        ("C:\\new", "C:\\new"),
    ],
)
def test_what_acts_is_shown_and_what_is_text_stays(text: str, seen: str) -> None:
    assert visible(text) == seen


@given(ANY | ODD)
def test_nothing_acts_and_everything_can_be_encoded(text: str) -> None:
    assert acting(visible(text), keep="\n\t") == []
    for line in (visible_line(text), visible_words(text)):
        assert acting(line) == []
        assert len(line.splitlines()) <= 1
    for safe in (visible(text), visible_line(text), encodable(text), cell(text), shown_lines(text)):
        safe.encode("utf-8")
        assert visible(visible(text)) == visible(text)


@given(ANY | ODD)
def test_a_json_document_says_the_same_and_acts_on_nothing(text: str) -> None:
    text = encodable(text)
    document = json_document(json.dumps({text: [text]}, ensure_ascii=False))
    assert json.loads(document) == {text: [text]}
    assert acting(document) == []


@given(ANY | ODD)
def test_a_cell_comes_back_as_it_was_written(text: str) -> None:
    table = io.StringIO(newline="")
    csv.writer(table, quoting=csv.QUOTE_NONNUMERIC, lineterminator="\n").writerow([cell(text), 1.0])
    assert list(csv.reader(io.StringIO(table.getvalue(), newline=""), strict=True)) == [[cell(text), "1.0"]]


@given(ANY | ODD)
def test_strict_xml_holds_what_is_visible(text: str) -> None:
    assert ET.fromstring(f"<a>{escape(visible(text))}</a>").text in (visible(text), None)


def test_long_texts_are_cut_where_a_person_or_a_spreadsheet_reads_them() -> None:
    line = "x" * 2_000_000
    assert shortened("short") == "short"
    assert re.fullmatch(r"x{2000} … \(1,998,000 more characters\)", shortened(line))
    assert len(cell(line)) < 32_767
    assert cell(line).startswith("x" * CELL_CHARACTERS)
    assert [len(part) < 2_100 for part in shown_lines(f"{line}\n{line}").split("\n")] == [True, True]
