"""Texts of others made safe for what they are written into: terminals, lines of files, JSON, spreadsheets.

What an agent, a model or a tool says is shown in many places. Whatever it is, it stays readable there and
does nothing: it moves no cursor, begins no line, turns no text around, and can be encoded.
"""

from __future__ import annotations

import re

MOST_CHARACTERS = 2_000
"""Longest line of somebody else's words that a person is shown."""

CELL_CHARACTERS = 32_000
"""Longest text of a cell: spreadsheets hold 32,767, and Python's ``csv`` reads 131,072."""

_LAYOUT = r"\t\n"
_CONTROLS = r"\x00-\x08\x0b-\x1f"  # escapes of terminals begin with one
_ACTS = (
    r"\x7f-\x9f"  # controls, too
    r"\u2028\u2029"  # ends of lines to some
    r"\u061c\u200e\u200f\u202a-\u202e\u2066-\u206f"  # turn what follows around
    r"\u200b\u2060-\u2064\ufeff\ufff9-\ufffb\U000e0001"  # nobody sees them; joiners stay, scripts need them
    r"\ud800-\udfff\ufffe\uffff"  # halves of surrogate pairs, which UTF-8 cannot hold, and XML neither
)
_ACTING = re.compile(f"[{_LAYOUT}{_CONTROLS}{_ACTS}]")
_ACTING_BUT_LAYOUT = re.compile(f"[{_CONTROLS}{_ACTS}]")
_ACTING_IN_JSON = re.compile(f"[{_ACTS}]")


def encodable(text: str) -> str:
    """Return ``text`` with what UTF-8 cannot hold, half a surrogate pair, as its escape."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def visible(text: str) -> str:
    r"""Return ``text`` with every character that acts, or cannot be seen, as its escape (``\x1b``).

    Lines and tabs stay, and so do all letters, signs and emoji. The ends of lines become plain ones.
    """
    return _ACTING_BUT_LAYOUT.sub(_escape, text.replace("\r\n", "\n"))


def visible_line(text: str) -> str:
    r"""Return ``text`` as one line: as ``visible`` does, ends of lines and tabs as their escapes too."""
    return _ACTING.sub(_escape, text)


def visible_words(text: str) -> str:
    """Return the words of ``text`` with one space between them, as one line that is ``visible``."""
    return visible_line(" ".join(text.split()))


def shortened(text: str, limit: int = MOST_CHARACTERS) -> str:
    """Return ``text``, or its first ``limit`` characters and how many more there are."""
    left = len(text) - limit
    return text if left <= 0 else f"{text[:limit]} … ({left:,} more characters)"


def shown_lines(text: str, limit: int = MOST_CHARACTERS) -> str:
    """Return ``text`` for a person: ``visible``, each line ``shortened``."""
    return "\n".join(_visible_start(line, limit) for line in text.replace("\r\n", "\n").split("\n"))


def json_document(text: str) -> str:
    """Return a JSON document that says the same, in which nothing acts on the terminal that it is shown in.

    Such characters can only stand in its texts, where JSON has an escape for each.
    """
    return _ACTING_IN_JSON.sub(_json_escape, text)


def cell(text: str) -> str:
    """Return ``text`` for a cell of a table: ``visible``, and not longer than programs read."""
    return _visible_start(text, CELL_CHARACTERS)


def _visible_start(text: str, limit: int) -> str:
    left = len(text) - limit
    seen = visible(text[:limit])
    return shortened(seen, limit) if left <= 0 else f"{seen[:limit]} … ({left:,} more characters)"


def _escape(found: re.Match[str]) -> str:
    return found[0].encode("unicode_escape").decode("ascii")


def _json_escape(found: re.Match[str]) -> str:
    units = found[0].encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[at : at + 2].hex()}" for at in range(0, len(units), 2))
