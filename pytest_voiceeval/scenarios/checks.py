"""Checks of a scenario before it is held: what its author can mend is told before anybody speaks."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from pytest_voiceeval.errors import DefinitionError
from pytest_voiceeval.model.turns import SIDES, Side
from pytest_voiceeval.scenarios.base import Scenario
from pytest_voiceeval.tools.origin import location
from pytest_voiceeval.tools.registry import (
    DEFAULT_DOMAIN,
    constructor_arguments,
    find_tool,
    list_schema_tools_for_eval,
)


def check_tools(scenario: Scenario, sides: Iterable[Side] = SIDES) -> None:
    """Return if every tool that ``scenario`` gives to ``sides`` exists and takes the arguments that it gives.

    Raises:
        DefinitionError: else; one line for each fault, with file and line of the scenario's class.
    """
    faults = [fault for side in sides for fault in _faults(scenario.resources(side).tools, scenario.domain)]
    if faults:
        where = location(type(scenario))
        raise DefinitionError("\n".join(f"{where}: {fault}" for fault in faults))


def _faults(tools: Mapping[str, Mapping[str, Any]], domain: str) -> Iterator[str]:
    for name, arguments in tools.items():
        cls = find_tool(name, domain)
        if cls is None:
            names = list_schema_tools_for_eval(domain) + list_schema_tools_for_eval(DEFAULT_DOMAIN)
            yield f"no tool '{name}' in domain '{domain}'{_remedy(name, names)}"
            continue
        known = constructor_arguments(cls)
        if known is None:
            continue
        for argument in arguments:
            if argument not in known:
                yield f"tool '{name}' takes no argument '{argument}'{_remedy(argument, known)}"


def _remedy(name: str, known: Iterable[str]) -> str:
    near = difflib.get_close_matches(name, list(dict.fromkeys(known)), n=3)
    if near:
        return f"; did you mean {' or '.join(repr(n) for n in near)}?"
    return f"; there are: {', '.join(dict.fromkeys(known)) or 'none'}"
