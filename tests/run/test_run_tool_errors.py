from __future__ import annotations

import json
from typing import Any

import pytest

from pytest_voiceeval.run.tool_errors import tool_errors


def called(identity: str, name: str) -> dict[str, Any]:
    function = {"name": name, "arguments": "{}"}
    return {"role": "assistant", "tool_calls": [{"id": identity, "type": "function", "function": function}]}


def answered(identity: str, content: Any) -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": identity, "content": content}


@pytest.mark.parametrize(
    "answer",
    [
        {"error": "division by zero"},
        {"status": "error", "message": "There is no tool named 'x'."},
        {"success": False, "message": "No such order."},
    ],
    ids=["raised", "unknown tool", "refused"],
)
def test_an_error_is_told_with_the_tool_that_was_called(answer: dict[str, Any]) -> None:
    text = json.dumps(answer)
    context = [called("1", "MenuTool"), called("2", "OrderTool"), answered("2", text), answered("1", "{}")]
    assert tool_errors(context) == [{"tool": "OrderTool", "answer": text}]
    assert tool_errors([called("2", "OrderTool"), answered("2", answer)])[0]["answer"] == text


@pytest.mark.parametrize("content", ['{"success": true}', "no JSON", '["error"]', '{"error": null}', None])
def test_other_answers_are_no_errors(content: Any) -> None:
    assert tool_errors([called("1", "MenuTool"), answered("1", content)]) == []


def test_foreign_messages_are_passed_over() -> None:
    strange = [
        {"role": "assistant", "tool_calls": "x"},
        {"tool_calls": [7, {}, {"id": "1", "function": 3}]},
        {},
    ]
    assert tool_errors([*strange, answered("9", '{"error": "e"}')]) == [
        {"tool": "(unknown)", "answer": '{"error": "e"}'}
    ]
    assert tool_errors(None) == []
