"""Finding JSON in text as models write it: Python's constants and quotes, commas too many, words around it.

Only what is whole is found. A library that repairs broken JSON would close what was cut off, and so make
up the rest of it.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any

MAX_DEPTH = 50
"""Levels of nesting beyond which something counts as no JSON."""

_BLANK = re.compile(r"\s*")
_OPENING = re.compile(r"[{\[]")
_BEGUN_OBJECT = re.compile(r"\{\s*(?:\"|\Z)")
_BRACE = re.compile(r"[{}]")
_STRING = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"' + r"|'[^'\\]*(?:\\.[^'\\]*)*'", re.DOTALL)
_NUMBER = re.compile(r"[-+]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d+)?(?![\w.])", re.ASCII)
_WORD = re.compile(r"[-+]?[A-Za-z]+")
_WORDS: dict[str, Any] = {
    "true": True,
    "True": True,
    "false": False,
    "False": False,
    "null": None,
    "None": None,
    **{word: float("nan") for word in ("NaN", "nan")},
    **{word: float("inf") for word in ("Infinity", "inf", "+Infinity")},
    "-Infinity": float("-inf"),
}
_ESCAPE = re.compile(
    r"\\(?:u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2})|U(000[0-9a-fA-F]{5}|0010[0-9a-fA-F]{4})|(.))", re.DOTALL
)
_ESCAPED = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f"}


@dataclass(frozen=True)
class Found:
    """A whole object or list within a text.

    Attributes:
        value: what it is.
        start, end: where it stands: the first character, and that behind the last one.
    """

    value: Any
    start: int
    end: int


class _BrokenError(ValueError):
    """What stands there is no JSON."""


class _UnfinishedError(ValueError):
    """The text ends before what stands there is complete."""


@dataclass(frozen=True)
class Findings:
    """What objects and lists there are in a text, the outermost of them.

    Attributes:
        whole: those that are complete, in order.
        broken: where those stand that begin as an object with a key, and turn out to be no JSON: the first
            character, and that behind the last one. What looks whole within them is not listed.
        unfinished: where an object begins that the text ends before; ``None`` if there is none.
    """

    whole: tuple[Found, ...] = ()
    broken: tuple[tuple[int, int], ...] = ()
    unfinished: int | None = None

    def hold(self, at: int) -> bool:
        """Return whether one of them, complete or not, holds the character at ``at``."""
        spans = [*((one.start, one.end) for one in self.whole), *self.broken]
        if self.unfinished is not None and self.unfinished < at:
            return True
        return any(start < at < end for start, end in spans)


def found_in(text: str) -> Findings:
    """Return the objects and lists in ``text``."""
    whole: list[Found] = []
    broken: list[tuple[int, int]] = []
    unfinished = None
    at = 0
    while opening := _OPENING.search(text, at):
        start, at = opening.span()
        reader = _Reader(text)
        try:
            value, at = reader.value(start, MAX_DEPTH)
        except _BrokenError:
            if reader.has_read_key:
                at = _balanced(text, start)
                broken.append((start, at))
            continue
        except _UnfinishedError:
            if unfinished is None and (reader.has_read_key or _BEGUN_OBJECT.match(text, start)):
                unfinished = start
            continue
        whole.append(Found(value, start, at))
    return Findings(tuple(whole), tuple(broken), unfinished)


def _balanced(text: str, start: int) -> int:
    """Return where as many braces are closed as were opened since ``start``; the end if they never are."""
    depth = 0
    for brace in _BRACE.finditer(text, start):
        depth += 1 if brace.group() == "{" else -1
        if depth == 0:
            return brace.end()
    return len(text)


def whole_value(text: str) -> Any:
    """Return the JSON value that all of ``text`` is; ``None`` if it is none."""
    try:
        return json.loads(text, strict=False)
    except (ValueError, RecursionError):
        return None


class _Reader:
    """Reads values from a text; each method takes where one begins and returns it with where it ends."""

    def __init__(self, text: str) -> None:
        self._text = text
        self.has_read_key = False

    def value(self, at: int, depth: int) -> tuple[Any, int]:
        match self._character(at):
            case "{" if depth:
                return self._object(at + 1, depth - 1)
            case "[" if depth:
                return self._list(at + 1, depth - 1)
            case '"' | "'":
                return self._string(at)
        if number := _NUMBER.match(self._text, at):
            return _number(number.group()), number.end()
        word = _WORD.match(self._text, at)
        if word and word.group() in _WORDS:
            return _WORDS[word.group()], word.end()
        if word and word.end() == len(self._text):
            raise _UnfinishedError
        raise _BrokenError

    def _object(self, at: int, depth: int) -> tuple[dict[str, Any], int]:
        members: dict[str, Any] = {}
        at = self._skip_blank(at)
        while self._character(at) != "}":
            key, at = self._string(at)
            at = self._skip_blank(at)
            if self._character(at) != ":":
                raise _BrokenError
            self.has_read_key = True
            members[key], at = self.value(self._skip_blank(at + 1), depth)
            at = self._skip_comma(at, "}")
        return members, at + 1

    def _list(self, at: int, depth: int) -> tuple[list[Any], int]:
        elements: list[Any] = []
        at = self._skip_blank(at)
        while self._character(at) != "]":
            element, at = self.value(at, depth)
            elements.append(element)
            at = self._skip_comma(at, "]")
        return elements, at + 1

    def _string(self, at: int) -> tuple[str, int]:
        if whole := _STRING.match(self._text, at):
            return _joined(_ESCAPE.sub(_unescaped, whole.group()[1:-1])), whole.end()
        if self._character(at) in "\"'":
            raise _UnfinishedError
        raise _BrokenError

    def _skip_comma(self, at: int, closing: str) -> int:
        """Return where the next member stands, or the closing bracket, behind a comma or not."""
        at = self._skip_blank(at)
        if self._character(at) == ",":
            return self._skip_blank(at + 1)
        if self._character(at) != closing:
            raise _BrokenError
        return at

    def _skip_blank(self, at: int) -> int:
        blank = _BLANK.match(self._text, at)
        return blank.end() if blank else at

    def _character(self, at: int) -> str:
        if at >= len(self._text):
            raise _UnfinishedError
        return self._text[at]


def _number(text: str) -> int | float:
    try:
        return int(text)
    except ValueError:  # a fraction, or more digits than Python takes
        return float(text)


def _joined(text: str) -> str:
    """Return ``text`` with the halves of surrogate pairs put together, and those without another replaced."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _unescaped(escape: re.Match[str]) -> str:
    *codes, character = escape.groups()
    code = next(filter(None, codes), None)
    if code:
        return chr(int(code, 16))
    return _ESCAPED.get(character, character)
