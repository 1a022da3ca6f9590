from __future__ import annotations

from pathlib import Path

from pytest_voiceeval.model.metrics import Breakdown, Metrics, Scores, SignalResult, Verdict
from pytest_voiceeval.model.signals import SuccessSignal
from pytest_voiceeval.report.failure import failure_text, skip_reason
from pytest_voiceeval.report.outcomes import Outcome
from pytest_voiceeval.report.paths import shown_path
from pytest_voiceeval.report.properties import properties, replaced
from pytest_voiceeval.report.terminal import summary_lines
from pytest_voiceeval.run.session import Tally


def failed_metrics(turns: int = 8) -> Metrics:
    results = (
        SignalResult(
            SuccessSignal.ACTION_MATCH, False, False, 'items[0].name: expected "Tea", found "Coffee"'
        ),
        SignalResult(SuccessSignal.JUDGE_PASSED, None, None, "no judge is configured"),
        SignalResult(SuccessSignal.CLEAN_EXIT, True, True),
    )
    scores = Scores(
        Verdict.FAILED,
        results,
        Breakdown(passed=("clean_exit",), failed=("is_action_match",), not_applicable=("judge_passed",)),
    )
    content = {
        "turns": [{"role": "user", "text": f"word {n}\nmore"} for n in range(turns)],
        "total_turns": turns,
        "stop_reason": "[EXIT]",
        "duration_seconds": 12.34,
        "latency_stats": {"mean_ms": None},
    }
    return Metrics("shop__tea", scores, str(Path.cwd() / "out" / "shop__tea"), content)


def test_a_failure_names_signals_turns_and_folder() -> None:
    lines = failure_text(failed_metrics()).splitlines()
    assert lines[0] == "is_action_match failed in shop__tea"
    assert lines[2:7] == [
        "  is_action_match    FAILED",
        '      items[0].name: expected "Tea", found "Coffee"',
        "  judge_passed       not applicable",
        "      no judge is configured",
        "  clean_exit         passed",
    ]
    assert "  last 6 of 8 turns:" in lines
    assert lines[-3:] == ["      USER:  word 7 more", "", f"  artefacts: {Path('out', 'shop__tea')}"]


def test_a_call_in_which_nobody_spoke_says_so() -> None:
    assert "turns: none; nobody was heard" in failure_text(failed_metrics(turns=0))


def test_what_endpoints_told_stands_under_the_turns() -> None:
    metrics = failed_metrics(turns=1)
    metrics.json["endpoint_notices"] = {"agent": {"retry": 2, "empty": 1}, "user": {}}
    text = failure_text(metrics)
    assert "  endpoints of the agent bot: retry 2, empty 1 (bridge_log.txt has the words)" in text
    assert "the user bot" not in text


def test_the_errors_that_the_agents_tools_answered_stand_under_the_turns() -> None:
    metrics = failed_metrics(turns=1)
    metrics.json["tool_errors"] = [
        {"tool": "OrderTool", "answer": '{"error": "division by zero"}'},
        {"tool": "MenuTool", "answer": "x" * 300},
    ]
    lines = failure_text(metrics).splitlines()
    assert lines[-5:-2] == [
        "      USER:  word 0 more",
        '  tool OrderTool answered: {"error": "division by zero"}',
        f"  tool MenuTool answered: {'x' * 200} …",
    ]


def test_what_a_bot_reported_of_itself_stands_there_too() -> None:
    metrics = failed_metrics(turns=1)
    metrics.json["reported_errors"] = {"agent": ["404: no such model"], "user": []}
    assert "  the agent bot reported: 404: no such model" in failure_text(metrics).splitlines()


def test_a_skip_gives_every_reason() -> None:
    assert "judge_passed: no judge is configured" in skip_reason(failed_metrics())


def test_properties_are_plain_and_leave_out_what_was_not_measured() -> None:
    found = dict(properties(failed_metrics()))
    assert "voice_latency_mean_ms" not in found
    assert found["voice_judge_passed"] == "not_applicable"
    assert all(isinstance(value, str | int | float) for value in found.values())


def test_a_property_is_replaced_and_never_doubled() -> None:
    assert replaced([("a", 1), ("b", 2)], [("a", 3)]) == [("b", 2), ("a", 3)]


def test_paths_elsewhere_stay_absolute(tmp_path: Path) -> None:
    assert shown_path(tmp_path) == str(tmp_path)


def test_the_clock_of_a_call_from_elsewhere_is_named_without_its_meaning(tmp_path: Path) -> None:
    outcomes = [Outcome("x::1", "s__1", "passed", "passed", tmp_path)]
    lines = list(summary_lines(outcomes, {tmp_path: {"clock": "sundial"}}, None, Tally(1), full=True))
    assert "clock: sundial" in lines
    assert lines[0] == "s__1  passed   ? turns, no latency measured, no stop reason known"


def test_the_count_claims_no_more_than_is_known() -> None:
    outcomes = [
        Outcome("x::1", "s__1", "passed", "passed"),
        Outcome("x::2", "s__2", "error", "failed"),
        Outcome("x::3", "s__3", "passed", "failed"),
        Outcome("x::4", "s__4", "error"),
    ]
    *_, count = summary_lines(outcomes, {}, None, Tally(8, errors=1, broken_off=1, not_run=3), full=True)
    assert count == (
        "voice scenarios: 2 passed, 0 failed, 0 skipped, 2 errors, 1 broken off, 3 not run; "
        "1 of 3 with a verdict passed"
    )


def test_of_many_scenarios_only_those_not_passed_list_their_files(tmp_path: Path) -> None:
    outcomes = [Outcome(f"x::{n}", f"s__{n}", "passed", "passed", tmp_path) for n in range(13)]
    outcomes.append(Outcome("x::bad", "s__bad", "error", None, tmp_path))
    short = list(summary_lines(outcomes, {}, tmp_path, Tally(14), full=False))
    assert sum("files:" in line for line in short) == 1
    assert sum("files:" in line for line in summary_lines(outcomes, {}, tmp_path, Tally(14), full=True)) == 14
    assert "voice scenarios: 13 passed, 0 failed, 0 skipped, 1 error; 13 of 13 with a verdict passed" in short
