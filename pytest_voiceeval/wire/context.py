"""The context history that a bot answers with."""

from __future__ import annotations

import ast
import json
from typing import Any


def parse_context(value: Any) -> list[dict[str, Any]] | None:
    """Return the messages of a ``context`` answer; ``None`` if it makes no sense.

    Bots send the list as text: printed as a Python literal, or as JSON. It is read by a literal
    parser, never evaluated. A list is taken as it is.
    """
    content = _read(value) if isinstance(value, str) else value
    if not isinstance(content, list) or not all(isinstance(message, dict) for message in content):
        return None
    return content


def _read(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        pass
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError, RecursionError, MemoryError, TypeError):
        return None
