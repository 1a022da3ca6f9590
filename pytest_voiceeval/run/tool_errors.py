"""Which tool calls of a bot came to an error, read from its model's messages."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

CUT_OFF = "CANCELLED"
"""What pipecat tells a model of a call that an interruption or its time limit has cut off."""


def tool_errors(context: Sequence[Mapping[str, Any]] | None) -> list[dict[str, str]]:
    """Return ``{"tool": name, "answer": text}`` for each call that was answered with an error, in order.

    An answer is an error if it is an object with an ``error``, with ``"status": "error"``, or with
    ``"success": false``; also if it is the word with which pipecat answers a call that was cut off. A bot
    may send whatever it likes: what is no message of the OpenAI form is passed over.
    """
    messages = list(context or ())
    names = {str(call.get("id")): _name(call) for call in _calls(messages)}
    return [
        {
            "tool": names.get(str(message.get("tool_call_id")), "(unknown)"),
            "answer": _text(message["content"]),
        }
        for message in messages
        if message.get("role") == "tool" and _is_error(message.get("content"))
    ]


def _calls(messages: Sequence[Mapping[str, Any]]) -> Iterator[Mapping[str, Any]]:
    for message in messages:
        calls = message.get("tool_calls")
        yield from (call for call in (calls if isinstance(calls, list) else ()) if isinstance(call, dict))


def _name(call: Mapping[str, Any]) -> str:
    function = call.get("function")
    return str(function.get("name")) if isinstance(function, dict) else "(unknown)"


def _is_error(content: Any) -> bool:
    if content == CUT_OFF:
        return True
    try:
        answer = json.loads(content) if isinstance(content, str) else content
    except (ValueError, RecursionError):
        return False
    if not isinstance(answer, dict):
        return False
    return bool(answer.get("error")) or answer.get("status") == "error" or answer.get("success") is False


def _text(content: Any) -> str:
    return content if isinstance(content, str) else json.dumps(content, ensure_ascii=False)
