from __future__ import annotations

import pytest
from scoring_calls import call, declare

from pytest_voiceeval import ConversationEndPolicy, evaluate_conversation_end
from pytest_voiceeval.errors import DefinitionError
from pytest_voiceeval.model.signals import SuccessSignal
from pytest_voiceeval.model.stop_reason import StopReason
from pytest_voiceeval.model.turns import AGENT, USER, Side, Turn
from pytest_voiceeval.scoring.composite import score

TOOL_ONLY = ConversationEndPolicy.TOOL_ONLY
TERMINAL = ConversationEndPolicy.VALID_TERMINAL_STATE


def talk(*speakers: Side) -> list[Turn]:
    return [Turn(side, at, at + 0.5, f"{side} says {at}") for at, side in enumerate(speakers)]


@pytest.mark.parametrize("policy", [TOOL_ONLY, "valid-terminal-state"])
def test_the_agents_end_tool_is_a_valid_end_under_every_policy(policy: str) -> None:
    valid, evidence = evaluate_conversation_end(policy, "[EXIT]", talk(AGENT, USER), True)
    assert valid
    assert evidence == "the agent ended the call with its end tool (stop reason [EXIT])"


@pytest.mark.parametrize("reason", [r for r in StopReason if r is not StopReason.EXIT] + ["[OTHER]", None])
def test_the_simulators_word_counts_where_the_policy_says_so(reason: str | None) -> None:
    valid, evidence = evaluate_conversation_end(TERMINAL, reason, talk(AGENT), True)
    assert (valid, "simulator reported the end" in evidence) == (True, True)
    valid, evidence = evaluate_conversation_end(TOOL_ONLY, reason, talk(AGENT), True)
    assert not valid
    assert evidence.endswith("; the simulator had reported the end")


def test_silence_counts_after_the_users_turn_only() -> None:
    for speakers, is_valid in (((AGENT, USER), True), ((USER, AGENT), False), ((AGENT,), False), ((), False)):
        valid, evidence = evaluate_conversation_end(TERMINAL, StopReason.INACTIVITY, talk(*speakers))
        assert valid is is_valid, evidence
    assert evidence.endswith("nobody made a sound any more after a call in which nobody spoke")


def test_the_evidence_names_what_was_said_last() -> None:
    turns = [{"role": "agent", "text": "Anything  else?\n" + 200 * "x"}]
    _, evidence = evaluate_conversation_end(TERMINAL, "[INACTIVITY]", turns)
    assert "after the agent's turn \"Anything else? xxx" in evidence
    assert len(evidence) < 400
    _, evidence = evaluate_conversation_end(TERMINAL, "[INACTIVITY]", [{"role": "user", "text": None}])
    assert evidence == 'inactivity timeout after the user\'s final turn, ""'


def test_the_time_limit_is_not_silence() -> None:
    assert not evaluate_conversation_end(TERMINAL, "[TIMEOUT]", talk(AGENT, USER))[0]


def test_an_unknown_policy_is_named_with_those_there_are() -> None:
    with pytest.raises(DefinitionError, match="no conversation-end policy 'lenient'; choose one of: tool-o"):
        evaluate_conversation_end("lenient", "[EXIT]", [])
    assert issubclass(DefinitionError, ValueError)


def test_the_clean_exit_of_a_call_goes_by_the_policy() -> None:
    conversation = call(StopReason.TIMEOUT, simulator_end_reported=True)
    for policy, passed in ((TOOL_ONLY, False), (TERMINAL, True)):
        result = score(declare(), conversation, policy=policy).result(SuccessSignal.CLEAN_EXIT)
        assert result is not None
        assert result.passed is passed


def test_the_last_turn_is_the_one_that_ended_last() -> None:
    turns = (Turn(USER, 1.0, 5.0, "It is a long story."), Turn(AGENT, 2.0, 2.3, "Mhm."))
    conversation = call(StopReason.INACTIVITY)
    conversation = conversation.__class__(**{**vars(conversation), "turns": turns})
    result = score(declare(), conversation, policy=TERMINAL).result(SuccessSignal.CLEAN_EXIT)
    assert result is not None
    assert result.passed
