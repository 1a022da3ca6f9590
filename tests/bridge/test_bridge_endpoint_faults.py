"""What an embedded bot tells of its endpoints: one that fails is no verdict on the agent."""

from __future__ import annotations

from typing import Any

import pytest
from test_bridge_call import agent_bot, hold, user_bot

from pytest_voiceeval.errors import ModelEndpointError
from pytest_voiceeval.model.conversation import Conversation
from pytest_voiceeval.model.stop_reason import StopReason
from pytest_voiceeval.model.turns import AGENT, USER, Side
from pytest_voiceeval.testing import FakeBot, Utterance, exit_message
from pytest_voiceeval.wire.notices import Notice, notice_in
from pytest_voiceeval.wire.rtvi import Envelope

TOLD = "model m at http://127.0.0.1:9/v1 answered 401"


def notice(kind: Any, text: str = TOLD) -> dict[str, Any]:
    return Notice(kind=kind, text=text).to_json()


@pytest.mark.parametrize("side", [AGENT, USER])
def test_an_endpoint_that_fails_for_good_ends_the_call_at_once_as_the_environments_fault(side: Side) -> None:
    failing = Utterance("", 0.0, sends=(notice("failed"),))
    greeting = Utterance("Welcome.", 1.0)
    user = user_bot(lines=[failing]) if side == USER else user_bot()
    agent = agent_bot(lines=[greeting] if side == USER else [greeting, failing])
    kept: list[Conversation] = []
    with pytest.raises(ModelEndpointError) as caught:
        hold(user, agent, on_interrupt=kept.append)
    assert f"the {side}'s side could not go on" in str(caught.value)
    assert f"{TOLD} (fake {side})\n" in str(caught.value)
    assert f"after turn {1 if side == USER else 2}" in str(caught.value)
    assert "whose fault: the environment's; no verdict on the agent" in str(caught.value)
    assert kept[0].stop_reason is StopReason.ERROR
    assert kept[0].duration_seconds < 8
    assert kept[0].side(side).notices == {"failed": 1}


def test_retries_are_counted_and_cost_nothing_else() -> None:
    told = (notice("retry"), notice("retry"), notice("recovered"))
    conversation = hold(
        user_bot(),
        agent_bot(
            lines=[
                Utterance("Welcome.", 1.0, sends=told),
                Utterance("Bye.", 0.8, late_sends=(exit_message(),)),
            ]
        ),
    )
    assert conversation.stop_reason is StopReason.EXIT
    assert conversation.agent.notices == {"retry": 2, "recovered": 1}
    assert conversation.user.notices == {}
    assert any(TOLD in line for line in conversation.events)


def test_a_call_that_falls_silent_while_an_endpoint_is_asked_again_tells_why() -> None:
    agent = agent_bot(lines=[Utterance("Welcome.", 1.0), Utterance("", 0.0, sends=(notice("retry"),))])
    with pytest.raises(ModelEndpointError, match="answered 401"):
        hold(user_bot(), agent, inactivity_timeout=5.0)


def test_one_that_recovered_is_no_reason_for_silence() -> None:
    told = (notice("retry"), notice("recovered"))
    agent = agent_bot(lines=[Utterance("Welcome.", 1.0), Utterance("", 0.0, sends=told)])
    assert hold(user_bot(), agent, inactivity_timeout=5.0).stop_reason is StopReason.INACTIVITY


def test_a_caller_that_has_ended_the_call_needs_no_endpoint_any_more() -> None:
    bye = Utterance("Bye.", 1.0, late_sends=(exit_message(), notice("failed")))
    agent = FakeBot(AGENT, [Utterance("Welcome.", 1.0)])
    assert hold(user_bot(lines=[bye]), agent).simulator_end_reported


@pytest.mark.parametrize(
    "data", [None, "text", {"type": "endpoint-notice"}, {"type": "endpoint-notice", "kind": "x", "text": ""}]
)
def test_what_is_no_notice_is_none(data: Any) -> None:
    assert notice_in(Envelope(type="server-message", data=data)) is None
