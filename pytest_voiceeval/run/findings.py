"""What a check of scenarios finds: one line each, with the place and what to do."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

SHOWN_CHARACTERS = 400

_PLACE = re.compile(r"(?P<file>.+?\.py)(?::(?P<line>\d+))?: (?P<what>.+)", re.DOTALL)


@dataclass(frozen=True)
class Finding:
    """One thing that was found.

    Attributes:
        place: file and line, as ``file:line``; the file alone where the line can't be told.
        scenario: name of the scenario; empty for what concerns a file.
        what: what is there.
        remedy: what to do instead; empty if the text says it already, or nothing is to be done.
        is_fault: it has to be mended; else it is a note.
    """

    place: str
    scenario: str
    what: str
    remedy: str = ""
    is_fault: bool = True

    @classmethod
    def of(cls, text: str, scenario: str = "", place: str = "") -> Finding:
        """Return a fault from an error's text, which may begin with its own place."""
        found = _PLACE.fullmatch(text)
        if found is None:
            return cls(place, scenario, text)
        where = ":".join(part for part in (found["file"], found["line"]) if part)
        return cls(where, scenario, found["what"])

    def __str__(self) -> str:
        what = " ".join(self.what.split())
        if len(what) > SHOWN_CHARACTERS:
            what = f"{what[:SHOWN_CHARACTERS]} …"
        text = f"{what}; {self.remedy}" if self.remedy else what
        kind = "" if self.is_fault else "note"
        return ": ".join(part for part in (self.place, kind, self.scenario, text) if part)

    def to_json(self) -> dict[str, Any]:
        """Return the finding as an object, its place in parts."""
        file, _, line = self.place.rpartition(":")
        has_line = line.isdigit()
        return {
            "kind": "fault" if self.is_fault else "note",
            "file": file if has_line else self.place,
            "line": int(line) if has_line else None,
            "scenario": self.scenario or None,
            "what": self.what,
            "remedy": self.remedy or None,
        }
