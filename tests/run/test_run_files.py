from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_voiceeval.run.agent_turns import settled
from pytest_voiceeval.run.evaluation_log import EvaluationLog
from pytest_voiceeval.run.files import claim_folder, file_name, read_json
from pytest_voiceeval.run.session import RunFolder, Tally, latencies_csv
from pytest_voiceeval.run.summary import summary_text


@pytest.mark.parametrize(
    ("name", "safe"),
    [
        ("shop__tea", "shop__tea"),
        ("naïve", "naïve"),
        ("x" * 200, "x" * 200),
        ("a/../b", r"a_\.\._b-[0-9a-f]{8}"),
        ("..", r"scenario-[0-9a-f]{8}"),
        (".hidden", r"hidden-[0-9a-f]{8}"),
        ("[mms]a|b[PERSONA:None]", r"_mms_a_b_PERSONA_None_-[0-9a-f]{8}"),
        ("tea\ud800", r"tea_-[0-9a-f]{8}"),
        ("x" * 300, r"x{191}-[0-9a-f]{8}"),
    ],
)
def test_file_names_are_safe(name: str, safe: str) -> None:
    assert re.fullmatch(safe, file_name(name))


@given(st.sets(st.text(max_size=4) | st.text("a|[]", min_size=190, max_size=300), min_size=2, max_size=6))
def test_no_two_names_come_to_one_file_and_all_files_can_be(names: set[str]) -> None:
    files = {file_name(name) for name in names}
    assert len(files) == len(names)
    for file in files:
        assert 0 < len(file.encode()) <= 200
        assert re.fullmatch(r"[\w+=@-][\w.+=@-]*", file)


def test_a_file_that_is_missing_or_no_json_holds_nothing(tmp_path: Path) -> None:
    assert read_json(tmp_path / "x.json") is None
    (tmp_path / "x.json").write_text("{")
    assert read_json(tmp_path / "x.json") is None


def test_a_folder_is_claimed_once(tmp_path: Path) -> None:
    assert claim_folder(tmp_path / "a" / "x") == tmp_path / "a" / "x"
    assert claim_folder(tmp_path / "a" / "x") == tmp_path / "a" / "x.2"


def test_a_run_folder_is_made_late(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path / "out")
    assert folder.find() is None
    assert not (tmp_path / "out").exists()
    assert folder.open() == folder.find()


@pytest.mark.parametrize("is_needed", [True, False])
def test_processes_agree_on_a_folder_that_no_other_run_gets(tmp_path: Path, is_needed: bool) -> None:
    runs = [RunFolder(tmp_path / "out") for _ in range(5)]
    agreed = [run.agree(is_needed=is_needed) for run in runs]
    assert len(set(agreed)) == 5
    assert [run.agree(is_needed=is_needed) for run in runs] == agreed
    assert all(folder.exists() is is_needed for folder in agreed)
    assert RunFolder(tmp_path / "out", agreed[0]).open() == agreed[0] == runs[0].find()


def test_an_agreed_folder_that_stays_empty_is_removed_with_the_folders_made_for_it(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path / "new" / "out")
    folder.agree()
    folder.drop_if_empty()
    assert folder.find() is None
    assert not (tmp_path / "new").exists()
    (tmp_path / "old").mkdir()
    other = RunFolder(tmp_path / "old")
    kept = other.agree()
    (kept / "file").touch()
    other.drop_if_empty()
    assert other.find() == kept
    (kept / "file").unlink()
    other.drop_if_empty()
    assert (tmp_path / "old").exists()
    assert not kept.exists()


def test_the_summary_counts_all_that_was_selected_and_says_what_has_no_verdict() -> None:
    text = summary_text([], Tally(9, errors=1, skipped=2, broken_off=1, not_run=4))
    assert "Total Scenarios: 9\n" in text
    assert "Without a verdict, in no rate: 1 error(s), 2 skipped, 1 broken off, 4 not run\n" in text


