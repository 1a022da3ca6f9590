"""Scenarios and conversations of a line each, for the tests of scoring."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from pytest_voiceeval.model.conversation import Conversation, Recording
from pytest_voiceeval.model.signals import SuccessSignal
from pytest_voiceeval.model.stop_reason import StopReason
from pytest_voiceeval.scenarios.base import Scenario

NOON = datetime(2026, 1, 2, 12)


def declare(**fields: Any) -> Scenario:
    """Return a scenario that declares ``fields``; its whitelist is the clean exit unless given."""
    defaults = {"name": "test__one", "success_signals": (SuccessSignal.CLEAN_EXIT,)}
    scenario: Scenario = type("Declared", (Scenario,), defaults | fields)()
    return scenario


def call(stop_reason: StopReason = StopReason.EXIT, **evidence: Any) -> Conversation:
    """Return a silent call of no length with the given evidence."""
    return Conversation(
        scenario_name="test__one",
        turns=(),
        stop_reason=stop_reason,
        started_at=NOON,
        ended_at=NOON,
        recording=Recording(b"", 16000),
        **evidence,
    )
