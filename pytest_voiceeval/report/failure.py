"""The text of a scenario that failed, or to which nothing applies."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from pytest_voiceeval.model.ending import ENDING, Ending
from pytest_voiceeval.model.safe_text import shown_lines
from pytest_voiceeval.report.paths import shown_path
from pytest_voiceeval.run.agent_turns import AGENT_TURNS, INSUFFICIENT, MINIMUM
from pytest_voiceeval.run.agents import black_box_text
from pytest_voiceeval.run.attempts import retried_attempts
from pytest_voiceeval.run.process_events import process_events

if TYPE_CHECKING:
    from pytest_voiceeval.model.metrics import Metrics, SignalResult

LAST_TURNS = 6
REPORTED_ERRORS = 3
"""How many of the errors that a bot reported are shown: the last ones."""

TOOL_ANSWER_CHARACTERS = 200


def failure_text(metrics: Metrics) -> str:
    """Return all that a person needs to act: signals, expected beside found, last turns, files.

    It begins with what failed: pytest's summary shows few columns of it behind the scenario's name. Nothing
    in it acts on a terminal, and no line is endless.
    """
    lines = [_headline(metrics), ""]
    for result in whitelisted(metrics):
        lines += _signal_lines(result)
    lines += [
        "",
        *_attempt_lines(metrics),
        *_call_lines(metrics),
        *_error_lines(metrics),
        "",
        f"  artefacts: {shown_path(metrics.scenario_directory)}",
    ]
    return shown_lines("\n".join(lines))


def _headline(metrics: Metrics) -> str:
    if INSUFFICIENT in metrics.json:
        return (
            f"insufficient agent turns in {metrics.scenario_name}: the agent answered "
            f"{metrics.json[AGENT_TURNS]} time(s), fewer than {metrics.json[MINIMUM]} "
            "(--voice-min-agent-turns; 0 for no minimum)"
        )
    failed = ", ".join(metrics.scores.breakdown.failed) or "compute_is_successful"
    return f"{failed} failed in {metrics.scenario_name}"


def skip_reason(metrics: Metrics) -> str:
    """Return why there is nothing to score by."""
    unknown = [result for result in whitelisted(metrics) if result.passed is None]
    return nothing_to_score_by(metrics.scenario_name, unknown)


def nothing_to_score_by(scenario_name: str, unknown: Iterable[SignalResult]) -> str:
    """Return that a scenario has no verdict for want of the ``unknown`` signals."""
    reasons = [f"{result.signal.value}: {result.explanation or 'does not apply'}" for result in unknown]
    return shown_lines(f"{scenario_name}: there is nothing to score by ({'; '.join(reasons)})")


def judge_error_text(metrics: Metrics) -> str:
    """Return why the signals of a judge came to nothing, and where the files are."""
    lines = [
        f"{metrics.scenario_name}: {result.signal.value} could not be determined: {result.error}"
        for result in whitelisted(metrics)
        if result.error
    ]
    return shown_lines("\n".join([*lines, f"  artefacts: {shown_path(metrics.scenario_directory)}"]))


def whitelisted(metrics: Metrics) -> list[SignalResult]:
    """Return the results of the signals that decide, in the order of ``SuccessSignal``."""
    breakdown = metrics.scores.breakdown
    keys = {*breakdown.passed, *breakdown.failed, *breakdown.not_applicable, *breakdown.error}
    return [result for result in metrics.scores.results if result.signal.value in keys]


def outcome_word(result: SignalResult) -> str:
    """Return what became of a signal."""
    if result.error:
        return "ERROR"
    if result.passed is None:
        return "not applicable"
    return "passed" if result.passed else "FAILED"


def _signal_lines(result: SignalResult) -> Iterator[str]:
    yield f"  {result.signal.value:<18} {outcome_word(result)}"
    if not result.passed:
        for line in (result.error or result.explanation).splitlines():
            yield f"      {line}"


def _attempt_lines(metrics: Metrics) -> Iterator[str]:
    for attempt in retried_attempts(metrics.json):
        yield (
            f"  attempt {attempt['attempt']} does not count ({attempt['retry_reason']}); its files: "
            f"{attempt['directory']}"
        )


def _call_lines(metrics: Metrics) -> Iterator[str]:
    content = metrics.json
    turns = content["turns"]
    ending = Ending.of_json(content.get(ENDING))
    cause = f": {ending.cause}" if ending.cause else ""
    yield f"  stop reason: {content['stop_reason']} after {content['duration_seconds']:.1f} s{cause}"
    yield from ending.lines()
    for told in process_events(content, "ended").values():
        yield from (f"  {line}" for line in told.splitlines())
    for side, told in process_events(content, "restarted").items():
        yield f"  the {side} bot was started again before this call: {told}"
    if black_box := black_box_text(content):
        yield f"  {black_box}"
    for side, error in (content.get("pull_errors") or {}).items():
        yield f"  evidence of the {side} is missing: {error}"
    if not turns:
        yield "  turns: none; nobody was heard"
        return
    shown = turns[-LAST_TURNS:]
    yield f"  last {len(shown)} of {len(turns)} turns:" if len(turns) > len(shown) else "  turns:"
    for turn in shown:
        yield f"      {turn['role'].upper() + ':':<6} {' '.join(turn['text'].split())}"


def _error_lines(metrics: Metrics) -> Iterator[str]:
    for side, first in (metrics.json.get("first_skipped_frames") or {}).items():
        count = metrics.json["skipped_frames"][side]
        yield f"  {count} message(s) of the {side} bot were skipped, the first: {' '.join(first.split())}"
    for side, counts in (metrics.json.get("endpoint_notices") or {}).items():
        if counts:
            told = ", ".join(f"{kind} {count}" for kind, count in counts.items())
            yield f"  endpoints of the {side} bot: {told} (bridge_log.txt has the words)"
    for side, errors in (metrics.json.get("reported_errors") or {}).items():
        for text in errors[-REPORTED_ERRORS:]:
            yield f"  the {side} bot reported: {' '.join(text.split())[:TOOL_ANSWER_CHARACTERS]}"
    for error in metrics.json.get("tool_errors") or ():
        answer = " ".join(error["answer"].split())
        if len(answer) > TOOL_ANSWER_CHARACTERS:
            answer = f"{answer[:TOOL_ANSWER_CHARACTERS]} …"
        yield f"  tool {error['tool']} answered: {answer}"
