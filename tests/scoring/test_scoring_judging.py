from __future__ import annotations

import json
import math
from typing import Any

import pytest
from scoring_calls import call, declare

from pytest_voiceeval.errors import DefinitionError
from pytest_voiceeval.model.judgement import AssertionVerdict, Judgement, Opinion
from pytest_voiceeval.model.metrics import SignalResult, Verdict
from pytest_voiceeval.model.signals import SuccessSignal
from pytest_voiceeval.scenarios.base import Scenario
from pytest_voiceeval.scoring.composite import score
from pytest_voiceeval.scoring.judging import Judge
from pytest_voiceeval.testing import FakeJudge

JUDGED = (SuccessSignal.NL_ASSERTION, SuccessSignal.JUDGE_PASSED)
POLITE, SHORT = "It was polite.", "It was short."


def judged(**fields: Any) -> Scenario:
    return declare(**{"success_signals": JUDGED, "nl_assertions": [POLITE, SHORT], **fields})


def verdicts(*passed: bool) -> tuple[AssertionVerdict, ...]:
    texts = (POLITE, SHORT)
    return tuple(AssertionVerdict(n + 1, texts[n], ok, f"because {n + 1}") for n, ok in enumerate(passed))


def results(scenario: Scenario, judgement: Judgement, **options: Any) -> dict[str, SignalResult]:
    scores = score(scenario, call(), judgement=judgement, **options)
    return {result.signal.value: result for result in scores.results}


def test_a_score_passes_from_the_threshold_on() -> None:
    for threshold, passed in ((0.9, True), (0.91, False), (0.0, True)):
        found = results(judged(), Judgement(0.9, "fine", verdicts(True, True)), judge_threshold=threshold)
        assert found["judge_passed"].passed is passed
    assert found["judge_passed"].value is True


def test_a_score_below_the_threshold_is_explained_with_the_judges_reason() -> None:
    found = results(judged(), Judgement(0.4, "never\ngreeted", verdicts(True, True)))["judge_passed"]
    assert found.explanation == "expected a score of at least 0.9, found 0.4\nnever\ngreeted"


def test_assertions_pass_when_all_hold_and_those_that_do_not_are_listed() -> None:
    found = results(judged(), Judgement(0.9, "", verdicts(True, False)))["nl_assertion"]
    assert (found.passed, found.value) == (False, 0.5)
    assert found.explanation == "2. It was short.: because 2"
    assert results(judged(), Judgement(0.9, "", verdicts(True, True)))["nl_assertion"].value == 1.0


def test_a_broken_judge_is_an_error_and_no_failure() -> None:
    scores = score(judged(), call(), judgement=Judgement(error="it hung up"))
    assert scores.verdict is Verdict.ERROR
    assert scores.breakdown.error == ("nl_assertion", "judge_passed")
    assert scores.breakdown.failed == scores.breakdown.not_applicable == ()
    for signal in JUDGED:
        assert scores.result(signal) == SignalResult(signal, None, None, error="it hung up")
    assert scores.breakdown.to_json()["error"] == ["nl_assertion", "judge_passed"]


def test_a_broken_judge_whose_signals_do_not_count_leaves_the_verdict_alone() -> None:
    scores = score(declare(), call(), judgement=Judgement(error="it hung up"))
    assert scores.verdict is Verdict.PASSED
    assert set(scores.breakdown.to_json()) == {"passed", "failed", "not_applicable", "excluded"}


def test_a_broken_judge_is_an_error_however_a_scenario_combines_its_signals() -> None:
    scenario = judged(compute_is_successful=lambda self, signals: True)
    assert score(scenario, call(), judgement=Judgement(error="gone")).verdict is Verdict.ERROR


def test_a_judge_that_leaves_assertions_out_is_an_error() -> None:
    found = results(judged(), Judgement(0.9, "", verdicts(True)))
    assert found["nl_assertion"].error == "the judge gave 1 verdicts on 2 assertions"
    assert found["judge_passed"].passed


def test_without_assertions_without_a_score_or_without_a_threshold_nothing_applies() -> None:
    found = results(judged(nl_assertions=[]), Judgement())
    assert found["nl_assertion"].explanation == "the scenario declares no NL assertions"
    assert found["judge_passed"] == SignalResult(
        SuccessSignal.JUDGE_PASSED, None, None, "the judge gave no score"
    )
    found = results(judged(), Judgement(1.0, "", verdicts(True, True)), judge_threshold=None)
    assert found["judge_passed"].explanation == "no threshold is set for the judge's score"


@pytest.mark.parametrize("wrong", [-0.1, 1.1, math.nan, math.inf])
def test_a_score_out_of_range_is_none(wrong: float) -> None:
    with pytest.raises(ValueError, match="from 0 to 1"):
        Judgement(wrong)


def test_several_opinions_come_to_median_and_majority() -> None:
    opinions = [
        Opinion(0.2, "bad", verdicts(False, True)),
        Opinion(1.0, "good", verdicts(True, True)),
        Opinion(0.7, "fair", verdicts(True, False)),
    ]
    judgement = Judgement.of(opinions, {"system_prompt": "s", "user_content": "u"})
    assert (judgement.score, judgement.reason, judgement.spread) == (0.7, "fair", pytest.approx(0.8))
    assert [verdict.passed for verdict in judgement.verdicts] == [True, True]
    content = json.loads(json.dumps(judgement.to_json()))
    assert [sample["score"] for sample in content["samples"]] == [0.2, 1.0, 0.7]
    assert content["nl_assertion_pass_rate"] == 1.0
    assert content["judge_input"] == {"system_prompt": "s", "user_content": "u"}
    text = results(judged(), judgement)["judge_passed"].explanation
    assert text.startswith("expected a score of at least 0.9, found 0.7 (median of 3, 0.2 to 1)\nfair")


def test_a_tie_does_not_make_an_assertion_hold() -> None:
    opinions = [Opinion(0.5, "", verdicts(True, True)), Opinion(0.6, "", verdicts(False, True))]
    judgement = Judgement.of(opinions, {})
    assert [verdict.passed for verdict in judgement.verdicts] == [False, True]
    assert judgement.score == pytest.approx(0.55)


def test_one_opinion_has_no_spread() -> None:
    judgement = Judgement.of([Opinion(0.5)], {})
    assert (judgement.spread, judgement.samples, judgement.pass_rate) == (None, (), None)
    assert judgement.to_json() == {"score": 0.5, "reason": "", "judge_input": {}}


@pytest.mark.parametrize("wrong", ["It was polite.", [1], {"a": 1}])
def test_assertions_that_are_no_list_of_texts_are_the_scenarios_fault(wrong: Any) -> None:
    with pytest.raises(DefinitionError, match=r"scoring_calls.py.*: nl_assertions of .* write a list"):
        score(judged(nl_assertions=wrong), call(), judgement=Judgement(1.0))


def test_a_fake_judge_says_what_it_is_told_to() -> None:
    judge: Judge = FakeJudge(0.5, failing=[2])
    judgement = judge.judge(judged(), call())
    assert (judgement.score, [v.passed for v in judgement.verdicts]) == (0.5, [True, False])
    assert FakeJudge(error="asleep").judge(judged(), call()) == Judgement(error="asleep")
