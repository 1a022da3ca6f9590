"""Tool calls as pipecat's own models of RTVI write them."""

from __future__ import annotations

from typing import Any

import pytest
from pipecat.processors.frameworks.rtvi import models as pipecat

from pytest_voiceeval.bridge.tool_calls import ToolCalls
from pytest_voiceeval.model.turns import AGENT
from pytest_voiceeval.wire import rtvi


def travelling(model: Any) -> rtvi.Envelope:
    return rtvi.Envelope.model_validate(model.model_dump(exclude_none=True))


def in_progress(**fields: Any) -> rtvi.Envelope:
    data = pipecat.LLMFunctionCallInProgressMessageData(tool_call_id="1", **fields)
    return travelling(pipecat.LLMFunctionCallInProgressMessage(data=data))


def stopped(cancelled: bool, **fields: Any) -> rtvi.Envelope:
    data = pipecat.LLMFunctionCallStoppedMessageData(tool_call_id="1", cancelled=cancelled, **fields)
    return travelling(pipecat.LLMFunctionCallStoppedMessage(data=data))


def actions(*messages: rtvi.Envelope) -> list[Any] | None:
    calls = ToolCalls()
    for message in messages:
        calls.take(message)
    found = calls.actions(AGENT)
    return None if found is None else [action.record for action in found]


def test_the_names_of_the_messages_are_pipecats() -> None:
    assert in_progress().type == rtvi.TOOL_CALL_IN_PROGRESS
    assert stopped(False).type == rtvi.TOOL_CALL_STOPPED


CALL = {"action_type": "order", "name": "order", "arguments": {"n": 1}}


@pytest.mark.parametrize(
    ("end", "wanted"),
    [
        (stopped(False, function_name="order", result={"ok": True}), [{**CALL, "result": {"ok": True}}]),
        (stopped(False), [CALL]),
        (stopped(True), []),
    ],
    ids=["full", "arguments", "cancelled"],
)
def test_a_call_with_name_and_arguments_is_an_action_unless_it_was_cancelled(
    end: rtvi.Envelope, wanted: list[Any]
) -> None:
    assert actions(in_progress(function_name="order", arguments={"n": 1}), end) == wanted


@pytest.mark.parametrize("fields", [{}, {"function_name": "order"}], ids=["none", "name"])
def test_a_call_of_which_the_bot_tells_less_is_no_action(fields: dict[str, Any]) -> None:
    assert actions(in_progress(**fields), stopped(False, **fields)) is None


def test_a_call_without_arguments_is_one_with_none() -> None:
    assert actions(in_progress(function_name="look", arguments={})) == [
        {"action_type": "look", "name": "look", "arguments": {}}
    ]
