"""The documents of a scenario: they travel with it, so that a bot anywhere can be asked to consult them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from pytest_voiceeval.errors import DataError
from pytest_voiceeval.model.turns import Side
from pytest_voiceeval.scenarios.folders import data_folders
from pytest_voiceeval.world.documents import load_document

if TYPE_CHECKING:
    from pytest_voiceeval.scenarios.base import Scenario

STATE_KEY = "documents"
"""Key of the shared state under which a bot's tools find them."""

READER = "ReadFileTool"


def documents_of(scenario: Scenario, side: Side) -> dict[str, dict[str, Any]]:
    """Return ``{name: {"path": path, "text": text}}`` for what ``side`` may consult.

    ``text`` is ``None`` for a document that is not here: the bot may have it.
    """
    found = {}
    for name, path in scenario.resources(side).documents.items():
        try:
            text = load_document(path, data_folders(type(scenario)))
        except DataError:
            text = None
        found[name] = {"path": path, "text": text}
    return found


def document_faults(scenario: Scenario, side: Side) -> Iterator[str]:
    """Yield what keeps ``side`` from reading its documents with the tool that it has for that."""
    resources = scenario.resources(side)
    if READER not in resources.tools:
        return
    folders = data_folders(type(scenario))
    for name, path in resources.documents.items():
        try:
            load_document(path, folders)
        except DataError as exc:
            yield f"document '{name}' of the {side}: {exc}; looked in {', '.join(map(str, folders))}"
