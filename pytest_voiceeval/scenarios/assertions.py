"""The assertions of a scenario in plain language."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_voiceeval.errors import DefinitionError
from pytest_voiceeval.tools.origin import location

if TYPE_CHECKING:
    from pytest_voiceeval.scenarios.base import Scenario


def assertions_of(scenario: Scenario) -> tuple[str, ...]:
    """Return the scenario's assertions in plain language.

    Raises:
        DefinitionError: if they are no list of texts.
    """
    given: object = scenario.nl_assertions or ()
    if not isinstance(given, list | tuple) or not all(isinstance(text, str) for text in given):
        raise DefinitionError(
            f"{location(type(scenario))}: nl_assertions of {scenario!r} is {given!r}; write a list of texts, "
            'such as ["The agent greets."]'
        )
    return tuple(given)
