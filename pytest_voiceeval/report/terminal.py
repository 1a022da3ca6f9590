"""The section on voice scenarios at the end of a run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from pytest_voiceeval.model.safe_text import shortened, visible_line
from pytest_voiceeval.model.work import CLOCK_MEANINGS
from pytest_voiceeval.report.outcomes import Outcome, counts
from pytest_voiceeval.report.paths import shown_path
from pytest_voiceeval.run.agents import black_box_line, mixed_modes_line
from pytest_voiceeval.run.attempts import retried_attempts
from pytest_voiceeval.run.process_events import process_events, restarts_line
from pytest_voiceeval.run.readable import readable
from pytest_voiceeval.run.session import Tally
from pytest_voiceeval.run.unjudged import unjudged_line
from pytest_voiceeval.run.words import BROKEN_OFF, NOT_RUN, NOT_SCORED

FILES = (
    ("recording", "conversation_log.wav"),
    ("transcript", "conversation_log.txt"),
    ("metrics", "metrics.json"),
)
PARTS = {
    "recognition": "recognition",
    "model": "model",
    "synthesis": "synthesis",
    "rest": "turn-taking and transport",
}
FEW = 12
"""Up to so many scenarios, the files of each are listed; of more, those of the ones not passed."""


def summary_lines(
    outcomes: Sequence[Outcome],
    metrics: Mapping[Path, Mapping[str, Any]],
    folder: Path | None,
    tally: Tally,
    *,
    full: bool,
) -> Iterator[str]:
    """Yield the lines of the section, whatever bots and judges put into them safe for a terminal.

    Args:
        outcomes: in the order to show them.
        metrics: what ``metrics.json`` of each folder holds, as far as there is one.
        folder: of the run.
        tally: how many scenarios were to be held, and what became of them.
        full: list the files of all scenarios, however many there are.
    """
    for line in _lines(outcomes, metrics, folder, tally, full=full):
        yield shortened(visible_line(line))


def _lines(
    outcomes: Sequence[Outcome],
    metrics: Mapping[Path, Mapping[str, Any]],
    folder: Path | None,
    tally: Tally,
    *,
    full: bool,
) -> Iterator[str]:
    metrics = {place: readable(record) for place, record in metrics.items()}
    width = max((len(outcome.scenario) for outcome in outcomes), default=0)
    for outcome in outcomes:
        record = metrics.get(outcome.folder) if outcome.folder else None
        origin = ", from before" if outcome.is_from_before else ""
        yield f"{outcome.scenario:<{width}}  {outcome.word:<7}  {_figures(record)}{origin}".rstrip()
        yield from _attempt_lines(outcome, record or {})
        for side, told in process_events(record or {}, "restarted").items():
            yield f"  {side}: {told}"
        if outcome.folder and (full or len(outcomes) <= FEW or outcome.word != "passed"):
            yield from _latency_lines(record)
            yield from _judge_lines(record or {})
            yield from _file_lines(outcome.folder)
    for clock in sorted({str(record["clock"]) for record in metrics.values() if "clock" in record}):
        meaning = next((text for name, text in CLOCK_MEANINGS.items() if name == clock), "")
        yield f"clock: {clock} ({meaning})" if meaning else f"clock: {clock}"
    if not_judged := unjudged_line(metrics.values()):
        yield not_judged
    if black_boxes := black_box_line(metrics.values()):
        yield black_boxes
    if mixed := mixed_modes_line(metrics.values()):
        yield f"warning: {mixed}"
    if restarts := restarts_line(metrics.values()):
        yield restarts
    yield _count_line(outcomes, tally)
    if folder:
        yield f"run folder: {shown_path(folder)}"


def _figures(record: Mapping[str, Any] | None) -> str:
    if record is None:
        return ""
    stats = record.get("latency_stats") or {}
    figures = [
        f"{stats[key]:.0f} ms {word}"
        for key, word in (("mean_ms", "mean"), ("p95_ms", "p95"))
        if stats.get(key) is not None
    ]
    latency = f"latency {', '.join(figures)}" if figures else "no latency measured"
    call = f"{record.get('total_turns', '?')} turns"
    if isinstance(seconds := record.get("duration_seconds"), int | float):
        call += f" in {seconds:.1f} s"
    return f"{call}, {latency}, {record.get('stop_reason', 'no stop reason known')}"


def _attempt_lines(outcome: Outcome, record: Mapping[str, Any]) -> Iterator[str]:
    """Yield the calls that do not count: as the metrics tell, else the last one as the report tells."""
    for attempt in retried_attempts(record):
        folder = outcome.folder.with_name(str(attempt["directory"])) if outcome.folder else None
        where = f"; its files: {shown_path(folder)}" if folder else ""
        yield f"  attempt {attempt['attempt']} does not count: {attempt['retry_reason']}{where}"
    if outcome.attempts > 1 and not record:
        yield f"  attempt {outcome.attempts - 1} does not count: {outcome.retry_reason}"


def _latency_lines(record: Mapping[str, Any] | None) -> Iterator[str]:
    """Yield what the mean latency is made of, as far as the agent's bot reports it."""
    split = [entry["parts_ms"] for entry in (record or {}).get("latencies") or () if "parts_ms" in entry]
    if split:
        means = {part: sum(parts.get(part, 0) for parts in split) / len(split) for part in PARTS}
        yield (
            "  latency:    " + ", ".join(f"{PARTS[part]} {mean:.0f}" for part, mean in means.items()) + " ms"
        )


def _judge_lines(record: Mapping[str, Any]) -> Iterator[str]:
    """Yield what the judge came to, if one was asked."""
    if "judge_error" in record:
        yield f"  judge:      error: {record['judge_error']}"
    elif "judge_score" in record:
        spread = record.get("judge_spread")
        samples = "" if spread is None else f" (scores of its samples are {spread:g} apart)"
        yield f"  judge:      score {record['judge_score']:g}{samples}"


def _file_lines(folder: Path) -> Iterator[str]:
    present = [(label, folder / name) for label, name in FILES if (folder / name).exists()]
    for label, path in present or [("files", folder)]:
        yield f"  {label + ':':<11} {shown_path(path)}"


def _count_line(outcomes: Sequence[Outcome], tally: Tally) -> str:
    words = [
        f"{count} {'errors' if word == 'error' and count != 1 else word}"
        for word, count in counts(outcomes).items()
    ]
    words += [f"{tally.retried} held again"] if tally.retried else []
    words += [f"{tally.from_before} from before"] if tally.from_before else []
    words += [f"{tally.broken_off} {BROKEN_OFF}"] if tally.broken_off else []
    words += [f"{tally.not_scored} held and {NOT_SCORED}"] if tally.not_scored else []
    words += [f"{tally.not_run} {NOT_RUN}"] if tally.not_run else []
    verdicts = [outcome.verdict for outcome in outcomes if outcome.is_scored]
    rate = f"; {verdicts.count('passed')} of {len(verdicts)} with a verdict passed" if verdicts else ""
    return f"voice scenarios: {', '.join(words)}{rate}"
