"""The calls of its tools that a bot reports while it talks."""

from __future__ import annotations

import json
from typing import Any

from pytest_voiceeval.model.conversation import ActionRecord
from pytest_voiceeval.model.turns import Side
from pytest_voiceeval.wire import rtvi
from pytest_voiceeval.wire.rtvi import Envelope


class ToolCalls:
    """Gathers tool calls from RTVI messages; one that was cancelled, or refused by its tool, was not made."""

    def __init__(self) -> None:
        self._reports_calls = False
        self._records: dict[str, dict[str, Any]] = {}
        self._incomplete: set[str] = set()

    def take(self, envelope: Envelope) -> None:
        """Take a message about a tool call.

        How much is in it is the bot's choice (pipecat's ``function_call_report_level``): a call without name
        or arguments is none that could be compared.
        """
        call = rtvi.tool_call(envelope)
        if call is None:
            return
        if envelope.type == rtvi.TOOL_CALL_STOPPED:
            self._end(call)
        elif call.function_name and call.arguments is not None:
            record = {"name": call.function_name, "arguments": dict(call.arguments)}
            self._reports_calls = True
            self._records[call.tool_call_id] = {"action_type": call.function_name, **record}
        else:
            self._incomplete.add(call.tool_call_id)

    def actions(self, side: Side) -> tuple[ActionRecord, ...] | None:
        """Return the calls that can be compared, in order; ``None`` if the bot reported none at all."""
        if not self._reports_calls:
            return None
        return tuple(ActionRecord(side, record) for record in self._records.values())

    @property
    def lack(self) -> str:
        """What is missing where some calls can be compared and others cannot; empty if nothing is."""
        if not self._records or not self._incomplete:
            return ""
        return f"{len(self._incomplete)} tool call(s) were reported without name or arguments"

    def _end(self, call: rtvi.ToolCall) -> None:
        if call.cancelled or _is_error(call.result):
            self._records.pop(call.tool_call_id, None)
            self._incomplete.discard(call.tool_call_id)
        elif call.tool_call_id in self._records and call.result is not None:
            self._records[call.tool_call_id]["result"] = call.result


def _is_error(result: Any) -> bool:
    """Return whether the result of a tool, an object or its text, tells that it did nothing."""
    try:
        found = json.loads(result) if isinstance(result, str) else result
    except (ValueError, RecursionError):
        return False
    return isinstance(found, dict) and (found.get("status") == "error" or found.keys() == {"error"})
