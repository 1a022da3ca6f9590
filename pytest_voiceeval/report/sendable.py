"""Values that every report can carry: JUnit XML, pytest-xdist, and strict JSON."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from datetime import date, time
from enum import Enum
from typing import Any

from pytest_voiceeval.model.safe_text import encodable

MOST_BITS = 10_000
"""Longest whole number that is sent as a number: Python refuses to print longer ones."""

LOWEST = -(2**31)
"""Lowest whole number that is sent as a number: xdist can't send lower ones, and can the highest."""

MOST_LEVELS = 20
"""Levels of nesting that are sent; of what lies deeper only the type's name is."""


def sendable(value: object, above: tuple[int, ...] = ()) -> Any:
    """Return ``value`` made of texts, numbers, truth values, ``None``, and lists and dicts of these.

    The types are the plain ones, never classes made of them. Numbers that are not finite become their names
    (``"nan"``), sets sorted lists, bytes and paths texts, dates and times ISO 8601, scalars and arrays of
    numpy what they hold, anything else its text.

    Args:
        value: of any type.
        above: identities of what ``value`` lies in.
    """
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, Enum):
        return sendable(value.value, above)
    if isinstance(value, str | bytes | bytearray | os.PathLike | date | time):
        return sendable_text(value)
    if isinstance(value, int | float):
        return _sendable_number(value)
    if len(above) >= MOST_LEVELS or id(value) in above:
        return f"<{type(value).__name__}>"
    return _sendable_of_many(value, (*above, id(value)))


def _sendable_number(value: float) -> int | float | str:
    if isinstance(value, int):
        if value.bit_length() > MOST_BITS:
            return hex(value)
        return int(value) if value >= LOWEST else str(int(value))
    return float(value) if math.isfinite(value) else str(float(value))


def _sendable_of_many(value: object, inside: tuple[int, ...]) -> Any:
    if isinstance(value, Mapping):
        return {sendable_text(key): sendable(inner, inside) for key, inner in value.items()}
    if isinstance(value, set | frozenset):
        return sorted((sendable(inner, inside) for inner in value), key=repr)
    if isinstance(value, list | tuple):
        return [sendable(inner, inside) for inner in value]
    held = getattr(value, "tolist", None)  # of numpy's scalars and arrays, and of what follows their example
    return sendable(held(), inside) if callable(held) else sendable_text(value)


def sendable_text(value: object) -> str:
    """Return the text of ``value``; half a surrogate pair, which UTF-8 can't hold, as its escape."""
    try:
        text = _text(value)
    except Exception:  # whatever a foreign object raises must not cost the report
        text = f"<{type(value).__name__}>"
    return encodable(text)


def _text(value: object) -> str:
    if isinstance(value, str):
        return str.__str__(value)
    if isinstance(value, bytes | bytearray):
        return bytes(value).decode("utf-8", "backslashreplace")
    if isinstance(value, date | time):
        return value.isoformat()
    return os.fsdecode(value) if isinstance(value, os.PathLike) else str(value)
