from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, ClassVar

import pytest
from wire_client import PROMPT

from pytest_voiceeval.scenarios.rehearsal import Say, Use
from pytest_voiceeval.tools import StandardSchemaTool, WriteScenarioTool, register_schema_tool_for_eval
from pytest_voiceeval.world.hashing import get_dict_hash
from pytest_voiceeval.world.initialization import register_initialization_function

pytestmark = pytest.mark.asyncio


@register_schema_tool_for_eval("bots_test")
class AddTool(WriteScenarioTool):
    """Adds to a sum in the shared state."""

    description = "Add a number."
    properties: ClassVar[dict[str, Any]] = {"number": {"type": "number", "description": "What to add."}}
    required_properties: ClassVar[list[str]] = ["number"]
    ACTION_TYPES: ClassVar[list[str]] = ["add"]

    def __init__(self, shared_state: dict[str, Any] | None = None, start: int = 0) -> None:
        super().__init__(shared_state=shared_state)
        self.state["sum"] = start

    async def _execute(self, number: float) -> dict[str, Any]:
        self.state["sum"] += number
        self.record(
            {"action_type": "add", "name": "AddTool", "arguments": {"number": number}, "result": None}
        )
        return {"sum": self.state["sum"]}


@register_schema_tool_for_eval("bots_test")
class SlowTool(StandardSchemaTool):
    """Takes its time."""

    description = "Take a second."
    properties: ClassVar[dict[str, Any]] = {}
    required_properties: ClassVar[list[str]] = []

    async def _execute(self) -> str:
        await asyncio.sleep(1.0)
        return "slow but sure"


@register_initialization_function("bots_test")
def turn_off(db: dict[str, Any]) -> None:
    db["on"] = False


@pytest.fixture
def data_root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.setenv("EVAL_DATA_ROOT", str(tmp_path))
    (tmp_path / "shop.json").write_text('{"on": true}', encoding="utf-8")
    return tmp_path


async def test_the_handshake_echoes_a_first_version_and_its_id(agent: Callable[..., Any]) -> None:
    _, client = await agent()
    ready = await client.handshake()
    assert ready["data"]["version"] == "1.1.0"


async def test_a_prompt_starts_a_scenario(agent: Callable[..., Any]) -> None:
    bot, client = await agent()
    bot.state["old"] = 1
    same = bot.state
    assert await client.prepare(PROMPT, AddTool={"start": 5}) is True
    assert bot.state is same
    assert "old" not in bot.state
    assert bot.state["sum"] == 5
    assert bot.state["__tool_domain__"] == "bots_test"
    assert hasattr(bot.state["__rtvi__"], "send_server_message")
    assert [tool.name for tool in bot.context.tools.standard_tools] == ["AddTool"]
    assert await client.history() == [{"role": "system", "content": PROMPT}]


async def test_tools_are_replaced_not_added(agent: Callable[..., Any]) -> None:
    bot, client = await agent()
    await client.prepare(PROMPT, AddTool={})
    assert await client.prepare(PROMPT, SlowTool={}, EndConversationTool={})
    assert [tool.name for tool in bot.context.tools.standard_tools] == ["SlowTool", "EndConversationTool"]
    assert await client.prepare(PROMPT)
    assert not hasattr(bot.context.tools, "standard_tools")


async def test_an_empty_prompt_changes_nothing(agent: Callable[..., Any]) -> None:
    bot, client = await agent()
    await client.prepare(PROMPT, AddTool={"start": 3})
    assert await client.ask("update_system_prompt", prompt="", tools="{}") is False
    assert bot.state["sum"] == 3
    assert await client.history() == [{"role": "system", "content": PROMPT}]


@pytest.mark.parametrize("tools", ['{"NoSuchTool": {}}', "{", '{"AddTool": {"colour": 1}}', "[1]"])
async def test_wrong_tools_are_refused_with_the_state_cleared(agent: Callable[..., Any], tools: str) -> None:
    bot, client = await agent()
    bot.state["old"] = 1
    assert (
        await client.ask("update_system_prompt", prompt=PROMPT, tools=tools, tool_domain="bots_test") is False
    )
    assert "old" not in bot.state


