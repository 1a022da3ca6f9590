"""The section on voice scenarios at the end of a run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from pytest_voiceeval.model.work import CLOCK_MEANINGS
from pytest_voiceeval.report.failure import shown_path
from pytest_voiceeval.report.outcomes import Outcome, counts

FILES = (
    ("recording", "conversation_log.wav"),
    ("transcript", "conversation_log.txt"),
    ("metrics", "metrics.json"),
)
FEW = 12
"""Up to so many scenarios, the files of each are listed; of more, those of the ones not passed."""


def summary_lines(
    outcomes: Sequence[Outcome], metrics: Mapping[Path, Mapping[str, Any]], folder: Path | None, *, full: bool
) -> Iterator[str]:
    """Yield the lines of the section.

    Args:
        outcomes: in the order to show them.
        metrics: what ``metrics.json`` of each folder holds, as far as there is one.
        folder: of the run.
        full: list the files of all scenarios, however many there are.
    """
    width = max((len(outcome.scenario) for outcome in outcomes), default=0)
    for outcome in outcomes:
        record = metrics.get(outcome.folder) if outcome.folder else None
        yield f"{outcome.scenario:<{width}}  {outcome.word:<7}  {_figures(record)}".rstrip()
        if outcome.folder and (full or len(outcomes) <= FEW or outcome.word != "passed"):
            yield from _file_lines(outcome.folder)
    for clock in sorted({record["clock"] for record in metrics.values() if "clock" in record}):
        yield f"clock: {clock} ({CLOCK_MEANINGS[clock]})"
    yield _count_line(outcomes, metrics)
    if folder:
        yield f"run folder: {shown_path(folder)}"


def _figures(record: Mapping[str, Any] | None) -> str:
    if record is None:
        return ""
    stats = record["latency_stats"]
    latency = "no latency measured"
    if stats["count"]:
        latency = f"latency {stats['mean_ms']:.0f} ms mean, {stats['p95_ms']:.0f} ms p95"
    call = f"{record['total_turns']} turns in {record['duration_seconds']:.1f} s"
    return f"{call}, {latency}, {record['stop_reason']}"


def _file_lines(folder: Path) -> Iterator[str]:
    present = [(label, folder / name) for label, name in FILES if (folder / name).exists()]
    for label, path in present or [("files", folder)]:
        yield f"  {label + ':':<11} {shown_path(path)}"


def _count_line(outcomes: Sequence[Outcome], metrics: Mapping[Path, Mapping[str, Any]]) -> str:
    tally = counts(outcomes)
    words = [
        f"{count} {'errors' if word == 'error' and count != 1 else word}" for word, count in tally.items()
    ]
    scored = tally["passed"] + tally["failed"]
    rate = f"; {tally['passed']} of {scored} with a verdict passed" if scored else ""
    return f"voice scenarios: {', '.join(words)}{rate}"
