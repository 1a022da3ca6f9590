"""Evidence that scoring needs and does not have: said where it is missed, and when it leaves no verdict."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from pytest_voiceeval.model.conversation import Conversation
from pytest_voiceeval.model.signals import SuccessSignal
from pytest_voiceeval.model.stop_reason import StopReason
from pytest_voiceeval.model.turns import AGENT, SIDES, Side

if TYPE_CHECKING:
    from pytest_voiceeval.scenarios.base import Scenario

BLACK_BOX = "the agent is a black box, and reported no tool call with name and arguments"
NO_SUMMARY = "its scenario summary has no list of actions"


def missing_summary(conversation: Conversation, side: Side) -> str:
    """Return why the end state of a side's bot could not be pulled; empty if it was."""
    evidence = conversation.side(side)
    if side == AGENT and conversation.agent_is_black_box and evidence.actions is None:
        return BLACK_BOX
    return "" if evidence.actions is not None else evidence.pull_error or NO_SUMMARY


def missing_record(conversation: Conversation) -> str:
    """Return why nothing is known of what the agent recorded; empty if something is, pulled or pushed."""
    return "" if conversation.pushed else missing_summary(conversation, AGENT)


def action_match_notes(conversation: Conversation) -> list[str]:
    """Return what a person must know of the evidence that an action match was failed on."""
    why = missing_record(conversation) or conversation.agent.pull_error
    if not why:
        return []
    if conversation.stop_reason is StopReason.AGENT_HANGUP:
        return [f"the agent hung up, and what it recorded could not be pulled: {why}"]
    return [f"not all of the agent's evidence could be pulled: {why}"]


def unscorable(scenario: Scenario, conversation: Conversation) -> str:
    """Return why a whitelisted signal cannot be scored for lack of evidence; empty if all can be.

    An agent that hung up or died took its evidence along: that is its own fault, and no reason.
    """
    for signal, side in _needed(scenario):
        if side == AGENT and conversation.stop_reason is StopReason.AGENT_HANGUP:
            continue
        if side == AGENT and conversation.agent_is_black_box:
            continue  # it has none to give: the signal does not apply
        if why := _missing(signal, conversation, side):
            return (
                f"{conversation.scenario_name}: {signal.value} cannot be scored, because the {side}'s end "
                f"state could not be pulled: {why}; expected its bot to answer get_scenario_summary"
            )
    return ""


def _missing(signal: SuccessSignal, conversation: Conversation, side: Side) -> str:
    if signal is SuccessSignal.ACTION_MATCH:
        return missing_record(conversation)
    why = missing_summary(conversation, side)
    return why or (conversation.side(side).db_error if signal is SuccessSignal.DB_STATE_ASSERTION else "")


def _needed(scenario: Scenario) -> Iterator[tuple[SuccessSignal, Side]]:
    """Yield each whitelisted signal that applies and needs a side's end state."""
    whitelist = scenario.whitelist
    if SuccessSignal.ACTION_MATCH in whitelist and scenario.reference_answer:
        yield SuccessSignal.ACTION_MATCH, AGENT
    if SuccessSignal.DB_STATE_MATCH in whitelist and scenario.expected_scenario_db is not None:
        yield SuccessSignal.DB_STATE_MATCH, AGENT
    if SuccessSignal.DB_STATE_ASSERTION in whitelist:
        named = {assertion.get("side") for assertion in scenario.db_state_assertions or []}
        for side in SIDES:
            if side in named:
                yield SuccessSignal.DB_STATE_ASSERTION, side
