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
    from pytest_voiceeval.tools.checked import (
        CheckedTool,
        CheckedWriteTool,
        NoParams,
        Params,
        ToolRefusal,
        action_name,
    )
    from pytest_voiceeval.tools.replay import GoldReplay, build_tools, gold_replay
    from pytest_voiceeval.tools.transfer import TransferTool
    from pytest_voiceeval.world.initialization import register_initialization_function
    from pytest_voiceeval.world.predicates import register_db_state_predicate
    from pytest_voiceeval.world.sync import register_sync_applier

__all__ = [
    "CheckedTool",
    "CheckedWriteTool",
    "EndConversationTool",
    "GoldReplay",
    "NoParams",
    "Params",
    "SendExitMessageTool",
    "SendRTVIMessageTool",
    "SendScenarioSummaryTool",
    "StandardSchemaTool",
    "ToolRefusal",
    "TransferTool",
    "WriteScenarioTool",
    "action_name",
    "build_tools",
    "get_schema_tool_for_eval",
    "gold_replay",
    "list_schema_tools_for_eval",
    "register_db_state_predicate",
    "register_initialization_function",
    "register_schema_tool_for_eval",
    "register_sync_applier",
    "unknown_tool_result",
]

_CHECKED = "pytest_voiceeval.tools.checked"
_REPLAY = "pytest_voiceeval.tools.replay"
# What is loaded when it is first used: the world, and pydantic, which is heavy.
_LATER = {
    "CheckedTool": _CHECKED,
    "CheckedWriteTool": _CHECKED,
    "GoldReplay": _REPLAY,
    "NoParams": _CHECKED,
    "Params": _CHECKED,
    "ToolRefusal": _CHECKED,
    "TransferTool": "pytest_voiceeval.tools.transfer",
    "action_name": _CHECKED,
    "build_tools": _REPLAY,
    "gold_replay": _REPLAY,
    "register_db_state_predicate": "pytest_voiceeval.world.predicates",
    "register_initialization_function": "pytest_voiceeval.world.initialization",
    "register_sync_applier": "pytest_voiceeval.world.sync",
}


def __getattr__(name: str) -> Any:
    if name in _LATER:
        return getattr(import_module(_LATER[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
