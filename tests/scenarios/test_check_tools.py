from __future__ import annotations

import inspect
from typing import Any

import pytest

from pytest_voiceeval import Rehearsal, Resources, Say, Scenario, Use, list_eval_scenarios
from pytest_voiceeval.errors import DefinitionError
from pytest_voiceeval.scenarios.checks import check_tools
from pytest_voiceeval.scenarios.registry import get_eval_scenario
from pytest_voiceeval.tools import StandardSchemaTool, register_schema_tool_for_eval


@register_schema_tool_for_eval(domain="check_tests")
class BrewTool(StandardSchemaTool):
    description = "Brews."
    properties: dict[str, Any] = {}  # noqa: RUF012
    required_properties: list[str] = []  # noqa: RUF012

    def __init__(self, *, shared_state: Any, beans: str = "arabica") -> None:
        super().__init__()

    async def _execute(self) -> None: ...


@register_schema_tool_for_eval(domain="check_tests")
class SelfNamedTool(BrewTool):
    def __init__(self) -> None:
        StandardSchemaTool.__init__(self, name="pour")


@register_schema_tool_for_eval(domain="check_tests")
class UnfinishedTool(StandardSchemaTool):
    description = "Never works."
    properties: dict[str, Any] = {}  # noqa: RUF012
    required_properties: list[str] = []  # noqa: RUF012

    async def _exekute(self) -> None: ...


class Brewing(Scenario):
    domain = "check_tests"
    user_resources = Resources()
    agent_tools: dict[str, Any] = {}  # noqa: RUF012

    @property
    def agent_resources(self) -> Resources:
        return Resources(tools=self.agent_tools)


def complaint(tools: dict[str, Any]) -> str:
    class Wrong(Brewing):
        agent_tools = tools

    with pytest.raises(DefinitionError) as caught:
        check_tools(Wrong())
    return str(caught.value)


def test_tools_of_the_domain_and_of_default_are_known() -> None:
    class Right(Brewing):
        agent_tools = {"BrewTool": {"beans": "robusta"}, "EndConversationTool": {}}  # noqa: RUF012

    check_tools(Right())


def test_no_file_is_parsed_where_there_is_no_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    class Right(Brewing):
        agent_tools = {"BrewTool": {}}  # noqa: RUF012

    parsed: list[object] = []
    monkeypatch.setattr(inspect, "findsource", parsed.append)
    check_tools(Right(), rehearsed=True)
    assert not parsed


def test_a_tool_that_is_not_there_is_told_with_file_line_and_the_nearest_name() -> None:
    text = complaint({"Brew": {}})
    assert "test_check_tools.py:" in text
    assert text.endswith(": no tool 'Brew' in domain 'check_tests'; did you mean 'BrewTool'?")


def test_without_a_near_name_all_names_are_told() -> None:
    assert "; there are: BrewTool, SelfNamedTool, UnfinishedTool, SendRTVIMessageTool, " in complaint(
        {"Qqq": {}}
    )


def test_an_argument_that_a_tool_does_not_take_is_told() -> None:
    text = complaint({"BrewTool": {"bean": "x", "shared_state": {}}})
    assert "tool 'BrewTool' takes no argument 'bean'; did you mean 'beans'?" in text
    assert "tool 'BrewTool' takes no argument 'shared_state'; there are: beans" in text


def test_all_faults_are_told_at_once() -> None:
    assert len(complaint({"Brew": {}, "BrewTool": {"bean": "x"}, "Qqq": {}}).splitlines()) == 3


class Rehearsed(Brewing):
    agent_tools = {"BrewTool": {}, "SelfNamedTool": {}}  # noqa: RUF012
    rehearsal = Rehearsal(
        user=(Say("Tea, please."),), agent=(Use("BruwTool"), Use("BruwTool"), Use("pour"), Use("BrewTool"))
    )


def test_a_misspelt_tool_of_a_rehearsal_is_told_once_with_file_line_and_the_nearest_name() -> None:
    with pytest.raises(DefinitionError) as caught:
        check_tools(Rehearsed(), ["agent"], rehearsed=True)
    text = str(caught.value)
    assert "test_check_tools.py:" in text
    assert text.endswith(
        ": the rehearsal uses tool 'BruwTool' for the agent, but agent_resources do not name it; "
        "did you mean 'BrewTool'?"
    )
    assert len(text.splitlines()) == 1


def test_the_tools_of_a_rehearsal_count_only_for_a_side_that_it_plays() -> None:
    check_tools(Rehearsed())
    check_tools(Rehearsed(), ["user"], rehearsed=True)


def test_a_tool_class_that_is_not_finished_is_told_with_its_own_file_and_line() -> None:
    text = complaint({"UnfinishedTool": {}})
    assert "test_check_tools.py:" in text
    assert text.endswith(": tool class UnfinishedTool does not define _execute; is '_exekute' misspelt?")


@pytest.mark.usefixtures("builtin")
def test_all_built_in_scenarios_name_tools_that_exist() -> None:
    for name in list_eval_scenarios():
        scenario = get_eval_scenario(name)
        assert scenario is not None
        check_tools(scenario, rehearsed=True)
