"""``all_summary.txt``: a run in words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pytest_voiceeval.run.agent_turns import INSUFFICIENT
from pytest_voiceeval.run.agents import black_box_line, mixed_modes_line
from pytest_voiceeval.run.aggregate import RunAggregator, domain_of
from pytest_voiceeval.run.attempts import retried_attempts
from pytest_voiceeval.run.metrics import latency_stats
from pytest_voiceeval.run.process_events import process_events, restarts_line
from pytest_voiceeval.run.readable import readable
from pytest_voiceeval.run.session import Tally
from pytest_voiceeval.run.unjudged import unjudged_line

Record = Mapping[str, Any]

RULE = "=" * 80
THIN_RULE = "-" * 80
STATS = (("Mean", "mean_ms"), ("P50", "p50_ms"), ("P95", "p95_ms"), ("Min", "min_ms"), ("Max", "max_ms"))


def aggregate(records: Sequence[Record], min_agent_turns: int = 0) -> RunAggregator:
    """Return the rates of the scenarios whose metrics these are."""
    run = RunAggregator()
    for record in records:
        run.add_scenario(record, domain_of(str(record.get("scenario_name", ""))), min_agent_turns)
    return run


def summary_text(
    records: Sequence[Record], tally: Tally, min_agent_turns: int = 0, warnings: Sequence[str] = ()
) -> str:
    """Return the summary of a run, of which ``records`` are the metrics of its scenarios.

    Metrics that are not complete, or not as they must be, tell what there is in them.
    """
    records = [readable(record) for record in records]
    run = aggregate(records, min_agent_turns)
    minutes = sum(record.get("scenario_duration") or 0 for record in records) / 60
    turns = sum(record.get("total_turns") or 0 for record in records)
    lines = ["EVALUATION SUMMARY", RULE, ""]
    lines += [
        f"Total Scenarios: {tally.total}",
        f"Total Duration: {minutes:.1f}mins",
        f"Total Turns: {turns}",
    ]
    if missing := tally.without_verdict():
        lines += [f"Without a verdict, in no rate: {missing}"]
    if tally.retried:
        lines += [f"Held again, the last attempt counts: {tally.retried} scenario(s)"]
    if not_judged := unjudged_line(records):
        lines += [f"WARNING: {not_judged}"]
    if black_boxes := black_box_line(records):
        lines += [f"NOTE: {black_boxes}"]
    if mixed := mixed_modes_line(records):
        lines += [f"WARNING: {mixed}"]
    if restarts := restarts_line(records):
        lines += [f"NOTE: {restarts}"]
    lines += ["", "Per-Scenario Results:", THIN_RULE, ""]
    for record in records:
        lines += [*_scenario_lines(record), ""]
    lines += ["", "Overall Latency Statistics:", THIN_RULE, *_latency_lines(records), "", ""]
    lines += [*_stall_lines(run, min_agent_turns)]
    if warnings:
        lines += [*(f"WARNING: {warning}" for warning in warnings), "", ""]
    lines += [*_success_lines(run), "", "Per-signal pass rates:", *_signal_lines(run), ""]
    lines += [*_token_lines(run), *_domain_lines(run)]
    return "\n".join(lines).rstrip("\n") + "\n"


def _scenario_lines(record: Record) -> Iterator[str]:
    yield f"====== {record.get('scenario_name')} ======:"
    yield f"  Is successful: {record.get('is_successful')}"
    if "is_task_successful" in record:
        yield f"  Is task-successful (excl. clean_exit): {record['is_task_successful']}"
    yield f"    Action-list match: {record.get('is_action_match')}"
    for key, label, form in (
        ("db_state_match", "DB-state match", "{}"),
        ("db_state_assertion_pass_rate", "DB-state-assertion pass rate", "{:.2%}"),
        ("nl_assertion_pass_rate", "NL-assertion pass rate", "{:.2%}"),
        ("judge_score", "Judge score", "{}"),
        ("judge_passed", "Judge passed", "{}"),
        ("judge_error", "Judge error", "{}"),
    ):
        if record.get(key) is not None:
            yield f"    {label}: {form.format(record[key])}"
    failed = (record.get("success_breakdown") or {}).get("failed")
    if failed:
        yield f"    Failed signals: {', '.join(failed)}"
    yield f"  Turns: {record.get('total_turns')}"
    if INSUFFICIENT in record:
        yield ("  [COUNTED AS FAILURE: insufficient agent turns / stalled — excluded from per-signal rates]")
    for side, told in process_events(record, "restarted").items():
        yield f"  Bot started again before this call: {side}: {told}"
    for told in process_events(record, "ended").values():
        first, *_ = told.splitlines() or [""]
        yield f"  Bot ended in this call: {first}"
    for attempt in retried_attempts(record):
        yield (
            f"  Attempt {attempt.get('attempt')} does not count: {attempt['retry_reason']} "
            f"(files: {attempt.get('directory')})"
        )
    duration = record.get("scenario_duration") or 0
    yield f"  Duration: {duration:.1f}s"
    if duration > 0:
        yield f"  Turns/min: {record.get('total_turns', 0) / duration * 60:.1f}"
    stats = record.get("latency_stats") or {}
    yield f"  Latency Measurements: {stats.get('count', 0)}"
    for label, key in STATS if stats.get("count") else ():
        yield f"    {label}: {_milliseconds(stats.get(key))}"


def _latency_lines(records: Sequence[Record]) -> Iterator[str]:
    pooled = [entry["latency_ms"] for record in records for entry in record.get("latencies") or ()]
    stats = latency_stats(pooled)
    yield f"  Total Measurements: {stats['count']}"
    for label, key in STATS:
        yield f"  {label}: {_milliseconds(stats[key])}"


def _milliseconds(value: float | None) -> str:
    return "N/A" if value is None else f"{value:.1f}ms"


def _stall_lines(run: RunAggregator, min_agent_turns: int) -> Iterator[str]:
    """Yield which scenarios failed for too few answers of the agent, and how to hold them again.

    The options of the third line are those of ``python -m pytest_voiceeval run``, as the reference has them.
    """
    stalled = run.insufficient_turns_skipped
    if not stalled:
        return
    yield (
        f"WARNING: {len(stalled)} scenario(s) had fewer than {min_agent_turns} agent turn(s) (likely stalled "
        "LLM / server hang) and were counted as failures."
    )
    yield f"Stalled scenarios: {', '.join(stalled)}"
    yield f"Run with --resume <TIMESTAMP> --min-agent-turns {min_agent_turns} to retry them."
    yield f"With pytest: --voice-resume=<TIMESTAMP> --voice-min-agent-turns={min_agent_turns}"
    yield from ("", "")


def _success_lines(run: RunAggregator) -> Iterator[str]:
    if not run.success_results:
        yield "Overall Success Rate: N/A (no scenarios had any applicable signal)"
        return
    yield (
        f"Overall Success Rate: {_rate(run.success_results):.2f}% ({_share(run.success_results)} scenarios "
        "— strict conjunction across all applicable signals)"
    )
    yield (
        f"Task Success Rate (excl. clean_exit): {_rate(run.task_success_results):.2f}% "
        f"({_share(run.task_success_results)} scenarios)"
    )


def _signal_lines(run: RunAggregator) -> Iterator[str]:
    scores = run.judge_score_results
    for label, results, unit in (
        ("Action-list match:          ", run.action_match_results, "scenarios"),
        ("DB-State match:             ", run.db_state_results, "scenarios"),
        ("DB-State-Assertion pass:    ", run.db_state_assertion_results, "predicates"),
        ("NL-Assertion pass:          ", run.nl_assertion_results, "assertions"),
        ("Judge passed (>= threshold):", run.judge_pass_results, "scenarios"),
    ):
        if label.startswith("Judge") and scores:
            mean = sum(scores) / len(scores)
            yield f"  Judge score mean:            {mean:.3f} (across {len(scores)} scenarios)"
        if results:
            yield f"  {label} {_rate(results):6.2f}% ({_share(results)} {unit})"
    if exits := run.clean_exit_results:
        yield f"  Clean exit:  {_rate(exits):6.2f}% ({_share(exits)} scenarios)"


def _token_lines(run: RunAggregator) -> Iterator[str]:
    usage = run.run_token_usage
    if not any(counts["n_calls"] for counts in usage.values()):
        return
    yield from ("", "Token Usage:", THIN_RULE)
    total = 0
    for side, counts in usage.items():
        both = counts["prompt"] + counts["completion"]
        total += both
        yield (
            f"  {side}: {counts['n_calls']:,} call(s), prompt={counts['prompt']:,}, "
            f"completion={counts['completion']:,}, total={both:,}"
        )
    yield f"  Run total: {total:,} tokens"
    yield ""


def _domain_lines(run: RunAggregator) -> Iterator[str]:
    for title, domains in (
        ("Success Rate", run.per_domain_success),
        ("Task Success Rate (excl. clean_exit)", run.per_domain_task_success),
        ("DB-State Match Rate", run.per_domain_db_state),
        ("NL-Assertion Pass Rate", run.per_domain_nl_assertion),
        ("DB-State-Assertion Pass Rate", run.per_domain_db_state_assertion),
    ):
        if len(domains) > 1:
            yield from ("", f"Per-Domain {title}:", THIN_RULE)
            for domain, results in sorted(domains.items()):
                yield f"  {domain}: {_rate(results):.2f}% ({_share(results)})"


def _rate(results: Sequence[bool]) -> float:
    return 100 * sum(results) / len(results)


def _share(results: Sequence[bool]) -> str:
    return f"{sum(results)}/{len(results)}"
