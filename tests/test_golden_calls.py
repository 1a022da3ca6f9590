"""Tool calls of golden files, on a domain of this test."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, ClassVar

import pytest
from golden.calls import call_fault
from golden.files import Given, GoldenFileError

from pytest_voiceeval.tools import SendExitMessageTool, WriteScenarioTool, registry
from pytest_voiceeval.world.hashing import get_dict_hash
from pytest_voiceeval.world.initialization import INITIALIZATION_FUNCTIONS

DOMAIN = "golden_tea"


class PourTool(WriteScenarioTool):
    """Pours cups."""

    description = "Pour."
    ACTION_TYPES: ClassVar[list[str]] = ["pour"]
    properties: ClassVar[dict[str, Any]] = {}  # type: ignore[assignment]
    required_properties: ClassVar[list[str]] = []  # type: ignore[assignment]

    async def _execute(self, cups: int) -> Any:
        if "db" not in self.state:
            return {"status": "error", "error_type": "no_db", "message": "there is no pot"}
        if cups > 9:
            raise ValueError("the pot is empty")
        self.state["db"]["cups"] += cups
        self.record({"action_type": "pour", "name": "pour", "arguments": {"cups": cups}, "result": "poured"})
        return {"on": "2025-02-25", "cups": self.state["db"]["cups"]}


class LeaveTool(SendExitMessageTool):
    """Leaves."""


def warm_up(db: dict[str, Any], cups: int) -> None:
    db["cups"] = cups


@pytest.fixture(autouse=True)
def tea(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(registry, "_domains", {"default": registry._domains.get("default", {})})
    for cls in (PourTool, LeaveTool):
        registry.register_schema_tool_for_eval(DOMAIN)(cls)
    monkeypatch.setitem(INITIALIZATION_FUNCTIONS._functions, DOMAIN, {"warm_up": warm_up})
    monkeypatch.setenv("EVAL_DATA_ROOT", str(tmp_path))
    (tmp_path / "tea.json").write_text(json.dumps({"cups": 1}), encoding="utf-8")
    (tmp_path / "user.json").write_text(json.dumps({"thirst": 5}), encoding="utf-8")


def call(**fields: Any) -> Given:
    case = {
        "id": "tea.1",
        "domain": DOMAIN,
        "side": "agent",
        "tool": "PourTool",
        "db": "tea.json + user.json",
        "arguments": {"cups": 2},
        "precondition": [],
        "result": {"cups": 3, "on": "2025-02-25"},
        "recorded": [
            {"action_type": "pour", "name": "pour", "arguments": {"cups": 2}, "result": "poured"},
        ],
        "ends_call": False,
        "db_hash_before": get_dict_hash({"cups": 1}),
        "db_hash_after": get_dict_hash({"cups": 3}),
        "after_sync": {"agent": get_dict_hash({"cups": 3}), "user": get_dict_hash({"thirst": 5})},
        "compare": "exact",
    }
    return Given(case | fields)


REFUSED = {"recorded": [], "db_hash_before": None, "db_hash_after": None, "after_sync": {"agent": None}}
RAISED = {"recorded": [], "db_hash_after": get_dict_hash({"cups": 1}), "after_sync": {}, "raised": True}


@pytest.mark.parametrize(
    "fields",
    [
        {},
        {"result": {"on": "2025-02-25", "cups": 3.0}},
        {"random_id": True, "after_sync": {"agent": "other"}},
        {"arguments": {"cups": 99}, "result": {"error": "the pot is empty"}, **RAISED},
        {"arguments": {"cups": 99}, "result": {"error": "other words"}, **RAISED, "compare": "error"},
        {
            "precondition": [{"kind": "unset_db", "side": "agent"}],
            "result": {"status": "error", "error_type": "no_db", "message": "in other words"},
            "compare": "error_type",
            **REFUSED,
        },
        {
            "precondition": [
                {"kind": "init", "side": "agent", "func_name": "warm_up", "arguments": {"cups": 0}},
                {"kind": "tool", "side": "agent", "tool": "PourTool", "arguments": {"cups": 1}},
            ],
        },
        {
            "precondition": [{"kind": "set_db", "side": "agent", "path": ["cups"], "value": 7}],
            "result": {"on": "2025-02-25", "cups": 9},
            "db_hash_before": get_dict_hash({"cups": 7}),
            "db_hash_after": get_dict_hash({"cups": 9}),
            "after_sync": {"agent": get_dict_hash({"cups": 9})},
        },
        {
            "tool": "LeaveTool",
            "arguments": {},
            "result": {"success": True, "message": "Exit message sent."},
            "recorded": [],
            "ends_call": True,
            "db_hash_after": get_dict_hash({"cups": 1}),
            "after_sync": {},
        },
    ],
)
def test_a_call_that_comes_out_as_it_says_holds(fields: dict[str, Any]) -> None:
    assert call_fault(call(**fields)) == ""


@pytest.mark.parametrize(
    ("fields", "fault"),
    [
        ({"result": {"cups": 4, "on": "2025-02-25"}}, "delivered: found"),
        ({"result": {"cups": True, "on": "2025-02-25"}}, "delivered: found"),
        ({"delivered": {"cups": 4}}, "delivered: found"),
        ({"recorded": []}, "recorded: found [{"),
        ({"ends_call": True}, "ends_call: found false, expected true"),
        ({"db_hash_before": None}, "db_hash_before: found"),
        ({"db_hash_after": "0"}, "db_hash_after: found"),
        ({"after_sync": {"agent": "0"}}, "after_sync: found"),
    ],
)
def test_each_part_that_comes_out_otherwise_is_told(fields: dict[str, Any], fault: str) -> None:
    assert fault in call_fault(call(**fields))


@pytest.mark.parametrize(
    ("fields", "complaint"),
    [
        ({"side": "bridge"}, "no side 'bridge'"),
        ({"tool": "StirTool"}, "no tool 'StirTool' in domain 'golden_tea'; there are: PourTool"),
        ({"precondition": [{"kind": "wait", "side": "user"}]}, "no way to take a step of kind 'wait'"),
        (
            {"precondition": [{"kind": "init", "side": "agent", "func_name": "cool"}]},
            "no initialization function",
        ),
        ({"precondition": [7]}, "an object is wanted, not 7"),
        ({"compare": "roughly"}, "no way to compare by 'roughly'"),
    ],
)
def test_a_case_that_cannot_be_run_says_why(fields: dict[str, Any], complaint: str) -> None:
    with pytest.raises(GoldenFileError, match=complaint):
        call_fault(call(**fields))
