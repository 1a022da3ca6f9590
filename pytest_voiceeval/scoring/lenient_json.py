"""Finding JSON in text as models write it: Python's constants and quotes, commas too many, words around it.

Only what is whole is found. A library that repairs broken JSON would close what was cut off, and so make
up the rest of it.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_left
from dataclasses import dataclass
from functools import cached_property
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
        if self.unfinished is not None and self.unfinished < at:
            return True
        before = bisect_left(self._spans, (at, 0)) - 1
        return before >= 0 and at < self._spans[before][1]

    @cached_property
    def _spans(self) -> list[tuple[int, int]]:
        return sorted([*((one.start, one.end) for one in self.whole), *self.broken])


def found_in(text: str) -> Findings:
    """Return the objects and lists in ``text``; takes time in proportion to its length."""
    whole: list[Found] = []
    broken: list[tuple[int, int]] = []
    unfinished = None
    at = 0
    reader = _Reader(text)
    while opening := _OPENING.search(text, at):
        start, at = opening.span()
        read = reader.read(start)
        if read.end:
            whole.append(Found(read.value, start, read.end))
            at = read.end
        elif read.breaks_off:
            if unfinished is None and (read.has_key or _BEGUN_OBJECT.match(text, start)):
                unfinished = start
        elif read.has_key:
            at = _balanced(text, start)
            broken.append((start, at))
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


@dataclass(frozen=True)
class _Read:
    """What came of reading an object or a list: its value, or that it is broken, or that it breaks off.

    Attributes:
        value: what it is, if it is whole.
        end: behind its last character; 0 if it is not whole.
        height: levels of nesting, its own included.
        has_key: a key with its colon was read in it, or in what is nested in it.
        breaks_off: the text ends before it does.
    """

    value: Any = None
    end: int = 0
    height: int = 0
    has_key: bool = False
    breaks_off: bool = False


@dataclass
class _Open:
    """An object or a list that is being read."""

    start: int
    members: dict[str, Any] | list[Any]
    key: str = ""
    height: int = 1

    @property
    def closing(self) -> str:
        return "}" if isinstance(self.members, dict) else "]"

    def put(self, value: Any) -> None:
        if isinstance(self.members, dict):
            self.members[self.key] = value
        else:
            self.members.append(value)


class _Reader:
    """Reads objects and lists from a text, without recursion, and each of them once.

    What is open where the reading ends is no more whole if the reading begins with it.
    """

    def __init__(self, text: str) -> None:
        self._text = text
        self._known: dict[int, _Read] = {}
        self._last_key = -1

    def read(self, start: int) -> _Read:
        """Return what came of reading the object or list that begins at ``start``."""
        if start not in self._known:
            self._last_key = -1
            stack: list[_Open] = []
            try:
                self._read_all(start, stack)
            except (_BrokenError, _UnfinishedError) as exc:
                breaks_off = isinstance(exc, _UnfinishedError)
                for one in stack:
                    has_key = self._last_key > one.start
                    self._known[one.start] = _Read(has_key=has_key, breaks_off=breaks_off)
        return self._known[start]

    def _read_all(self, at: int, stack: list[_Open]) -> None:
        """Read what begins at ``at``; in ``stack`` is what is open meanwhile, the innermost last."""
        while True:
            if self._character(at) in "{[" and at not in self._known:
                stack.append(_Open(at, {} if self._text[at] == "{" else []))
                at = self._skip_blank(at + 1)
            else:
                value, at = self._nested(at, stack[-1]) if at in self._known else self._scalar(at)
                stack[-1].put(value)
                at = self._skip_comma(at, stack[-1].closing)
            while self._character(at) == stack[-1].closing:
                at = self._close(stack.pop(), at + 1, stack)
                if not stack:
                    return
            if isinstance(stack[-1].members, dict):
                stack[-1].key, at = self._key(at)

    def _close(self, one: _Open, end: int, stack: list[_Open]) -> int:
        """Note what was read as whole, put it where it belongs, and return where what follows stands."""
        has_key = self._last_key > one.start
        too_deep = one.height > MAX_DEPTH
        whole = _Read(None if too_deep else one.members, 0 if too_deep else end, one.height, has_key)
        self._known[one.start] = whole
        if not stack:
            return end
        stack[-1].put(whole.value)
        stack[-1].height = max(stack[-1].height, one.height + 1)
        return self._skip_comma(end, stack[-1].closing)

    def _nested(self, at: int, parent: _Open) -> tuple[Any, int]:
        """Return what is known of the object or list at ``at``, within ``parent``, and where it ends."""
        known = self._known[at]
        if known.has_key:
            self._last_key = max(self._last_key, at)
        if not known.end:
            raise _UnfinishedError if known.breaks_off else _BrokenError
        parent.height = max(parent.height, known.height + 1)
        return known.value, known.end

    def _key(self, at: int) -> tuple[str, int]:
        """Return a key and where its value begins."""
        key, at = self._string(at)
        at = self._skip_blank(at)
        if self._character(at) != ":":
            raise _BrokenError
        self._last_key = at
        return key, self._skip_blank(at + 1)

    def _scalar(self, at: int) -> tuple[Any, int]:
        """Return a text, a number or a constant, and where it ends."""
        if self._character(at) in "\"'":
            return self._string(at)
        if number := _NUMBER.match(self._text, at):
            return _number(number.group()), number.end()
        word = _WORD.match(self._text, at)
        if word and word.group() in _WORDS:
            return _WORDS[word.group()], word.end()
        if word and word.end() == len(self._text):
            raise _UnfinishedError
        raise _BrokenError

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
