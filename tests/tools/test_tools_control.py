from __future__ import annotations

from typing import Any

import pytest

from pytest_voiceeval.errors import DefinitionError
from pytest_voiceeval.tools import (
    EndConversationTool,
    SendExitMessageTool,
    SendRTVIMessageTool,
    SendScenarioSummaryTool,
    get_schema_tool_for_eval,
    list_schema_tools_for_eval,
)


def test_a_message_is_sent_as_it_is(call: Any, rtvi: Any) -> None:
    assert call(SendRTVIMessageTool(rtvi=rtvi), message="<b>hi</b>", volume=11) == [
        ("message", {"text": "<b>hi</b>"}),
        ("result", {"success": True, "message": "message sent to the RTVIclient."}),
    ]


def test_a_summary_is_sent_before_its_result(call: Any, rtvi: Any) -> None:
    assert call(SendScenarioSummaryTool(rtvi=rtvi), message="all good") == [
        ("message", {"text": "<final_response>all good</final_response>"}),
        ("result", {"success": True, "message": "Scenario summary message sent."}),
    ]


@pytest.mark.parametrize("cls", [SendExitMessageTool, EndConversationTool])
def test_the_exit_is_sent_after_its_result_which_asks_for_no_answer(call: Any, rtvi: Any, cls: Any) -> None:
    assert call(cls(rtvi=rtvi), reason="done") == [
        ("result", {"success": True, "message": "Exit message sent."}),
        ("run_llm", False),
        ("message", {"text": "<exit>The task is finished.</exit>"}),
    ]


@pytest.mark.parametrize("cls", [SendRTVIMessageTool, SendScenarioSummaryTool])
@pytest.mark.parametrize("arguments", [None, {"message": None}])
def test_without_a_message_nothing_is_sent(call: Any, rtvi: Any, cls: Any, arguments: Any) -> None:
    assert call(cls(rtvi=rtvi), arguments) == [("result", {"error": "message is missing"})]


def test_an_exit_that_cannot_be_sent_leaves_the_result_alone(
    call: Any, rtvi: Any, caplog: pytest.LogCaptureFixture
) -> None:
    rtvi.broken = True
    assert [kind for kind, _ in call(EndConversationTool(rtvi=rtvi))] == ["result", "run_llm"]
    assert "the bridge is gone" in caplog.text


def test_the_exit_tool_needs_a_processor() -> None:
    with pytest.raises(DefinitionError, match="pass rtvi="):
        get_schema_tool_for_eval("EndConversationTool")


def test_a_message_without_a_processor_is_an_error(call: Any) -> None:
    [(_, result)] = call(SendRTVIMessageTool(), message="hi")
    assert "no RTVI processor" in result["error"]


def test_control_tools_belong_to_the_default_domain() -> None:
    assert list_schema_tools_for_eval("default")[:4] == [
        "SendRTVIMessageTool",
        "SendScenarioSummaryTool",
        "SendExitMessageTool",
        "EndConversationTool",
    ]


def test_schemas(rtvi: Any) -> None:
    assert SendRTVIMessageTool(rtvi=rtvi).schema()["required"] == ["message"]
    assert EndConversationTool(rtvi=rtvi).schema()["properties"] == {}
