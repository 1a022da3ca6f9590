"""What became of the scenarios of a run, as test reports tell it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

Word = Literal["passed", "failed", "skipped", "error", "broken off", "not scored"]
WORDS: tuple[Word, ...] = ("passed", "failed", "skipped", "error")
"""Those that a report says; a scenario that was broken off, or not scored, has none."""


@dataclass(frozen=True)
class Outcome:
    """One test that held a call, or should have.

    Attributes:
        node_id: of the test.
        scenario: name of the scenario.
        word: what became of the test.
        verdict: what scoring came to; ``None`` if it came to nothing.
        folder: where its files are; ``None`` if it made none.
        attempts: how many calls were held; the last one counts.
        retry_reason: why the one before that does not.
        is_from_before: the result was made by an earlier start of the run that this one goes on with.
        changes: what of the scenario is other now than it was then.
    """

    node_id: str
    scenario: str
    word: Word
    verdict: str | None = None
    folder: Path | None = None
    attempts: int = 1
    retry_reason: str = ""
    is_from_before: bool = False
    changes: str = ""

    @property
    def is_scored(self) -> bool:
        """Whether it has a verdict that counts in rates."""
        return self.verdict in ("passed", "failed")


def counts(outcomes: Iterable[Outcome]) -> dict[str, int]:
    """Return how many there are of each word that reports say, all of these included."""
    found = Counter(outcome.word for outcome in outcomes)
    return {word: found[word] for word in WORDS}
