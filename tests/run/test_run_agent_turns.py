"""How often the agent answered, and what becomes of a call in which it hardly did."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from calls_of_fakes import Tea, canned
from hypothesis import given
from hypothesis import strategies as st

from pytest_voiceeval.errors import BotLostError
from pytest_voiceeval.model.conversation import SideEvidence, TokenUsage
from pytest_voiceeval.model.metrics import Verdict
from pytest_voiceeval.model.stop_reason import StopReason
from pytest_voiceeval.model.turns import AGENT, USER, Turn
from pytest_voiceeval.report.failure import failure_text
from pytest_voiceeval.run.agent_turns import agent_turn_count, agent_turns, settled
from pytest_voiceeval.run.aggregate import RunAggregator
from pytest_voiceeval.run.evaluate import evaluate_conversation
from pytest_voiceeval.run.session import Tally, read_metrics
from pytest_voiceeval.run.settings import RunSettings
from pytest_voiceeval.run.summary import summary_text

TURNS = tuple(Turn((AGENT, USER)[n % 2], n, n + 0.9, "word") for n in range(5))


def tokens(calls: int) -> SideEvidence:
    return SideEvidence(actions=(), context=[], tokens=TokenUsage(calls, 1, 1))


@pytest.mark.parametrize(
    ("spoken", "calls", "answers"),
    [
        pytest.param(TURNS, 0, 3, id="the bot reports no calls"),
        pytest.param(TURNS, 9, 9, id="answers that were tool calls"),
        pytest.param(TURNS, 1, 3, id="calls that were interrupted before they were reported"),
        pytest.param((), 0, 0, id="nothing"),
    ],
)
def test_the_agent_answered_as_often_as_it_was_heard_or_its_model_called(
    spoken: tuple[Turn, ...], calls: int, answers: int
) -> None:
    assert agent_turns(canned(turns=spoken, agent=tokens(calls))) == answers


def test_a_bot_without_usage_is_counted_by_its_turns_also_when_the_file_is_read(tmp_path: Path) -> None:
    silent = canned(turns=TURNS, agent=tokens(0))
    metrics = evaluate_conversation(Tea(), silent, settings=RunSettings(min_agent_turns=3), folder=tmp_path)
    assert metrics.successful
    assert metrics.json["token_usage"]["agent"]["n_calls"] == 0
    assert agent_turn_count(metrics.json) == 3


def test_too_few_answers_fail_a_call_whose_signals_pass(tmp_path: Path) -> None:
    settings = RunSettings(min_agent_turns=4)
    metrics = evaluate_conversation(Tea(), canned(), settings=settings, folder=tmp_path)
    assert metrics.verdict is Verdict.FAILED
    content = metrics.json
    assert content == json.loads((tmp_path / "metrics.json").read_text())
    keys = list(content)
    assert keys[keys.index("clean_exit") + 1] == "insufficient_agent_turns"
    assert keys[keys.index("is_successful") + 1] == "is_task_successful"
    assert (content["is_successful"], content["is_task_successful"]) == (False, False)
    assert content["is_action_match"] is True
    assert content["success_breakdown"]["passed"] == ["is_action_match", "clean_exit"]
    text = failure_text(metrics)
    assert text.startswith(
        "insufficient agent turns in run__tea: the agent answered 3 time(s), fewer than 4 "
        "(--voice-min-agent-turns; 0 for no minimum)\n"
    )
    assert "compute_is_successful failed" not in text


def test_no_minimum_asks_for_nothing(tmp_path: Path) -> None:
    metrics = evaluate_conversation(
        Tea(), canned(agent=tokens(0)), settings=RunSettings(min_agent_turns=0), folder=tmp_path
    )
    assert metrics.successful
    assert "insufficient_agent_turns" not in metrics.json


def test_a_failure_for_too_few_answers_is_taken_back_under_a_lower_minimum(tmp_path: Path) -> None:
    plain = evaluate_conversation(Tea(), canned(), settings=RunSettings(), folder=tmp_path).json
    failed = settled(plain, 4)
    assert failed["is_successful"] is False
    assert settled(failed, 4) == failed
    for minimum in (0, 3):
        assert settled(failed, minimum) == plain
        assert list(settled(failed, minimum)) == list(plain)


def test_a_failure_for_too_few_answers_in_a_file_of_the_reference_is_taken_back() -> None:
    record = {
        "scenario_name": "a__b",
        "clean_exit": False,
        "insufficient_agent_turns": True,
        "token_usage": {"agent": {"n_calls": 2}},
        "success_breakdown": {"passed": ["db_state_match"], "failed": ["clean_exit"]},
        "is_successful": False,
        "is_task_successful": False,
    }
    again = settled(record, 2)
    assert "insufficient_agent_turns" not in again
    assert (again["is_successful"], again["is_task_successful"]) == (False, True)


GREETING = (Turn(AGENT, 0.5, 1.5, "Hi."),)


@pytest.mark.parametrize("reason", [StopReason.INACTIVITY, StopReason.TIMEOUT])
def test_an_agent_that_nobody_answered_did_not_fail(tmp_path: Path, reason: StopReason) -> None:
    waited = canned(turns=GREETING, agent=tokens(1), stop_reason=reason)
    with pytest.raises(BotLostError, match="run__tea: the simulated user said nothing in a call of 8 s"):
        evaluate_conversation(Tea(), waited, settings=RunSettings(min_agent_turns=3), folder=tmp_path)
    assert not (tmp_path / "metrics.json").exists()


@pytest.mark.parametrize(
    "changes",
    [
        {"turns": GREETING, "stop_reason": StopReason.EXIT},
        {"turns": GREETING, "stop_reason": StopReason.AGENT_HANGUP},
        {"turns": (), "stop_reason": StopReason.INACTIVITY},
        {"turns": (*GREETING, Turn(USER, 2, 3, "Hello?")), "stop_reason": StopReason.INACTIVITY},
        {"turns": (Turn(AGENT, 0.1, 8.0, "Well"),), "stop_reason": StopReason.TIMEOUT},
        {"turns": (*GREETING, Turn(AGENT, 3, 7)), "stop_reason": StopReason.TIMEOUT},
    ],
)
def test_an_agent_that_left_or_never_answered_failed(tmp_path: Path, changes: dict[str, Any]) -> None:
    metrics = evaluate_conversation(
        Tea(),
        canned(agent=tokens(1), **changes),
        settings=RunSettings(min_agent_turns=3),
        folder=tmp_path,
    )
    assert metrics.verdict is Verdict.FAILED
    assert metrics.json["insufficient_agent_turns"] is True


def test_too_few_answers_are_in_the_composite_rates_and_in_no_other(tmp_path: Path) -> None:
    for name, calls in (("one", 9), ("two", 1)):
        conversation = canned(scenario_name=f"run__{name}", agent=tokens(calls))
        evaluate_conversation(
            Tea(), conversation, settings=RunSettings(min_agent_turns=3), folder=tmp_path / name
        )
    records = read_metrics([tmp_path / "one", tmp_path / "two"], 3)
    run = RunAggregator()
    for record in records:
        run.add_scenario(record, "run", 3)
    assert run.success_results == run.task_success_results == [True, False]
    assert run.action_match_results == run.clean_exit_results == [True]
    assert run.insufficient_turns_skipped == ["run__two"]
    assert run.run_token_usage["agent"]["n_calls"] == 10
    lines = summary_text(records, Tally(2), 3).splitlines()
    start = lines.index("====== run__two ======:")
    assert lines[lines.index("  Turns: 3", start) + 1] == (
        "  [COUNTED AS FAILURE: insufficient agent turns / stalled — excluded from per-signal rates]"
    )
    warning = lines.index(
        "WARNING: 1 scenario(s) had fewer than 3 agent turn(s) (likely stalled LLM / server hang) and were "
        "counted as failures."
    )
    assert lines[warning - 2 : warning] == ["", ""]
    assert lines[warning + 1 : warning + 7] == [
        "Stalled scenarios: run__two",
        "Run with --resume <TIMESTAMP> --min-agent-turns 3 to retry them.",
        "With pytest: --voice-resume=<TIMESTAMP> --voice-min-agent-turns=3",
        "",
        "",
        "Overall Success Rate: 50.00% (1/2 scenarios — strict conjunction across all applicable signals)",
    ]


ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=8,
)
KEYS = st.sampled_from(
    [
        *("is_action_match", "judge_score", "judge_passed", "db_state_match", "clean_exit", "is_successful"),
        *("nl_assertion_pass_rate", "db_state_assertion_verdicts", "success_breakdown", "token_usage"),
        *("agent_turns", "verdict", "insufficient_agent_turns", "signals_verdict", "attempts"),
    ]
)


@given(st.dictionaries(KEYS, ANYTHING), st.integers(0, 3))
def test_metrics_of_any_kind_are_folded_in_and_settled(metrics: dict[str, Any], minimum: int) -> None:
    run = RunAggregator()
    run.add_scenario(metrics, "any", minimum)
    assert len(run.success_results) == len(run.task_success_results) <= 1
    once = settled(metrics, minimum)
    assert settled(once, minimum) == once


def test_a_scenario_whose_judge_broke_is_in_no_rate_but_spent_its_tokens() -> None:
    run = RunAggregator()
    record = {"verdict": "error", "is_successful": "N/A", "clean_exit": True, "is_action_match": True}
    run.add_scenario(record | {"token_usage": {"agent": {"n_calls": 4}}}, "a", 3)
    run.add_scenario(record | {"token_usage": {"agent": {"n_calls": 1}}}, "a", 3)
    assert not any((run.success_results, run.clean_exit_results, run.insufficient_turns_skipped))
    assert run.run_token_usage["agent"]["n_calls"] == 5
