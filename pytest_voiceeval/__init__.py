"""Voice-agent evaluation scenarios as pytest test cases.

The public names are loaded when they are first used, so that importing the package costs nothing.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pytest_voiceeval.bots.launch import CommandBot, LocalBot, RemoteBot
    from pytest_voiceeval.bots.profile import load_profile
    from pytest_voiceeval.bridge.endpoint import Endpoint
    from pytest_voiceeval.model.conversation import ActionRecord, Conversation
    from pytest_voiceeval.model.judgement import AssertionVerdict, Judgement
    from pytest_voiceeval.model.metrics import Metrics
    from pytest_voiceeval.model.parts import Actions, NoiseConfig, Persona, Resources, Task
    from pytest_voiceeval.model.signals import SuccessSignal
    from pytest_voiceeval.model.turns import Turn
    from pytest_voiceeval.run.aggregate import RunAggregator
    from pytest_voiceeval.run.dynamic import run_dynamic_evaluation
    from pytest_voiceeval.run.resume import classify_scenario_resume_state
    from pytest_voiceeval.run.retries import auto_retry_reason
    from pytest_voiceeval.scenarios.base import Scenario
    from pytest_voiceeval.scenarios.registry import (
        get_eval_scenario,
        list_eval_scenarios,
        register_eval_scenario,
    )
    from pytest_voiceeval.scenarios.rehearsal import Rehearsal, Say, Use
    from pytest_voiceeval.scoring.conversation_end import ConversationEndPolicy, evaluate_conversation_end
    from pytest_voiceeval.scoring.judge import LLMJudge
    from pytest_voiceeval.scoring.judge_settings import JudgeSettings
    from pytest_voiceeval.world.artifacts import load_db_artifact
    from pytest_voiceeval.world.diff import compute_db_diff
    from pytest_voiceeval.world.documents import load_document
    from pytest_voiceeval.world.hashing import get_dict_hash
    from pytest_voiceeval.world.roots import data_path, find_data, get_eval_data_root

_HOMES = {
    "ActionRecord": "model.conversation",
    "Actions": "model.parts",
    "AssertionVerdict": "model.judgement",
    "CommandBot": "bots.launch",
    "Conversation": "model.conversation",
    "ConversationEndPolicy": "scoring.conversation_end",
    "Endpoint": "bridge.endpoint",
    "JudgeSettings": "scoring.judge_settings",
    "Judgement": "model.judgement",
    "LLMJudge": "scoring.judge",
    "LocalBot": "bots.launch",
    "Metrics": "model.metrics",
    "NoiseConfig": "model.parts",
    "Persona": "model.parts",
    "RemoteBot": "bots.launch",
    "Rehearsal": "scenarios.rehearsal",
    "Resources": "model.parts",
    "RunAggregator": "run.aggregate",
    "Say": "scenarios.rehearsal",
    "Scenario": "scenarios.base",
    "SuccessSignal": "model.signals",
    "Task": "model.parts",
    "Turn": "model.turns",
    "Use": "scenarios.rehearsal",
    "auto_retry_reason": "run.retries",
    "classify_scenario_resume_state": "run.resume",
    "compute_db_diff": "world.diff",
    "evaluate_conversation_end": "scoring.conversation_end",
    "data_path": "world.roots",
    "find_data": "world.roots",
    "get_dict_hash": "world.hashing",
    "get_eval_data_root": "world.roots",
    "get_eval_scenario": "scenarios.registry",
    "list_eval_scenarios": "scenarios.registry",
    "load_db_artifact": "world.artifacts",
    "load_document": "world.documents",
    "load_profile": "bots.profile",
    "register_eval_scenario": "scenarios.registry",
    "run_dynamic_evaluation": "run.dynamic",
}

__all__ = [
    "ActionRecord",
    "Actions",
    "AssertionVerdict",
    "CommandBot",
    "Conversation",
    "ConversationEndPolicy",
    "Endpoint",
    "JudgeSettings",
    "Judgement",
    "LLMJudge",
    "LocalBot",
    "Metrics",
    "NoiseConfig",
    "Persona",
    "Rehearsal",
    "RemoteBot",
    "Resources",
    "RunAggregator",
    "Say",
    "Scenario",
    "SuccessSignal",
    "Task",
    "Turn",
    "Use",
    "auto_retry_reason",
    "classify_scenario_resume_state",
    "compute_db_diff",
    "data_path",
    "evaluate_conversation_end",
    "find_data",
    "get_dict_hash",
    "get_eval_data_root",
    "get_eval_scenario",
    "list_eval_scenarios",
    "load_db_artifact",
    "load_document",
    "load_profile",
    "register_eval_scenario",
    "run_dynamic_evaluation",
]


def __getattr__(name: str) -> Any:
    """Load a public name from the room that it lives in."""
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(importlib.import_module(f"{__name__}.{home}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
