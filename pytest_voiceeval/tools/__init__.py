"""What a bot may call: the bases of tools, the control tools, and their registry."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from pytest_voiceeval.tools.base import StandardSchemaTool, unknown_tool_result
from pytest_voiceeval.tools.control import (
    EndConversationTool,
    SendExitMessageTool,
    SendRTVIMessageTool,
    SendScenarioSummaryTool,
)
from pytest_voiceeval.tools.registry import (
    get_schema_tool_for_eval,
    list_schema_tools_for_eval,
    register_schema_tool_for_eval,
)
from pytest_voiceeval.tools.write import WriteScenarioTool

if TYPE_CHECKING:
    from pytest_voiceeval.world.initialization import register_initialization_function
    from pytest_voiceeval.world.predicates import register_db_state_predicate
    from pytest_voiceeval.world.sync import register_sync_applier

__all__ = [
    "EndConversationTool",
    "SendExitMessageTool",
    "SendRTVIMessageTool",
    "SendScenarioSummaryTool",
    "StandardSchemaTool",
    "WriteScenarioTool",
    "get_schema_tool_for_eval",
    "list_schema_tools_for_eval",
    "register_db_state_predicate",
    "register_initialization_function",
    "register_schema_tool_for_eval",
    "register_sync_applier",
    "unknown_tool_result",
]

_FROM_WORLD = {
    "register_db_state_predicate": "pytest_voiceeval.world.predicates",
    "register_initialization_function": "pytest_voiceeval.world.initialization",
    "register_sync_applier": "pytest_voiceeval.world.sync",
}


def __getattr__(name: str) -> Any:
    if name in _FROM_WORLD:
        return getattr(import_module(_FROM_WORLD[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
