"""Tools that talk to the bridge: a message, a summary of the outcome, the end of the call."""

from __future__ import annotations

import json
from typing import Any, ClassVar

from pytest_voiceeval.errors import DefinitionError
from pytest_voiceeval.tools.base import StandardSchemaTool
from pytest_voiceeval.tools.registry import register_schema_tool_for_eval


def _success(message: str) -> dict[str, Any]:
    return {"success": True, "message": message}


@register_schema_tool_for_eval
class SendRTVIMessageTool(StandardSchemaTool):
    """Sends a text to the bridge as it is; base of all tools that send one."""

    description = "Send a message to the client application. The person on the phone does not hear it."

    def __init__(self, *, rtvi: Any = None, name: str | None = None, description: str | None = None) -> None:
        super().__init__(name=name, description=description)
        self.rtvi = rtvi

    @property
    def properties(self) -> dict[str, Any]:
        """One text, ``message``."""
        return {"message": {"type": "string", "description": "The text to send."}}

    @property
    def required_properties(self) -> list[str]:
        """``message``."""
        return ["message"]

    async def _execute(self, *_args: Any, **arguments: Any) -> Any:
        await self._send_message(_message(arguments))
        return _success("message sent to the RTVIclient.")

    async def _send_message(self, text: str) -> None:
        """Send ``text`` to the bridge as a server message."""
        if self.rtvi is None:
            raise RuntimeError(f"{self.name} has no RTVI processor to send through")
        await self.rtvi.send_server_message({"text": text})


@register_schema_tool_for_eval
class SendScenarioSummaryTool(SendRTVIMessageTool):
    """Sends the outcome of the call to the bridge; base of tools that report one."""

    description = "Report the outcome of this call once it is settled."

    @property
    def properties(self) -> dict[str, Any]:
        """One text, ``message``."""
        return {"message": {"type": "string", "description": "The outcome, usually as JSON."}}

    async def _execute(self, *_args: Any, **arguments: Any) -> Any:
        await self._send_summary(_message(arguments))
        return _success("Scenario summary message sent.")

    async def _send_summary(self, outcome: Any) -> None:
        """Send ``outcome`` as ``<final_response>``: a text as it is, anything else as JSON."""
        text = outcome if isinstance(outcome, str) else json.dumps(outcome)
        await self._send_message(f"<final_response>{text}</final_response>")


@register_schema_tool_for_eval
class SendExitMessageTool(SendRTVIMessageTool):
    """Ends the call: the bridge is told after the result was delivered."""

    description = "End the call. Use it once, after both sides have said goodbye."
    ends_conversation = True
    EXIT_TEXT: ClassVar[str] = "The task is finished."

    def __init__(self, *, rtvi: Any, name: str | None = None, description: str | None = None) -> None:
        super().__init__(rtvi=rtvi, name=name, description=description)
        if rtvi is None:
            raise DefinitionError(f"{self.name} needs an RTVI processor: pass rtvi=")

    @property
    def properties(self) -> dict[str, Any]:
        """None."""
        return {}

    @property
    def required_properties(self) -> list[str]:
        """None."""
        return []

    async def _execute(self, *_args: Any, **_ignored: Any) -> Any:
        return _success("Exit message sent.")

    async def _after_result(self, result: Any) -> None:
        await self._send_message(f"<exit>{self.EXIT_TEXT}</exit>")


@register_schema_tool_for_eval
class EndConversationTool(SendExitMessageTool):
    """Ends the call; the one that scenarios name."""


def _message(arguments: dict[str, Any]) -> str:
    message = arguments.get("message")
    if message is None:
        raise ValueError("message is missing")
    return str(message)
