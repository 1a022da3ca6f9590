"""The context history that a bot answers with."""

from __future__ import annotations

import ast
import json
import math
import warnings
from typing import Any

LONGEST_BITS = 4096
"""Whole numbers longer than this count as not finite: no reader of JSON takes them."""


def parse_context(value: Any) -> list[dict[str, Any]] | None:
    """Return the messages of a ``context`` answer; ``None`` if it makes no sense.

    Bots send the list as text: printed as a Python literal, or as JSON. It is read by a literal
    parser, never evaluated. A list is taken as it is.
    """
    content = _read(value) if isinstance(value, str) else value
    if not isinstance(content, list) or not all(isinstance(message, dict) for message in content):
        return None
    try:
        return [_plain(message) for message in content]
    except RecursionError:
        return None


def _plain(value: Any) -> Any:
    """Return ``value`` as strict JSON has it: text keys, no number that is not finite."""
    if isinstance(value, dict):
        return {_text(key): _plain(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple | set):
        return [_plain(inner) for inner in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, int) and value.bit_length() > LONGEST_BITS:
        return None
    return value if value is None or isinstance(value, str | int | float) else _text(value)


def _text(value: Any) -> str:
    """Return ``value`` as text, also where it holds a number of more digits than Python prints."""
    try:
        return str(value)
    except ValueError:
        return f"({type(value).__name__} that cannot be shown)"


def _read(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        pass
    try:
        with warnings.catch_warnings(action="ignore"):  # of escapes that a string should not have
            return ast.literal_eval(text)
    except (ValueError, SyntaxError, RecursionError, MemoryError, TypeError):
        return None
