"""Golden files: reading them into cases."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

Kind = Literal["scoring case", "tool call", "scenario record", "unknown"]

TELLTALES: dict[str, Kind] = {
    "function": "scoring case",
    "tool": "tool call",
    "success_signals": "scenario record",
    "tool_domain": "scenario record",
}
"""Fields that tell what a line is."""


class GoldenFileError(Exception):
    """A golden file, or a case in it, is not in the form that it must have; the text says what is wrong."""


class Given(dict[str, Any]):
    """An object of a golden file; a field that it lacks is an error in the file.

    What lies in it is plain, for code under test looks at types.
    """

    def __init__(self, value: Any) -> None:
        if not isinstance(value, dict):
            raise GoldenFileError(f"an object is wanted, not {value!r}")
        super().__init__(value)

    def __missing__(self, key: str) -> Any:
        raise GoldenFileError(f"there is no field {key!r}; there are: {', '.join(self) or 'none'}")


@dataclass(frozen=True)
class Case:
    """One thing that must hold.

    Attributes:
        place: file and line, or place in the file's list.
        id: what it is called; its place if it has no id.
        kind: which form it has.
        given: all its fields.
    """

    place: str
    id: str
    kind: Kind
    given: Given


def read_cases(path: Path) -> list[Case]:
    """Return all cases of ``path``, in order.

    Raises:
        GoldenFileError: if it cannot be read, or is neither a list of scenario records nor JSON by lines.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as exc:
        raise GoldenFileError(f"{path}: {exc}") from None
    found = list(_records(path, text) if _is_one_value(text) else _lines(path, text))
    if not found:
        raise GoldenFileError(f"{path}: it holds no case")
    return found


def _is_one_value(text: str) -> bool:
    try:
        whole = json.loads(text)
    except ValueError:
        return False
    return isinstance(whole, list) or (isinstance(whole, dict) and "scenarios" in whole)


def _records(path: Path, text: str) -> Iterator[Case]:
    whole = json.loads(text, object_hook=_float)
    listed = whole["scenarios"] if isinstance(whole, dict) else whole
    if not isinstance(listed, list):
        raise GoldenFileError(f"{path}: 'scenarios' is no list")
    for number, record in enumerate(listed, start=1):
        yield _case(f"{path.name}[{number}]", record)


def _lines(path: Path, text: str) -> Iterator[Case]:
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        try:
            yield _case(f"{path.name}:{number}", json.loads(line, object_hook=_float))
        except ValueError as exc:
            raise GoldenFileError(f"{path}:{number}: not JSON: {exc}") from None


def _case(place: str, value: Any) -> Case:
    if not isinstance(value, dict):
        raise GoldenFileError(f"{place}: a case is an object, not {type(value).__name__}")
    kind = next((TELLTALES[key] for key in TELLTALES if key in value), "unknown")
    return Case(place, str(value.get("id") or value.get("name") or place), kind, Given(value))


def _float(value: dict[str, Any]) -> Any:
    return float(value["$float"]) if value.keys() == {"$float"} else value