async def test_initialization_merges_loads_and_runs(agent: Callable[..., Any], data_root: Path) -> None:
    bot, client = await agent()
    await client.prepare(PROMPT)
    answer = await client.ask(
        "apply_initialization",
        domain="bots_test",
        shared_state_init=json.dumps({"db_path": "shop.json", "extra": [1]}),
        actions=[{"side": "agent", "func_name": "turn_off", "arguments": {}}],
    )
    assert answer == {"success": True, "errors": []}
    assert bot.state["db"] == {"on": False}
    assert bot.state["extra"] == [1]
    assert "db_path" not in bot.state
    summary = await client.ask("get_scenario_summary", include_db=True)
    assert summary == {"actions": [], "db_hash": get_dict_hash({"on": False}), "db": {"on": False}}


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ({"actions": "x"}, "actions"),
        ({"shared_state_init": "{"}, "not JSON"),
        ({"shared_state_init": "[]"}, "a JSON object is wanted"),
        ({"shared_state_init": '{"db_path": "none"}'}, "no database 'none'"),
        ({"shared_state_init": '{"db_path": "../../etc/passwd"}'}, "db_path"),
        ({"actions": [{"func_name": "turn_off", "arguments": {}}]}, "there is no database"),
        (
            {
                "shared_state_init": '{"db": {}}',
                "actions": [{"func_name": "explode"}, {"func_name": "implode"}],
            },
            "explode",
        ),
    ],
)
async def test_initialization_says_why_it_failed(
    agent: Callable[..., Any], data_root: Path, arguments: dict[str, Any], error: str
) -> None:
    _, client = await agent()
    answer = await client.ask("apply_initialization", domain="bots_test", **arguments)
    assert answer["success"] is False
    assert error in answer["errors"][0]
    assert len(answer["errors"]) == max(
        1, len(arguments.get("actions", "")) if "shared" in str(arguments) else 1
    )


async def test_an_inline_database_wins_over_a_path(agent: Callable[..., Any], data_root: Path) -> None:
    bot, client = await agent()
    init = json.dumps({"db": {"inline": 1}, "db_path": "shop"})
    assert (await client.ask("apply_initialization", shared_state_init=init))["success"]
    assert bot.state["db"] == {"inline": 1}
    assert "db_path" not in bot.state


async def test_a_delta_is_applied_by_path(agent: Callable[..., Any]) -> None:
    bot, client = await agent()
    assert (await client.ask("apply_sync_delta", domain="x", delta={"a": 1}))["errors"]
    await client.ask("apply_initialization", shared_state_init='{"db": {"line": {"active": false}}}')
    assert await client.ask("apply_sync_delta", domain="x", delta={"line.active": True}) == {
        "success": True,
        "errors": [],
    }
    assert bot.state["db"] == {"line": {"active": True}}
    assert (await client.ask("apply_sync_delta", domain="x", delta=[1]))["success"] is False
    assert (await client.ask("apply_sync_delta", domain="x", delta={"no.where": 1}))["success"] is False


async def test_without_a_database_the_hash_is_null(agent: Callable[..., Any]) -> None:
    _, client = await agent()
    assert await client.ask("get_scenario_summary") == {"actions": [], "db_hash": None}
    await client.ask("apply_initialization", shared_state_init='{"db": {}}')
    assert await client.ask("get_scenario_summary", include_db=True) == {
        "actions": [],
        "db_hash": None,
        "db": None,
    }


async def test_reset_keeps_prompt_and_state(agent: Callable[..., Any]) -> None:
    bot, client = await agent(Say("Hello there."))
    await client.prepare(PROMPT, AddTool={"start": 2})
    await client.kick_off()
    await client.wait_for("bot-stopped-speaking")
    assert len(await client.history()) == 3
    assert await client.ask("reset") is True
    assert await client.history() == [{"role": "system", "content": PROMPT}]
    assert bot.state["sum"] == 2
    assert [tool.name for tool in bot.context.tools.standard_tools] == ["AddTool"]


