from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scoring_calls import call, declare

from pytest_voiceeval.model.conversation import ActionRecord, SideEvidence
from pytest_voiceeval.model.signals import SuccessSignal
from pytest_voiceeval.model.stop_reason import StopReason
from pytest_voiceeval.scoring.action_diff import explain_mismatch
from pytest_voiceeval.scoring.composite import action_match
from pytest_voiceeval.scoring.evidence import unscorable
from pytest_voiceeval.scoring.match import MatchRules, check_if_task_success

GONE = SideEvidence(pull_error="get_scenario_summary: no answer within 10 s")
PULLED = SideEvidence(actions=())
ORDER = {"success_signals": ("is_action_match",), "reference_answer": {"drink": "tea"}}


def test_what_the_agent_recorded_is_needed_for_an_action_match() -> None:
    reason = unscorable(declare(**ORDER), call(agent=GONE))
    assert "is_action_match cannot be scored" in reason
    assert "the agent's end state could not be pulled: get_scenario_summary: no answer within 10 s" in reason


def test_an_answer_without_a_list_of_actions_is_no_summary() -> None:
    assert "no list of actions" in unscorable(declare(**ORDER), call())


@pytest.mark.parametrize(
    ("fields", "evidence"),
    [
        pytest.param(ORDER, {"agent": PULLED}, id="pulled"),
        pytest.param(ORDER, {"agent": GONE, "pushed": ("{}",)}, id="pushed"),
        pytest.param({"success_signals": ("is_action_match",)}, {"agent": GONE}, id="no reference"),
        pytest.param({"reference_answer": {"a": 1}}, {"agent": GONE}, id="not whitelisted"),
        pytest.param(ORDER, {"agent": GONE, "stop_reason": StopReason.AGENT_HANGUP}, id="hung up"),
        pytest.param(ORDER, {"agent": PULLED, "user": GONE}, id="the user's is not needed"),
    ],
)
def test_the_verdict_stands_without_what_is_not_needed(
    fields: dict[str, Any], evidence: dict[str, Any]
) -> None:
    assert unscorable(declare(**fields), call(**evidence)) == ""


def test_databases_are_needed_by_the_signals_on_them() -> None:
    state = declare(success_signals=("db_state_match",), expected_scenario_db={"a": 1})
    assert "db_state_match" in unscorable(state, call(agent=GONE, pushed=("{}",)))
    claims = declare(success_signals=("db_state_assertion",), db_state_assertions=[{"side": "user"}])
    assert "the user's end state" in unscorable(claims, call(agent=PULLED, user=GONE))
    hung_up = call(StopReason.AGENT_HANGUP, agent=PULLED, user=GONE)
    assert "the user's end state" in unscorable(claims, hung_up)
    assert unscorable(claims, call(agent=GONE, user=PULLED)) == ""


def test_an_agent_that_hung_up_fails_and_is_told_so() -> None:
    result = action_match(declare(**ORDER), call(StopReason.AGENT_HANGUP, agent=GONE))
    assert result.passed is False
    assert result.explanation.splitlines()[0] == (
        "the agent hung up, and what it recorded could not be pulled: "
        "get_scenario_summary: no answer within 10 s"
    )


def test_evidence_that_is_missing_stands_beside_the_difference() -> None:
    agent = SideEvidence(
        actions=(ActionRecord("agent", {"drink": "coffee"}),), pull_error="get_context_history: no"
    )
    lines = action_match(declare(**ORDER), call(agent=agent)).explanation.splitlines()
    assert lines[0] == "not all of the agent's evidence could be pulled: get_context_history: no"
    assert len(lines) > 1


SCALARS = st.sampled_from(["a", "1", "1.0", "", 1, 2.5, True, None, float("nan"), float("inf")])
PAYLOADS = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["a", "b", "name", "arguments", "actions"]), inner, max_size=3)
    ),
    max_leaves=8,
)


@given(PAYLOADS, PAYLOADS, st.booleans(), st.booleans())
def test_a_mismatch_is_never_without_an_explanation_and_a_match_never_with_one(
    reference: Any, prediction: Any, strict: bool, lenient: bool
) -> None:
    rules = MatchRules(disallow_extra_items=strict, ignore_capitalization=lenient, ignore_punctuation=lenient)
    matches = check_if_task_success(reference, prediction, rules)
    assert bool(explain_mismatch(reference, prediction, rules)) is not matches


@given(PAYLOADS.filter(bool), st.lists(PAYLOADS, min_size=1, max_size=3), st.booleans())
def test_the_verdict_is_the_comparison_and_only_a_failure_is_explained(
    reference: Any, records: list[Any], strict: bool
) -> None:
    actions = tuple(ActionRecord("agent", {"value": record}) for record in records)
    conversation = call(agent=SideEvidence(actions=actions))
    scenario = declare(reference_answer=reference)
    payload = [{"actions": [action.to_json() for action in actions]}]
    result = action_match(scenario, conversation, strict_match=strict)
    wanted = {"message": reference} if isinstance(reference, str) else reference
    rules = MatchRules(disallow_extra_items=strict)
    assert result.signal is SuccessSignal.ACTION_MATCH
    assert result.passed is check_if_task_success(wanted, payload, rules)
    assert bool(result.explanation) is not result.passed
