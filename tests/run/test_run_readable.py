"""Metrics that others wrote, or that are not complete: what is in them is told, and nothing raises."""

from __future__ import annotations

import csv
import json
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_voiceeval.report.failure import failure_text
from pytest_voiceeval.report.outcomes import Outcome
from pytest_voiceeval.report.properties import properties
from pytest_voiceeval.report.terminal import summary_lines
from pytest_voiceeval.run.aggregate import RunAggregator
from pytest_voiceeval.run.readable import number, readable
from pytest_voiceeval.run.restored import restored_metrics
from pytest_voiceeval.run.session import Tally, latencies_csv, read_metrics, write_session_files
from pytest_voiceeval.run.summary import summary_text

ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.just(10**400) | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=6,
)


def some(keys: tuple[str, ...], values: st.SearchStrategy[Any] = ANYTHING) -> st.SearchStrategy[Any]:
    """Objects with some of these keys, and now and then something else in their place."""
    return st.dictionaries(st.sampled_from(keys), values, max_size=len(keys)) | ANYTHING


LISTS = some(
    ("passed", "failed", "not_applicable", "agent", "user"), st.lists(ANYTHING, max_size=3) | ANYTHING
)
ENTRY = some(
    (
        *("user_transcript", "agent_transcript", "latency_ms", "parts_ms", "role", "text", "tool", "answer"),
        *("attempt", "retry_reason", "directory"),
    )
)
COUNTS = some(("agent", "user"), some(("n_calls", "prompt", "completion")))
FIGURES = (
    *("total_turns", "scenario_duration", "duration_seconds", "judge_score", "judge_spread", "agent_turns"),
    *("nl_assertion_pass_rate", "db_state_assertion_pass_rate", "is_successful", "clean_exit", "verdict"),
    *("stop_reason", "scenario_name", "judge_error", "clock", "insufficient_agent_turns"),
)
METRICS = st.fixed_dictionaries(
    {},
    optional={
        **dict.fromkeys(FIGURES, ANYTHING),
        **dict.fromkeys(("success_breakdown", "reported_errors", "pull_errors"), LISTS),
        **dict.fromkeys(
            ("latencies", "turns", "attempts", "tool_errors"), st.lists(ENTRY, max_size=2) | ANYTHING
        ),
        "latency_stats": some(("count", "mean_ms", "p50_ms", "p95_ms", "min_ms", "max_ms")),
        "token_usage": COUNTS,
        "unjudged": ANYTHING,
        "explanations": LISTS,
    },
)


@given(METRICS)
def test_no_metrics_of_others_keep_the_files_and_texts_of_a_run_from_being_made(
    metrics: dict[str, Any],
) -> None:
    with tempfile.TemporaryDirectory() as place:
        run = Path(place)
        folder = run / "tea"
        folder.mkdir()
        (folder / "metrics.json").write_text(json.dumps(metrics), encoding="utf-8")
        records = read_metrics([folder], 1)
        write_session_files(run, records, tally=Tally(1), min_agent_turns=1)
        assert {path.name for path in run.glob("all_*")} == {
            "all_metrics.json",
            "all_latencies.csv",
            "all_summary.txt",
        }
        outcome = Outcome("tea", "tea", "failed", folder=folder)
        assert list(summary_lines([outcome], {folder: records[0]}, run, Tally(1), full=True))
        before = restored_metrics(metrics, folder)
        assert properties(before)
        assert "insufficient_agent_turns" in metrics or failure_text(before)


def test_what_there_is_in_incomplete_metrics_is_told() -> None:
    record = {
        "scenario_name": "shop__tea",
        "is_successful": False,
        "total_turns": 4,
        "nl_assertion_pass_rate": "N/A",
        "judge_score": 10**400,
        "success_breakdown": {"failed": ["clean_exit", 7]},
        "latency_stats": {"count": 2, "mean_ms": 150},
        "latencies": [
            {"latency_ms": 100},
            {"agent_transcript": "Hi.", "latency_ms": 200},
            {"latency_ms": "N/A"},
        ],
    }
    rows = list(csv.reader(latencies_csv([record]).splitlines()))
    assert rows[1:] == [["shop__tea", "", "", "100.0"], ["shop__tea", "", "Hi.", "200.0"]]
    lines = summary_text([record], Tally(1)).splitlines()
    for line in ("    Failed signals: clean_exit, 7", "    Mean: 150.0ms", "    P50: N/A", "  P50: 150.0ms"):
        assert line in lines
    assert not [line for line in lines if "NL-assertion pass rate" in line or "Judge score" in line]
    run = RunAggregator()
    run.add_scenario(record, "shop")
    assert (run.success_results, run.judge_score_results) == ([False], [])


@pytest.mark.parametrize(
    ("value", "read"),
    [
        (3, 3),
        (-0.5, -0.5),
        (10**300, 1e300),
        (10**400, None),
        (float("nan"), None),
        (float("inf"), None),
        (True, None),
        ("3", None),
        (None, None),
    ],
)
def test_a_number_is_one_that_arithmetic_can_be_done_with(value: object, read: float | None) -> None:
    assert number(value) == read


def test_metrics_that_are_as_they_must_be_are_read_as_they_are() -> None:
    record = {
        "total_turns": 3,
        "latency_stats": {"count": 0, "mean_ms": None},
        "latencies": [
            {"user_transcript": "a", "agent_transcript": "b", "latency_ms": 1.5, "parts_ms": {"model": 1.0}}
        ],
        "attempts": [{"attempt": 1, "retry_reason": None, "directory": "tea"}],
        "success_breakdown": {"passed": ["clean_exit"], "failed": []},
        "own": {"anything": [object]},
    }
    assert readable(record) == record
