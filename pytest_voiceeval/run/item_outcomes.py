"""What became of the items of a run, as ``run_args.json`` keeps it for each start."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from pytest_voiceeval.run.session import Tally
from pytest_voiceeval.run.words import BROKEN_OFF, ERROR, NOT_RUN, NOT_SCORED, SKIPPED

OUTCOMES = "outcomes"
"""Key of a start's record; it is there once the start came to its end."""


@dataclass(frozen=True)
class ItemOutcome:
    """What became of one item.

    Attributes:
        item: whose it is: a scenario's name, or the node id of a test by hand.
        scenario: its name.
        outcome: ``passed``, ``failed``, ``skipped``, ``error``, ``broken off``, ``not scored`` or
            ``not run``.
        verdict: what scoring came to; ``None`` if it came to nothing.
        folder: name of its folder in that of the run; ``None`` if it made none.
        attempts: how many calls were held.
    """

    item: str
    scenario: str
    outcome: str
    verdict: str | None = None
    folder: str | None = None
    attempts: int = 1

    @property
    def is_scored(self) -> bool:
        """Whether it has a verdict that counts in rates."""
        return self.verdict in ("passed", "failed")


def outcome_records(outcomes: Iterable[ItemOutcome]) -> list[dict[str, Any]]:
    """Return what a start's record holds of them, in an order that does not depend on who was faster."""
    return [asdict(outcome) for outcome in sorted(outcomes, key=lambda o: (o.scenario, o.item))]


def read_outcomes(starts: Sequence[Mapping[str, Any]]) -> dict[str, ItemOutcome]:
    """Return the outcome of each item that starts of a run recorded; of several, the last one that is known.

    A later start that did not come to an item takes nothing away from what an earlier one did.
    """
    found: dict[str, ItemOutcome] = {}
    for start in starts:
        entries = start.get(OUTCOMES)
        for entry in entries if isinstance(entries, list) else ():
            outcome = _read(entry)
            if outcome and not (outcome.outcome == NOT_RUN and outcome.item in found):
                found[outcome.item] = outcome
    return found


def _read(entry: object) -> ItemOutcome | None:
    if not isinstance(entry, Mapping):
        return None
    texts = {key: entry.get(key) for key in ("item", "scenario", "outcome")}
    if not all(isinstance(text, str) and text for text in texts.values()):
        return None
    verdict, folder, attempts = entry.get("verdict"), entry.get("folder"), entry.get("attempts")
    is_inside = isinstance(folder, str) and Path(folder).name == folder != ".."
    return ItemOutcome(
        **{key: str(text) for key, text in texts.items()},
        verdict=verdict if isinstance(verdict, str) else None,
        folder=str(folder) if is_inside else None,
        attempts=attempts if isinstance(attempts, int) else 1,
    )


def tally_of(outcomes: Iterable[ItemOutcome]) -> Tally:
    """Return how many items there were, and what became of those that are in no rate."""
    listed = list(outcomes)
    unscored = [outcome.outcome for outcome in listed if not outcome.is_scored]
    return Tally(
        total=len(listed),
        errors=unscored.count(ERROR),
        skipped=unscored.count(SKIPPED),
        broken_off=unscored.count(BROKEN_OFF),
        not_scored=unscored.count(NOT_SCORED),
        not_run=unscored.count(NOT_RUN),
        retried=sum(outcome.attempts > 1 for outcome in listed),
    )
