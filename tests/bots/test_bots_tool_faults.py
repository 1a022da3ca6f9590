"""Tools that raise, hang, deliver twice, return what is no JSON, are cut off, or outlast the call."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterator
from typing import Any, ClassVar

import pytest
from leftovers import Possessions
from wire_client import PROMPT, WireClient

from pytest_voiceeval.bots import pipeline
from pytest_voiceeval.bots.profile import Profile
from pytest_voiceeval.bots.recogniser import shared_recogniser
from pytest_voiceeval.run.tool_errors import tool_errors
from pytest_voiceeval.scenarios.rehearsal import Say, Use
from pytest_voiceeval.tools import StandardSchemaTool, WriteScenarioTool, register_schema_tool_for_eval

pytestmark = pytest.mark.asyncio

RETURNED: dict[str, Any] = {
    "a set": {3},
    "an object": object(),
    "no number": {"price": float("nan")},
    "bytes": {"raw": b"\xff"},
    "itself": [],
    "keys that are no texts": {(1, 2): 3},
}
RETURNED["itself"].append(RETURNED["itself"])


class FaultyTool(StandardSchemaTool):
    properties: ClassVar[dict[str, Any]] = {"what": {"type": "string", "description": "Which."}}
    required_properties: ClassVar[list[str]] = []
    description = "Goes wrong."


@register_schema_tool_for_eval("bots_test")
class RaisingTool(FaultyTool):
    async def _execute(self, what: str = "") -> Any:
        raise RuntimeError("the till is jammed")


@register_schema_tool_for_eval("bots_test")
class LeavingTool(FaultyTool):
    async def _execute(self, what: str = "") -> Any:
        raise SystemExit(what)


@register_schema_tool_for_eval("bots_test")
class HangingTool(FaultyTool):
    async def _execute(self, what: str = "") -> Any:
        await asyncio.Event().wait()


@register_schema_tool_for_eval("bots_test")
class ReturningTool(FaultyTool):
    async def _execute(self, what: str = "") -> Any:
        return RETURNED[what]


@register_schema_tool_for_eval("bots_test")
class TwiceTool(FaultyTool):
    """Delivers by itself, and then as every tool does."""

    async def _execute(self, what: str = "") -> Any:
        return {"done": "once"}

    async def __call__(self, params: Any) -> None:
        await params.result_callback({"done": "first"})
        await super().__call__(params)


@register_schema_tool_for_eval("bots_test")
class SlowWriteTool(WriteScenarioTool):
    """Takes its time, and then records."""

    description = "Write slowly."
    properties: ClassVar[dict[str, Any]] = {}
    required_properties: ClassVar[list[str]] = []
    ACTION_TYPES: ClassVar[list[str]] = ["write"]

    async def _execute(self) -> Any:
        await asyncio.sleep(1.0)
        self.record({"action_type": "write", "name": "SlowWriteTool", "arguments": {}, "result": None})
        return {"written": True}


@pytest.fixture(autouse=True)
def nothing_is_left_behind(profile: Profile) -> Iterator[None]:
    # The models are loaded once a process, and stay.
    shared_recogniser(profile.stt.model_path, profile.stt.device, profile.stt.compute_type)
    before = Possessions.now()
    yield
    assert Possessions.now().beyond(before) == []


async def answers(client: WireClient) -> list[Any]:
    """Return what the model was told by its tools."""
    return [json.loads(m["content"]) for m in await client.history() if m["role"] == "tool"]


async def called(agent: Callable[..., Any], tool: str, *, what: str = "") -> WireClient:
    """Return a client of an agent whose model has called a tool, was answered, and has ended the call."""
    _, client = await agent(Use(tool, {"what": what} if what else {}), Use("EndConversationTool"))
    assert await client.prepare(PROMPT, EndConversationTool={}, **{tool: {}})
    await client.kick_off()
    await client.wait_for("server-message")
    return client


async def test_a_tool_that_raises_answers_with_its_error(agent: Callable[..., Any]) -> None:
    client = await called(agent, "RaisingTool")
    assert (await answers(client))[0] == {"error": "the till is jammed"}
    assert tool_errors(await client.history()) == [
        {"tool": "RaisingTool", "answer": '{"error": "the till is jammed"}'}
    ]


async def test_a_tool_that_wants_to_leave_the_process_does_not(agent: Callable[..., Any]) -> None:
    client = await called(agent, "LeavingTool", what="now")
    assert (await answers(client))[0] == {"error": "SystemExit: now"}


@pytest.mark.parametrize("what", RETURNED)
async def test_a_tool_that_returns_no_json_answers_all_the_same(agent: Callable[..., Any], what: str) -> None:
    client = await called(agent, "ReturningTool", what=what)
    answer = (await answers(client))[0]
    assert "the tool ReturningTool returned what is no JSON" in answer["error"]


async def test_a_tool_that_delivers_twice_is_heard_once(agent: Callable[..., Any]) -> None:
    client = await called(agent, "TwiceTool")
    assert (await answers(client))[0] == {"done": "first"}
    assert [m["role"] for m in await client.history()].count("assistant") == 2


async def test_a_tool_that_hangs_is_given_up(
    agent: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(HangingTool, "limit_seconds", 0.3)
    client = await called(agent, "HangingTool")
    assert (await answers(client))[0] == {"error": "the tool HangingTool did not answer within 0.3 s"}


async def test_a_tool_that_pipecat_gives_up_is_told_too(
    agent: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pipeline, "_TOOL_SECONDS", 0.3)
    client = await called(agent, "HangingTool")
    assert tool_errors(await client.history()) == [{"tool": "HangingTool", "answer": "CANCELLED"}]


async def test_what_a_tool_records_after_the_call_is_over_is_in_the_evidence(
    agent: Callable[..., Any],
) -> None:
    _, client = await agent(Use("SlowWriteTool"), Say("Done."))
    await client.prepare(PROMPT, SlowWriteTool={})
    await client.kick_off()
    await client.wait_for("llm-function-call-in-progress")
    summary = await client.ask("get_scenario_summary")
    assert [action["name"] for action in summary["actions"]] == ["SlowWriteTool"]


async def test_a_tool_that_a_barge_in_cancels_records_nothing_and_is_told(agent: Callable[..., Any]) -> None:
    _, client = await agent(Use("SlowWriteTool"), Use("EndConversationTool"))
    await client.prepare(PROMPT, SlowWriteTool={}, EndConversationTool={})
    await client.kick_off()
    await client.wait_for("llm-function-call-in-progress")
    await client.kick_off()
    await client.wait_for("server-message")
    summary = await client.ask("get_scenario_summary")
    assert summary["actions"] == []
    history = await client.history()
    assert tool_errors(history) == [{"tool": "SlowWriteTool", "answer": "CANCELLED"}]
    assert [message["role"] for message in history][2:] == [
        *("assistant", "tool", "user", "assistant", "tool"),
    ]
