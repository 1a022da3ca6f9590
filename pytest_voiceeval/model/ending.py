"""How a call ended, and what had happened until then: for a person."""

from __future__ import annotations

from dataclasses import dataclass

ENDING = "ending"
"""Key of ``metrics.json``, our addition, only where the agent did not end the call: how it ended."""


@dataclass(frozen=True)
class Ending:
    """Why and where a call ended.

    Attributes:
        cause: what ended it, such as ``the agent went away: closed with code 1000``.
        where: how far it had come: ``3.4 s into the call, after turn 2, the user's: "Bye."``.
        last_event: what a bot had told last, with its time and side; empty if none had told anything.
    """

    cause: str = ""
    where: str = ""
    last_event: str = ""

    def lines(self) -> list[str]:
        """Return where it ended and after what, one line each, indented by two blanks."""
        named = (("where", self.where), ("last event", self.last_event))
        return [f"  {name}: {text}" for name, text in named if text]

    @classmethod
    def of_json(cls, content: object) -> Ending:
        """Return the ending that ``metrics.json`` tells; an empty one if it tells none."""
        found = content if isinstance(content, dict) else {}
        return cls(*(str(found.get(key) or "") for key in ("cause", "where", "last_event")))

    def to_json(self) -> dict[str, str]:
        """Return what ``metrics.json`` holds of it."""
        return {"cause": self.cause, "where": self.where, "last_event": self.last_event}