async def test_a_reset_in_the_middle_of_speaking_leaves_no_trace(agent: Callable[..., Any]) -> None:
    _, client = await agent(Say("This is the first sentence. This is the second one. And a third one."))
    await client.prepare(PROMPT)
    await client.kick_off()
    await client.wait_for("bot-started-speaking")
    assert await client.ask("reset") is True
    await asyncio.sleep(0.3)
    assert await client.history() == [{"role": "system", "content": PROMPT}]


async def test_an_unknown_request_is_answered_with_an_error(agent: Callable[..., Any]) -> None:
    _, client = await agent()
    reply = await client.reply(await client.send("client-message", {"t": "dance", "d": {}}))
    assert (reply["type"], reply["data"]) == ("error-response", {"error": "unknown message type: dance"})


async def test_arguments_that_are_no_object_are_answered_with_an_error(agent: Callable[..., Any]) -> None:
    _, client = await agent()
    reply = await client.reply(await client.send("client-message", {"t": "reset", "d": [1]}))
    assert reply["type"] == "error-response"
    assert reply["data"]["error"].startswith("TypeError: ")


async def test_a_tool_is_called_recorded_announced_and_reported(agent: Callable[..., Any]) -> None:
    bot, client = await agent(Use("AddTool", {"number": 4}), Say("Done."), Use("EndConversationTool"))
    await client.prepare(PROMPT, AddTool={"start": 1}, EndConversationTool={})
    await client.kick_off()
    pushed = await client.wait_for("server-message")
    record = {"action_type": "add", "name": "AddTool", "arguments": {"number": 4}, "result": None}
    assert pushed["data"] == {"type": "action-applied", "action": record, "tool_domain": "bots_test"}
    reported = await client.wait_for("llm-function-call-in-progress")
    assert reported["data"]["function_name"] == "AddTool"
    assert reported["data"]["arguments"] == {"number": 4}
    await client.wait_for("bot-stopped-speaking")
    assert bot.state["sum"] == 5
    assert (await client.ask("get_scenario_summary"))["actions"] == [record]
    call, result, answer = (await client.history())[2:]
    assert call["tool_calls"][0]["function"]["name"] == "AddTool"
    assert json.loads(result["content"]) == {"sum": 5}
    assert answer == {"role": "assistant", "content": "Done."}


async def test_the_end_is_announced_and_nothing_follows(agent: Callable[..., Any]) -> None:
    _, client = await agent(Use("EndConversationTool"), Say("This must not be said."))
    await client.prepare(PROMPT, EndConversationTool={})
    await client.kick_off()
    pushed = await client.wait_for("server-message")
    assert pushed["data"] == {"text": "<exit>The task is finished.</exit>"}
    await asyncio.sleep(0.5)
    history = await client.history()
    assert [m["role"] for m in history] == ["system", "user", "assistant", "tool"]


async def test_an_unknown_tool_is_answered_with_the_known_ones(agent: Callable[..., Any]) -> None:
    _, client = await agent(Use("FlyTool"), Say("Well then."))
    await client.prepare(PROMPT, SlowTool={}, AddTool={})
    await client.kick_off()
    await client.wait_for("bot-stopped-speaking")
    result = json.loads((await client.history())[3]["content"])
    assert result["error_type"] == "unknown_tool"
    assert result["available_tools"] == ["AddTool", "SlowTool"]


async def test_the_history_waits_for_a_tool_in_progress(agent: Callable[..., Any]) -> None:
    _, client = await agent(Use("SlowTool"), Say("There."))
    await client.prepare(PROMPT, SlowTool={})
    await client.kick_off()
    await client.wait_for("llm-function-call-in-progress")
    assert (await client.history())[3]["content"] == '"slow but sure"'


async def test_the_same_requests_hash_the_same(agent: Callable[..., Any]) -> None:
    _, client = await agent()
    await client.ask("apply_initialization", shared_state_init='{"db": {"a": 1}}')
    summary = await client.ask("get_scenario_summary")
    assert len(summary["db_hash"]) == hashlib.sha256().digest_size * 2
