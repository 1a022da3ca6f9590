"""What cannot be scored of an agent whose inside is its own, and when its hang-up is a clean exit."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_voiceeval.model.conversation import Conversation
from pytest_voiceeval.model.stop_reason import StopReason
from pytest_voiceeval.model.turns import AGENT, USER

if TYPE_CHECKING:
    from pytest_voiceeval.scenarios.base import Scenario

NO_TOOL_CALLS = (
    "black box: what the agent did is not known: it reported no tool call with name and arguments (RTVI's "
    "llm-function-call messages; in pipecat, function_call_report_level ARGUMENTS or FULL)"
)
NO_DATABASE = "black box: the agent's database is its own and was not pulled"
NO_AGENT_SIDE = "black box: an assertion is on the agent's database, which is its own and was not pulled"
MAY_HANG_UP = "a black box may also hang up in good order, after both sides have spoken"
NOT_IN_STEP = "black box: the user's world follows what the agent does, and that is not known"


def why_no_action_match(conversation: Conversation) -> str:
    """Return why the agent's actions cannot be compared; empty if they can be.

    The calls of its tools that it reports stand for them, under their own names. One that reports none may
    have made none: that is not known.
    """
    is_unknown = conversation.agent_is_black_box and conversation.agent.actions is None
    return NO_TOOL_CALLS if is_unknown and not conversation.pushed else ""


def why_no_db_state(conversation: Conversation) -> str:
    """Return why the agent's database cannot be compared; empty if it can be."""
    return NO_DATABASE if conversation.agent_is_black_box else ""


def why_no_assertions(scenario: Scenario, conversation: Conversation) -> str:
    """Return why the assertions on the databases cannot be decided; empty if they can be."""
    if not conversation.agent_is_black_box:
        return ""
    if any(assertion.get("side") != USER for assertion in scenario.db_state_assertions or ()):
        return NO_AGENT_SIDE
    return NOT_IN_STEP if scenario.syncs_state else ""


def hung_up_after_the_talk(conversation: Conversation) -> bool:
    """Return whether a black box ended a call by hanging up: in good order, after both sides had spoken.

    It has no other way. One that hangs up before the user has said anything, or in the midst of its own turn,
    or whose connection breaks, has not ended the call.
    """
    if not conversation.agent_is_black_box or conversation.stop_reason is not StopReason.AGENT_HANGUP:
        return False
    spoken = [turn for turn in conversation.turns if turn.end > turn.start]
    own = [turn for turn in spoken if turn.speaker == AGENT]
    users = [turn for turn in spoken if turn.speaker == USER]
    if not own or not users or own[-1].cut_off:
        return False
    return conversation.agent_closed_normally and own[-1].end > users[0].start
