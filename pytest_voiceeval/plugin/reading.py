"""What test reports and node ids tell of scenarios."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

import pytest

from pytest_voiceeval.report.outcomes import WORDS, Outcome, Word
from pytest_voiceeval.report.paths import shown_path
from pytest_voiceeval.report.properties import (
    ARTIFACTS,
    ATTEMPTS,
    BROKEN,
    CHANGED,
    RETRY_REASON,
    SCENARIO,
    VERDICT,
    look_up,
)
from pytest_voiceeval.run.words import ERROR


def outcome_of(
    report: pytest.TestReport, item: str | None, is_from_before: Callable[[Path], bool]
) -> Outcome | None:
    """Return what a report says about a scenario; ``None`` if it says nothing, or is about something else.

    A test by hand is about a scenario if the call was scored, or one of our fixtures failed.

    Args:
        report: of any test.
        item: the scenario whose item it is; ``None`` for a test by hand.
        is_from_before: whether what a folder has was made by an earlier start of the run.
    """
    word = _word(report)
    scenario = look_up(report.user_properties, SCENARIO) or item
    verdict = look_up(report.user_properties, VERDICT)
    is_broken = look_up(report.user_properties, BROKEN) is not None
    if word is None or not isinstance(scenario, str) or not (item or verdict or is_broken):
        return None
    if item and verdict is None and word in ("passed", "failed"):
        verdict = word  # of metrics that somebody else's fixture made
    folder = look_up(report.user_properties, ARTIFACTS)
    return Outcome(
        report.nodeid,
        scenario,
        word,
        verdict if isinstance(verdict, str) else None,
        Path(folder) if isinstance(folder, str) else None,
        number if isinstance(number := look_up(report.user_properties, ATTEMPTS), int) else 1,
        str(look_up(report.user_properties, RETRY_REASON) or ""),
        is_from_before=isinstance(folder, str) and is_from_before(Path(folder)),
        changes=str(look_up(report.user_properties, CHANGED) or ""),
    )


def _word(report: pytest.TestReport) -> Word | None:
    """Return what a report says of its test; ``None`` if it says nothing yet."""
    if report.outcome not in WORDS:  # a plugin that runs tests again has more words
        return None
    if report.when == "call":
        return report.outcome
    if report.failed:
        return "error"
    return "skipped" if report.skipped else None


def without_group(name: str) -> str:
    """Return a scenario's name without the group that ``--dist=loadgroup`` appends to node ids.

    A name with an ``@`` of its own stays as it is if there is such a scenario.
    """
    from pytest_voiceeval.scenarios.registry import scenario_class  # noqa: PLC0415 - light start

    head, at, _ = name.rpartition("@")
    return head if at and scenario_class(name) is None else name


def finished(outcome: Outcome) -> str:
    """Return what the run's log says when a scenario has ended."""
    text = f"Finished Scenario: {outcome.scenario}: {outcome.word}"
    if outcome.is_from_before:
        text += " (from before)"
    if outcome.retry_reason:
        text += f" (attempt {outcome.attempts}; the one before it was {outcome.retry_reason})"
    return text


def changes_told(outcomes: Iterable[Outcome]) -> list[str]:
    """Return which scenarios are other now than when their results were made."""
    return [
        f"{outcome.scenario} is not what it was when it was held ({outcome.changes}): its result stands; "
        f"remove {shown_path(outcome.folder)} to have it held again"
        for outcome in outcomes
        if outcome.changes and outcome.folder
    ]


def was_skipped(result: Mapping[str, object]) -> bool:
    """Return whether the metrics of a scenario say that there was nothing to score it by."""
    return result.get("is_successful") == "N/A" and result.get("verdict") != ERROR
