from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from scoring_calls import call, declare

from pytest_voiceeval.errors import DefinitionError
from pytest_voiceeval.model.conversation import ActionRecord, SideEvidence
from pytest_voiceeval.model.judgement import NO_JUDGE
from pytest_voiceeval.model.metrics import Breakdown, SignalResult, Verdict
from pytest_voiceeval.model.signals import SuccessSignal
from pytest_voiceeval.model.stop_reason import StopReason
from pytest_voiceeval.scenarios.base import Scenario
from pytest_voiceeval.scoring.composite import breakdown, score, verdict

ACTION_AND_EXIT = (SuccessSignal.ACTION_MATCH, SuccessSignal.CLEAN_EXIT)
DB_AND_EXIT = (SuccessSignal.DB_STATE_MATCH, SuccessSignal.CLEAN_EXIT)


def ordering(**fields: Any) -> Scenario:
    return declare(success_signals=ACTION_AND_EXIT, reference_answer={"total_price": "11.49"}, **fields)


def test_all_six_signals_are_looked_at_in_order() -> None:
    scores = score(ordering(), call(pushed=('{"total_price": "11.49"}',)))
    assert [result.signal for result in scores.results] == list(SuccessSignal)
    assert scores.verdict is Verdict.PASSED
    assert scores.breakdown == Breakdown(passed=("is_action_match", "clean_exit"))


def test_a_wrong_action_fails_and_is_explained() -> None:
    scores = score(ordering(), call(pushed=('{"total_price": "12"}',)))
    result = scores.result(SuccessSignal.ACTION_MATCH)
    assert scores.verdict is Verdict.FAILED
    assert scores.breakdown == Breakdown(passed=("clean_exit",), failed=("is_action_match",))
    assert result == SignalResult(
        SuccessSignal.ACTION_MATCH, False, False, 'total_price: expected "11.49", found "12"'
    )


def test_pulled_actions_are_matched_as_they_are_stored() -> None:
    scenario = declare(reference_answer={"actions": [{"name": "pay", "side": "agent"}]})
    agent = SideEvidence(actions=(ActionRecord("agent", {"name": "pay", "result": {}}),))
    result = score(scenario, call(agent=agent)).result(SuccessSignal.ACTION_MATCH)
    assert result == SignalResult(SuccessSignal.ACTION_MATCH, True, True)


def test_no_reference_does_not_apply() -> None:
    result = score(declare(), call()).result(SuccessSignal.ACTION_MATCH)
    assert result == SignalResult(
        SuccessSignal.ACTION_MATCH, None, "N/A", "the scenario has no reference answer"
    )


def test_the_scenarios_leniency_is_used() -> None:
    conversation = call(pushed=('{"name": "st marys"}',))
    answer = {"name": "St. Mary's"}
    lenient = declare(reference_answer=answer, ignore_capitalization=True, ignore_punctuation=True)
    for scenario, passed in ((lenient, True), (declare(reference_answer=answer), False)):
        result = score(scenario, conversation).result(SuccessSignal.ACTION_MATCH)
        assert result is not None
        assert result.passed is passed


def test_strict_match_disallows_extra_items_whatever_the_scenario_says() -> None:
    scenario = declare(success_signals=(SuccessSignal.ACTION_MATCH,), reference_answer=[{"a": 1}, {"b": 1}])
    conversation = call(pushed=('{"a": 1}', '{"b": 1}', '{"c": 1}'))
    assert score(scenario, conversation).verdict is Verdict.PASSED
    assert score(scenario, conversation, strict_match=True).verdict is Verdict.FAILED


@pytest.mark.parametrize("reason", [reason for reason in StopReason if reason is not StopReason.EXIT])
def test_an_end_that_is_not_the_agents_names_the_stop_reason_and_the_remedy(reason: StopReason) -> None:
    result = score(declare(), call(reason)).result(SuccessSignal.CLEAN_EXIT)
    assert result is not None
    assert (result.passed, result.value) == (False, False)
    assert result.explanation.startswith("expected the agent to end the call with its end tool, found stop")
    assert reason.value in result.explanation


def test_signals_for_a_judge_say_that_there_is_none() -> None:
    results = {r.signal: r for r in score(declare(nl_assertions=["it was polite"]), call()).results}
    for signal in (SuccessSignal.JUDGE_PASSED, SuccessSignal.NL_ASSERTION):
        assert results[signal] == SignalResult(signal, None, None, NO_JUDGE)
    bare = score(declare(), call()).result(SuccessSignal.NL_ASSERTION)
    assert bare is not None
    assert bare.explanation == "the scenario declares no NL assertions"


def test_a_verdict_without_any_signal_that_applies_is_none() -> None:
    scores = score(declare(success_signals=("judge_passed",)), call())
    assert scores.verdict is Verdict.NOT_APPLICABLE
    assert scores.breakdown == Breakdown(not_applicable=("judge_passed",), excluded=("clean_exit",))


@pytest.mark.parametrize(
    ("db", "clean", "expected"),
    [
        pytest.param(None, True, Verdict.PASSED, id="row101"),
        pytest.param(None, False, Verdict.FAILED, id="row102"),
        pytest.param(True, True, Verdict.PASSED, id="row103"),
        pytest.param(False, True, Verdict.FAILED, id="row104"),
        pytest.param(None, None, Verdict.NOT_APPLICABLE, id="row105"),
    ],
)
def test_signals_combine_row_by_row(db: bool | None, clean: bool | None, expected: Verdict) -> None:
    results = [
        SignalResult(SuccessSignal.DB_STATE_MATCH, db),
        SignalResult(SuccessSignal.CLEAN_EXIT, clean),
    ]
    assert verdict(declare(success_signals=DB_AND_EXIT), results) is expected


def test_the_breakdown_lists_what_counts_and_what_was_left_out() -> None:
    outcomes = [True, False, None, None, True, False]
    results = [SignalResult(signal, passed) for signal, passed in zip(SuccessSignal, outcomes, strict=True)]
    whitelist = (SuccessSignal.CLEAN_EXIT, SuccessSignal.ACTION_MATCH, SuccessSignal.NL_ASSERTION)
    assert breakdown(results, whitelist) == Breakdown(
        passed=("is_action_match",),
        failed=("clean_exit",),
        not_applicable=("nl_assertion",),
        excluded=("db_state_match", "judge_passed"),
    )


def test_a_scenario_may_combine_its_signals_its_own_way() -> None:
    seen: dict[str, Any] = {}

    class Forgiving(Scenario):
        name = "test__forgiving"
        success_signals = ACTION_AND_EXIT
        reference_answer = {"a": 1}  # noqa: RUF012 - how a scenario declares it

        def compute_is_successful(self, signals: Mapping[str, Any]) -> Any:
            seen.update(signals)
            return True

    scores = score(Forgiving(), call(StopReason.TIMEOUT))
    assert scores.verdict is Verdict.PASSED
    assert scores.breakdown.failed == ("is_action_match", "clean_exit")
    assert list(seen) == [signal.value for signal in SuccessSignal]
    assert seen["is_action_match"] is False
    assert seen["judge_passed"] is None


def test_a_combination_that_is_no_verdict_is_the_scenarios_fault() -> None:
    scenario = declare(compute_is_successful=lambda self, signals: None)
    with pytest.raises(DefinitionError, match=r"Declared\.compute_is_successful returned None; return True"):
        score(scenario, call())


def test_an_unknown_signal_is_the_scenarios_fault() -> None:
    with pytest.raises(DefinitionError, match="fast"):
        score(declare(success_signals=("clean_exit", "fast")), call())