def test_events_wait_for_the_folder_and_are_one_line_each(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path / "out")
    log = EvaluationLog(folder)
    log.add(("scenarios/shop.py", 11, "shop__tea"), "Starting Scenario 1/2: shop__tea")
    assert not (tmp_path / "out").exists()
    folder.open()
    log.add(("scenarios/shop.py", None, "shop__tea"), "half \ud800\nmore", "ERROR")
    log.flush()
    lines = (folder.open() / "evaluation_log.txt").read_text(encoding="utf-8").splitlines()
    stamp = r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d"
    assert re.fullmatch(
        stamp + r" \| shop\.py:shop__tea:12 \| \[INFO\]: Starting Scenario 1/2: shop__tea", lines[0]
    )
    assert re.fullmatch(stamp + r" \| shop\.py:shop__tea:1 \| \[ERROR\]: half \\ud800 more", lines[1])


def test_a_csv_survives_quotes_and_newlines() -> None:
    latency = {"user_transcript": 'say "hi"\nnow', "agent_transcript": "=1+1", "latency_ms": 125}
    text = latencies_csv([{"scenario_name": "fake__x", "latencies": [latency]}])
    assert text == (
        'Scenario,User_Transcript,Agent_Transcript,Latency_ms\n"fake__x","say ""hi""\nnow","=1+1",125.0\n'
    )


def test_the_summary_of_nothing_claims_nothing() -> None:
    text = summary_text([], Tally(1, errors=1, skipped=0))
    assert "Overall Success Rate: N/A (no scenarios had any applicable signal)" in text
    assert "  Mean: N/A" in text
    assert "Without a verdict, in no rate: 1 error(s)\n" in text


def test_the_summary_has_the_lines_of_the_reference() -> None:
    record = {
        "scenario_name": "domA__one",
        "is_successful": False,
        "is_task_successful": False,
        "is_action_match": True,
        "clean_exit": True,
        "success_breakdown": {"failed": ["nl_assertion"]},
        "total_turns": 2,
        "scenario_duration": 10.0,
        "latency_stats": {
            "count": 1,
            **dict.fromkeys(("mean_ms", "p50_ms", "p95_ms", "min_ms", "max_ms"), 125.0),
        },
        "latencies": [{"user_transcript": "a", "agent_transcript": "b", "latency_ms": 125.0}],
        "token_usage": {"agent": {"n_calls": 16, "prompt": 4400, "completion": 200}},
    }
    other = {"scenario_name": "domB__two", "is_successful": True, "success_breakdown": {}, "total_turns": 1}
    lines = summary_text([record, other], Tally(2, errors=0, skipped=0)).splitlines()
    assert lines[:3] == ["EVALUATION SUMMARY", "=" * 80, ""]
    for line in (
        "Total Turns: 3",
        "====== domA__one ======:",
        "    Failed signals: nl_assertion",
        "  Turns/min: 12.0",
        "    P95: 125.0ms",
        "  Total Measurements: 1",
        "Task Success Rate (excl. clean_exit): 50.00% (1/2 scenarios)",
        "  Action-list match:           100.00% (1/1 scenarios)",
        "  agent: 16 call(s), prompt=4,400, completion=200, total=4,600",
        "  domB: 100.00% (1/1)",
    ):
        assert line in lines


DOM_A_ONE = """\
====== domA__one ======:
  Is successful: False
  Is task-successful (excl. clean_exit): False
    Action-list match: True
    DB-state match: True
    DB-state-assertion pass rate: 42.86%
    NL-assertion pass rate: 50.00%
    Judge score: 0.95
    Judge passed: True
    Failed signals: nl_assertion
  Turns: 2
  Duration: 10.0s
  Turns/min: 12.0
  Latency Measurements: 1
    Mean: 125.0ms
    P50: 125.0ms
    P95: 125.0ms
    Min: 125.0ms
    Max: 125.0ms
"""

