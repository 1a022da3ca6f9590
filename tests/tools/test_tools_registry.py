# ruff: noqa: RUF012 - a tool declares constants
from __future__ import annotations

import logging
import sys
from types import ModuleType
from typing import Any

import pytest

from pytest_voiceeval.errors import DefinitionError, DuplicateNameError, UnknownNameError
from pytest_voiceeval.tools import (
    StandardSchemaTool,
    get_schema_tool_for_eval,
    list_schema_tools_for_eval,
    register_schema_tool_for_eval,
)
from pytest_voiceeval.tools.registry import constructor_arguments


class Plain(StandardSchemaTool):
    description = "Does nothing."
    properties: dict[str, Any] = {}
    required_properties: list[str] = []

    async def _execute(self) -> str:
        return "done"


@register_schema_tool_for_eval("registry_tests")
class ByPosition(Plain):
    def __init__(self, *, rtvi: Any, cups: str = "1") -> None:
        super().__init__()
        self.rtvi = rtvi
        self.cups = cups


@register_schema_tool_for_eval(domain="registry_tests")
class ByKeyword(Plain):
    name = "by_keyword"

    def __init__(self, *, shared_state: dict[str, Any]) -> None:
        super().__init__()
        self.state = shared_state


@register_schema_tool_for_eval
class RegistryTestsBare(Plain):
    pass


@register_schema_tool_for_eval()
class RegistryTestsCalled(Plain):
    pass


def test_all_forms_of_registration() -> None:
    assert list_schema_tools_for_eval("registry_tests") == ["ByPosition", "by_keyword"]
    everything = list_schema_tools_for_eval()
    assert {
        "registry_tests.ByPosition",
        "default.RegistryTestsBare",
        "default.RegistryTestsCalled",
    } <= set(everything)


def test_a_constructor_is_given_what_it_names() -> None:
    rtvi, state = object(), {"db": {}}
    by_position = get_schema_tool_for_eval(
        "ByPosition", domain="registry_tests", rtvi=rtvi, shared_state=state, cups="3"
    )
    assert isinstance(by_position, ByPosition)
    assert by_position.rtvi is rtvi
    assert by_position.cups == "3"
    by_keyword = get_schema_tool_for_eval("by_keyword", "registry_tests", rtvi, state)
    assert isinstance(by_keyword, ByKeyword)
    assert by_keyword.state is state
    assert type(get_schema_tool_for_eval("RegistryTestsBare", rtvi=rtvi)) is RegistryTestsBare


def test_an_argument_that_the_constructor_does_not_know_is_an_error() -> None:
    with pytest.raises(TypeError, match="saucers"):
        get_schema_tool_for_eval("ByPosition", domain="registry_tests", saucers="2")


def test_a_tool_of_the_default_domain_is_found_from_any_domain(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        tool = get_schema_tool_for_eval("RegistryTestsBare", domain="registry_tests")
    assert type(tool) is RegistryTestsBare
    assert "no tool 'RegistryTestsBare' in domain 'registry_tests'" in caplog.text


def test_an_unknown_name_lists_the_names_of_both_domains() -> None:
    with pytest.raises(KeyError) as caught:
        get_schema_tool_for_eval("ByPositions", domain="registry_tests")
    assert isinstance(caught.value, UnknownNameError)
    text = str(caught.value)
    assert text.startswith("no tool 'ByPositions' in domain 'registry_tests'; did you mean 'ByPosition'?")
    assert "Available in 'registry_tests': ByPosition, by_keyword." in text
    assert "RegistryTestsBare" in text


def test_nothing_but_the_domain_and_default_is_searched() -> None:
    with pytest.raises(UnknownNameError, match="Available in 'elsewhere': none"):
        get_schema_tool_for_eval("ByPosition", domain="elsewhere")


def test_a_used_name_is_refused_and_both_places_are_named() -> None:
    with pytest.raises(
        DuplicateNameError, match="tool 'by_keyword' of domain 'registry_tests' is defined twice"
    ) as e:

        @register_schema_tool_for_eval("registry_tests")
        class Another(Plain):
            name = "by_keyword"

    assert str(e.value).count(__file__) == 2


def test_one_name_may_stand_in_two_domains() -> None:
    @register_schema_tool_for_eval("registry_tests_2")
    class Other(Plain):
        name = "by_keyword"

    assert type(get_schema_tool_for_eval("by_keyword", "registry_tests_2")) is Other


def test_the_same_definition_imported_again_replaces_the_first() -> None:
    def define() -> type[Plain]:
        @register_schema_tool_for_eval("registry_tests_3")
        class Again(Plain):
            pass

        return Again

    define()
    second = define()
    assert type(get_schema_tool_for_eval("Again", "registry_tests_3")) is second


def test_a_tool_whose_module_was_unloaded_is_gone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "a_pack_file", ModuleType("a_pack_file"))
    register_schema_tool_for_eval("registry_tests_4")(type("Gone", (Plain,), {"__module__": "a_pack_file"}))
    assert list_schema_tools_for_eval("registry_tests_4") == ["Gone"]
    monkeypatch.delitem(sys.modules, "a_pack_file")
    assert list_schema_tools_for_eval("registry_tests_4") == []
    register_schema_tool_for_eval("registry_tests_4")(type("Gone", (Plain,), {}))


def test_only_tools_are_registered() -> None:
    with pytest.raises(DefinitionError, match="derive the class from StandardSchemaTool"):
        register_schema_tool_for_eval("registry_tests")(dict)


def test_constructor_arguments_are_those_that_a_scenario_gives() -> None:
    assert constructor_arguments(ByPosition) == ["cups"]

    class Anything(Plain):
        def __init__(self, **kwargs: Any) -> None:
            super().__init__()

    assert constructor_arguments(Anything) is None
