# ruff: noqa: RUF012 - a tool declares constants
from __future__ import annotations

import asyncio
import subprocess
import sys
from typing import Any

import pytest

from pytest_voiceeval.errors import DefinitionError
from pytest_voiceeval.tools import StandardSchemaTool, unknown_tool_result
from pytest_voiceeval.tools.base import deliverable


class Echo(StandardSchemaTool):
    description = "Says again what it is told."
    properties = {"text": {"type": "string"}}
    required_properties = ["text"]

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.after: list[Any] = []

    async def _execute(self, text: Any = None) -> Any:
        if isinstance(text, Exception):
            raise text
        return text

    async def _after_result(self, result: Any) -> None:
        self.after.append(result)


class Named(Echo):
    name = "say_again"


class Final(Echo):
    ends_conversation = True


def test_a_tool_is_named_by_argument_then_class_text_then_class_name() -> None:
    assert Named(name="other").name == "other"
    assert Named().name == "say_again"
    assert Echo().name == "Echo"


def test_the_schema_has_what_the_model_is_told() -> None:
    assert Echo(description="Parrot.").schema() == {
        "name": "Echo",
        "description": "Parrot.",
        "properties": {"text": {"type": "string"}},
        "required": ["text"],
    }


@pytest.mark.parametrize("field", ["name", "description"])
def test_an_empty_name_or_description_is_refused(field: str) -> None:
    with pytest.raises(DefinitionError, match=f"tool class Echo: give it a {field}"):
        Echo(**{field: ""})


def test_a_tool_without_a_schema_cannot_be_made() -> None:
    class Half(StandardSchemaTool):
        async def _execute(self) -> None: ...

    with pytest.raises(TypeError, match="properties"):
        Half(description="No schema.")  # type: ignore[abstract]


def test_a_result_is_delivered_once_and_then_the_hook_runs(call: Any) -> None:
    tool = Echo()
    assert call(tool, text={"a": 1}) == [("result", {"a": 1})]
    assert tool.after == [{"a": 1}]


def test_missing_arguments_are_no_arguments(call: Any) -> None:
    [(kind, result)] = call(Echo(), None)
    assert kind == "result"
    assert result["result"] is None


def test_an_exception_is_delivered_once_as_an_error_and_the_hook_does_not_run(call: Any) -> None:
    tool = Echo()
    assert call(tool, text=ValueError("no such cup")) == [("result", {"error": "no such cup"})]
    assert tool.after == []


def test_an_exception_without_text_is_named(call: Any) -> None:
    assert call(Echo(), text=ValueError()) == [("result", {"error": "ValueError"})]


def test_an_unexpected_argument_is_an_error_for_the_model(call: Any) -> None:
    [(_, result)] = call(Echo(), colour="red")
    assert "unexpected keyword argument 'colour'" in result["error"]


def test_a_failing_hook_does_not_deliver_again(call: Any, caplog: pytest.LogCaptureFixture) -> None:
    class Frail(Echo):
        async def _after_result(self, result: Any) -> None:
            raise ConnectionError("gone")

    assert call(Frail(), text="x") == [("result", "x")]
    assert "what follows its result failed" in caplog.text


def test_a_failing_delivery_is_not_tried_again() -> None:
    class Deaf:
        arguments = {"text": "x"}
        tries = 0

        async def result_callback(self, result: Any) -> None:
            self.tries += 1
            raise ConnectionError("gone")

    deaf = Deaf()
    tool = Echo()
    with pytest.raises(ConnectionError):
        asyncio.run(tool(deaf))
    assert deaf.tries == 1
    assert tool.after == []


def test_a_final_result_asks_for_no_answer_but_a_final_error_does(call: Any) -> None:
    assert call(Final(), text="bye") == [("result", "bye"), ("run_llm", False)]
    assert call(Final(), text=ValueError("not yet"))[2:] == [("result", {"error": "not yet"})]


def test_an_empty_list_says_that_nothing_was_found() -> None:
    assert deliverable([]) == {
        "status": "success",
        "results": [],
        "count": 0,
        "message": "No matching records found.",
    }


def test_an_empty_object_says_that_nothing_was_found() -> None:
    assert deliverable({}) == {
        "status": "success",
        "results": {},
        "message": "No matching records found.",
    }


@pytest.mark.parametrize("empty", [None, "", 0, 0.0, False, (), set()])
def test_another_empty_result_says_that_there_are_no_data(empty: Any) -> None:
    assert deliverable(empty) == {
        "status": "success",
        "result": empty,
        "message": "Completed with no data returned.",
    }


@pytest.mark.parametrize("full", [[0], {"a": None}, "x", 1, True])
def test_a_result_that_is_not_empty_is_delivered_as_it_is(full: Any) -> None:
    assert deliverable(full) is full


def test_an_unknown_tool_is_answered_with_the_names_that_there_are() -> None:
    result = unknown_tool_result("GetMenus", ["PlaceOrderTool", "GetMenuTool"])
    assert result["status"] == "error"
    assert result["error_type"] == "unknown_tool"
    assert result["available_tools"] == ["GetMenuTool", "PlaceOrderTool"]
    assert "'GetMenus'" in result["message"]
    assert unknown_tool_result("GetMenus", [])["available_tools"] == []


def test_importing_tools_and_scenarios_imports_nothing_heavy() -> None:
    code = (
        "import sys, pytest_voiceeval.tools, pytest_voiceeval.scenarios.packs\n"
        "import pytest_voiceeval.scenarios.registry, pytest_voiceeval.scenarios.checks\n"
        "print([m for m in ('pipecat', 'numpy', 'pydantic', 'openai', 'aiohttp') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