RATES = """\
Overall Latency Statistics:
--------------------------------------------------------------------------------
  Total Measurements: 1
  Mean: 125.0ms
  P50: 125.0ms
  P95: 125.0ms
  Min: 125.0ms
  Max: 125.0ms


WARNING: 1 scenario(s) had fewer than 3 agent turn(s) (likely stalled LLM / server hang) and were \
counted as failures.
Stalled scenarios: domB__stall
Run with --resume <TIMESTAMP> --min-agent-turns 3 to retry them.
With pytest: --voice-resume=<TIMESTAMP> --voice-min-agent-turns=3


Overall Success Rate: 33.33% (1/3 scenarios — strict conjunction across all applicable signals)
Task Success Rate (excl. clean_exit): 33.33% (1/3 scenarios)

Per-signal pass rates:
  Action-list match:           100.00% (1/1 scenarios)
  DB-State match:              100.00% (1/1 scenarios)
  DB-State-Assertion pass:      42.86% (3/7 predicates)
  NL-Assertion pass:            50.00% (1/2 assertions)
  Judge score mean:            0.950 (across 1 scenarios)
  Judge passed (>= threshold): 100.00% (1/1 scenarios)
  Clean exit:  100.00% (1/1 scenarios)


Token Usage:
--------------------------------------------------------------------------------
  agent: 18 call(s), prompt=4,400, completion=200, total=4,600
  user: 4 call(s), prompt=28, completion=12, total=40
  Run total: 4,640 tokens


Per-Domain Success Rate:
--------------------------------------------------------------------------------
  domA: 50.00% (1/2)
  domB: 0.00% (0/1)

Per-Domain Task Success Rate (excl. clean_exit):
--------------------------------------------------------------------------------
  domA: 50.00% (1/2)
  domB: 0.00% (0/1)
"""


def test_the_summary_has_the_shape_of_the_reference_line_by_line(tmp_path: Path) -> None:
    latency = dict.fromkeys(("mean_ms", "p50_ms", "p95_ms", "min_ms", "max_ms"), 125.0)
    verdicts = [{"passed": True}, {"passed": False}]
    (tmp_path / "judge_result.json").write_text(json.dumps({"nl_assertion_verdicts": verdicts}))
    one = {
        "scenario_name": "domA__one",
        "scenario_directory": str(tmp_path),
        "is_successful": False,
        "is_task_successful": False,
        "is_action_match": True,
        "db_state_match": True,
        "db_state_assertion_pass_rate": 3 / 7,
        "db_state_assertion_verdicts": [{"passed": n < 3} for n in range(7)],
        "nl_assertion_pass_rate": 0.5,
        "judge_score": 0.95,
        "judge_passed": True,
        "clean_exit": True,
        "success_breakdown": {"failed": ["nl_assertion"]},
        "total_turns": 2,
        "scenario_duration": 10.0,
        "latency_stats": {"count": 1, **latency},
        "latencies": [{"user_transcript": "a", "agent_transcript": "b", "latency_ms": 125.0}],
        "token_usage": {
            "agent": {"n_calls": 16, "prompt": 4400, "completion": 200},
            "user": {"n_calls": 4, "prompt": 28, "completion": 12},
        },
    }
    two = {"scenario_name": "domA__two", "is_successful": True, "total_turns": 3, "scenario_duration": 2.0}
    stall = {
        "scenario_name": "domB__stall",
        "clean_exit": True,
        "is_action_match": False,
        "total_turns": 1,
        "token_usage": {"agent": {"n_calls": 2}},
    }
    broke = {"scenario_name": "domC__broke", "verdict": "error", "is_successful": "N/A", "clean_exit": True}
    records = [settled(record, 3) for record in (one, two, stall, broke)]
    text = summary_text(records, Tally(4, errors=1), 3)
    head, _, rest = text.partition("====== domA__one ======:\n")
    assert head == (
        "EVALUATION SUMMARY\n"
        + "=" * 80
        + "\n\nTotal Scenarios: 4\nTotal Duration: 0.2mins\nTotal Turns: 6\n"
        "Without a verdict, in no rate: 1 error(s)\n\nPer-Scenario Results:\n" + "-" * 80 + "\n\n"
    )
    assert ("====== domA__one ======:\n" + rest).startswith(DOM_A_ONE)
    assert rest.endswith("\n\n\n" + RATES)
    assert (
        "  Turns: 1\n"
        "  [COUNTED AS FAILURE: insufficient agent turns / stalled — excluded from per-signal rates]\n"
        "  Duration: 0.0s\n"
    ) in rest
