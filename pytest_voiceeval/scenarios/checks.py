"""Checks of a scenario before it is held: what its author can mend is told before anybody speaks."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from pytest_voiceeval.errors import DefinitionError
from pytest_voiceeval.model.nearest import nearest
from pytest_voiceeval.model.turns import SIDES, Side
from pytest_voiceeval.scenarios.base import Scenario
from pytest_voiceeval.scenarios.documents import document_faults
from pytest_voiceeval.scenarios.rehearsal import Use
from pytest_voiceeval.tools.base import StandardSchemaTool
from pytest_voiceeval.tools.origin import location
from pytest_voiceeval.tools.registry import (
    DEFAULT_DOMAIN,
    constructor_arguments,
    find_tool,
    get_schema_tool_for_eval,
    list_schema_tools_for_eval,
)


def check_tools(scenario: Scenario, sides: Iterable[Side] = SIDES, *, rehearsed: bool = False) -> None:
    """Return if every tool that ``scenario`` gives to ``sides`` exists and takes the arguments that it gives.

    The documents of a side that has the tool to read them must be there.

    Args:
        scenario: what is to be held.
        sides: whose tools are looked at.
        rehearsed: its rehearsal plays these sides; then that uses no tool which they do not have.

    Raises:
        DefinitionError: else; one line for each fault, with file and line of the class to mend.
    """
    faults = [fault for side in sides for fault in _faults(scenario, side, rehearsed=rehearsed)]
    if faults:
        raise DefinitionError("\n".join(dict.fromkeys(faults)))


def _faults(scenario: Scenario, side: Side, *, rehearsed: bool) -> Iterator[str]:
    def here(fault: str) -> str:
        return f"{location(type(scenario))}: {fault}"

    tools = scenario.resources(side).tools
    for name, arguments in tools.items():
        for fault in _tool_faults(name, arguments, scenario.domain):
            yield here(fault)
        if (cls := find_tool(name, scenario.domain)) and inspect.isabstract(cls):
            yield _unfinished(cls)
    for fault in document_faults(scenario, side):
        yield here(fault)
    if rehearsed and scenario.rehearsal is not None:
        used = dict.fromkeys(line.tool for line in scenario.rehearsal.lines(side) if isinstance(line, Use))
        for name in used:
            if name not in tools and name not in (called := _called(tools, scenario.domain)):
                yield here(
                    f"the rehearsal uses tool '{name}' for the {side}, but {side}_resources do not "
                    f"name it{_remedy(name, called)}"
                )


def _tool_faults(name: str, arguments: Mapping[str, Any], domain: str) -> Iterator[str]:
    cls = find_tool(name, domain)
    if cls is None:
        names = list_schema_tools_for_eval(domain) + list_schema_tools_for_eval(DEFAULT_DOMAIN)
        yield f"no tool '{name}' in domain '{domain}'{_remedy(name, names)}"
        return
    known = constructor_arguments(cls)
    if known is None:
        return
    for argument in arguments:
        if argument not in known:
            yield f"tool '{name}' takes no argument '{argument}'{_remedy(argument, known)}"


def _unfinished(cls: type[StandardSchemaTool]) -> str:
    """Return what keeps a tool from being made: the parts of a tool that its class does not define."""
    lacks = sorted(cls.__abstractmethods__)
    own = [name for base in cls.__mro__ if base not in StandardSchemaTool.__mro__ for name in vars(base)]
    near = [match for part in lacks for match in nearest(part, own, most=1)]
    hint = f"; is {' or '.join(repr(name) for name in near)} misspelt?" if near else ""
    return f"{location(cls)}: tool class {cls.__qualname__} does not define {', '.join(lacks)}{hint}"


def _called(tools: Mapping[str, Mapping[str, Any]], domain: str) -> list[str]:
    """Return the names that a model may call ``tools`` by: an instance may have one of its own."""
    names = list(tools)
    for name, arguments in tools.items():
        try:
            names.append(get_schema_tool_for_eval(name, domain, shared_state={}, **arguments).name)
        except Exception:  # what keeps a tool from being made is not told here
            continue
    return names


def _remedy(name: str, known: Iterable[str]) -> str:
    near = nearest(name, known)
    if near:
        return f"; did you mean {' or '.join(repr(n) for n in near)}?"
    return f"; there are: {', '.join(dict.fromkeys(known)) or 'none'}"
