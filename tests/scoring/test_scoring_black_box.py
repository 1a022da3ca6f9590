"""Signals of an agent whose prompt, tools and world are its own."""

from __future__ import annotations

from typing import Any

import pytest
from scoring_calls import call, declare

from pytest_voiceeval.model.conversation import ActionRecord, Conversation, SideEvidence
from pytest_voiceeval.model.judgement import AssertionVerdict, Judgement
from pytest_voiceeval.model.metrics import Verdict
from pytest_voiceeval.model.signals import SuccessSignal
from pytest_voiceeval.model.stop_reason import StopReason
from pytest_voiceeval.model.turns import AGENT, USER, Turn
from pytest_voiceeval.scenarios.base import Scenario
from pytest_voiceeval.scoring.composite import score
from pytest_voiceeval.scoring.evidence import unscorable
from pytest_voiceeval.tools import register_db_state_predicate

S = SuccessSignal
TALK = (
    Turn(AGENT, 0.5, 1.5, "Welcome."),
    Turn(USER, 2.0, 3.0, "One pizza."),
    Turn(AGENT, 4.0, 5.0, "Good bye."),
)
ORDER = {"actions": [{"name": "order", "arguments": {"n": 1}}]}


def black_box(**fields: Any) -> Conversation:
    evidence = {"turns": TALK, "agent_closed_normally": True, **fields}
    turns = evidence.pop("turns")
    reason = evidence.pop("stop_reason", StopReason.AGENT_HANGUP)
    conversation = call(reason, agent_is_black_box=True, **evidence)
    return Conversation(**{**vars(conversation), "turns": turns})


def inside(**fields: Any) -> Scenario:
    return declare(
        **{"success_signals": (S.ACTION_MATCH, S.DB_STATE_MATCH), "reference_answer": ORDER, **fields}
    )


def test_what_needs_the_inside_does_not_apply_and_says_why() -> None:
    assertion = {"side": "agent", "func_name": "x", "arguments": {}, "assert_value": True}
    scenario = inside(
        success_signals=(S.ACTION_MATCH, S.DB_STATE_MATCH, S.DB_STATE_ASSERTION),
        expected_scenario_db={"a": 1},
        db_state_assertions=[assertion],
    )
    scores = score(scenario, black_box())
    for signal in (S.ACTION_MATCH, S.DB_STATE_MATCH, S.DB_STATE_ASSERTION):
        result = scores.result(signal)
        assert result is not None
        assert result.passed is None
        assert result.explanation.startswith("black box: ")
    assert scores.verdict is Verdict.NOT_APPLICABLE
    assert scores.breakdown.not_applicable == ("is_action_match", "db_state_match", "db_state_assertion")
    assert unscorable(scenario, black_box(stop_reason=StopReason.INACTIVITY)) == ""


def test_the_same_evidence_of_an_evaluated_agent_is_scored() -> None:
    evaluated = Conversation(**{**vars(black_box()), "agent_is_black_box": False})
    assert score(inside(expected_scenario_db={"a": 1}), evaluated).verdict is Verdict.FAILED
    scenario = inside(success_signals=(S.ACTION_MATCH,))
    assert "could not be pulled" in unscorable(
        scenario, Conversation(**{**vars(evaluated), "stop_reason": StopReason.TIMEOUT})
    )


@pytest.mark.parametrize(("amount", "verdict"), [(1, Verdict.PASSED), (2, Verdict.FAILED)])
def test_tool_calls_that_it_reports_are_matched(amount: int, verdict: Verdict) -> None:
    record = {"action_type": "order", "name": "order", "arguments": {"n": amount}}
    agent = SideEvidence(actions=(ActionRecord(AGENT, record),))
    scores = score(inside(success_signals=(S.ACTION_MATCH,)), black_box(agent=agent))
    assert scores.verdict is verdict


def test_a_summary_that_it_pushes_is_matched() -> None:
    pushed = ('{"actions": [{"name": "order", "arguments": {"n": 1}}]}',)
    assert (
        score(inside(success_signals=(S.ACTION_MATCH,)), black_box(pushed=pushed)).verdict is Verdict.PASSED
    )


def test_assertions_on_the_users_own_world_are_decided() -> None:
    register_db_state_predicate("scoring_black_box", "is_lit")(lambda db: db["lit"])
    assertion = {"side": "user", "func_name": "is_lit", "arguments": {}, "assert_value": True}

    class Lamp(Scenario):
        name = "scoring_black_box__lamp"
        domain = "scoring_black_box"
        success_signals = (S.DB_STATE_ASSERTION,)
        db_state_assertions = (assertion,)

    conversation = black_box(user=SideEvidence(actions=(), db={"lit": True}))
    assert score(Lamp(), conversation).verdict is Verdict.PASSED

    class Synced(Lamp):
        name = "scoring_black_box__synced"

        def sync_state(self, agent_db: Any, user_db: Any) -> dict[str, Any]:
            return {"agent": {}, "user": {}}

    scores = score(Synced(), conversation)
    assert scores.verdict is Verdict.NOT_APPLICABLE
    result = scores.result(S.DB_STATE_ASSERTION)
    assert result is not None
    assert "the user's world follows what the agent does" in result.explanation


def test_judge_and_assertions_in_plain_language_are_scored_as_ever() -> None:
    scenario = declare(success_signals=(S.NL_ASSERTION, S.JUDGE_PASSED), nl_assertions=["It greets."])
    judgement = Judgement(score=1.0, verdicts=(AssertionVerdict(1, "It greets.", True, "It did."),))
    assert score(scenario, black_box(), judgement=judgement).verdict is Verdict.PASSED


def exits(**fields: Any) -> bool | None:
    result = score(declare(), black_box(**fields)).result(S.CLEAN_EXIT)
    assert result is not None
    return result.passed


def test_hanging_up_after_the_talk_is_a_clean_exit() -> None:
    assert exits()
    assert exits(turns=(*TALK[:2], Turn(AGENT, 2.5, 4.0, "Bye.")))


@pytest.mark.parametrize(
    "fields",
    [
        {"turns": ()},
        {"turns": TALK[:1]},
        {"turns": TALK[:2]},
        {"turns": TALK[1:2]},
        {"turns": (*TALK[:2], Turn(AGENT, 4.0, 5.0, "Goo", cut_off=True))},
        {"agent_closed_normally": False},
        {"stop_reason": StopReason.INACTIVITY},
        {"stop_reason": StopReason.TIMEOUT},
    ],
    ids=[
        *("nobody spoke", "only the agent", "before it answered", "only the user"),
        *("in its own turn", "it broke", "silence", "no end"),
    ],
)
def test_any_other_end_is_not(fields: dict[str, Any]) -> None:
    assert exits(**fields) is False


def test_an_evaluated_agent_that_hangs_up_has_not_ended_the_call() -> None:
    evaluated = Conversation(**{**vars(black_box()), "agent_is_black_box": False})
    assert score(declare(), evaluated).verdict is Verdict.FAILED


def test_a_black_box_that_says_so_ends_the_call_too() -> None:
    assert exits(stop_reason=StopReason.EXIT, agent_closed_normally=False)
