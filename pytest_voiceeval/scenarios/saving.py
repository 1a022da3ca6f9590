"""A scenario as files: what a call was prepared with, for whoever reads the results."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pytest_voiceeval.model.turns import SIDES
from pytest_voiceeval.scenarios.base import Scenario
from pytest_voiceeval.scenarios.documents import documents_of
from pytest_voiceeval.scenarios.noise import declared_noise
from pytest_voiceeval.world.files import write_json, write_text
from pytest_voiceeval.world.hashing import get_dict_hash

INDENT = 4
"""Of the JSON files, as the reference has it."""


def save_scenario(scenario: Scenario, directory: Path) -> None:
    """Write prompts, tools, ``metadata.json`` and the reference, if there is one, into ``directory``.

    Of documents that a side may consult, path and SHA-256 are written.
    """
    for side in SIDES:
        write_text(directory / f"{side}_prompt.txt", scenario.prompt(side))
        write_json(directory / f"{side}_tools.json", scenario.tools(side), indent=INDENT)
        if documents := documents_of(scenario, side):
            write_json(directory / f"{side}_documents.json", _fingerprints(documents), indent=INDENT)
    write_json(directory / "metadata.json", metadata(scenario), indent=INDENT)
    reference = scenario.reference_answer
    if reference:
        content = {"message": reference} if isinstance(reference, str) else reference
        write_json(directory / scenario.reference_file, content, indent=INDENT)


def metadata(scenario: Scenario) -> dict[str, Any]:
    """Return what ``metadata.json`` holds; the last five keys only where they are set."""
    noise = declared_noise(scenario)
    settled = {
        "name": scenario.name,
        "domain": scenario.domain,
        "description": scenario.description,
        "max_duration": scenario.max_duration,
        "noise_config": noise.to_dict() if noise else None,
        "ignore_capitalization": scenario.ignore_capitalization,
        "ignore_punctuation": scenario.ignore_punctuation,
        "clean_text": scenario.clean_text,
        "disallow_extra_items": scenario.disallow_extra_items,
        "success_signals": [signal.value for signal in scenario.whitelist],
    }
    optional = {
        "db_state_assertions": scenario.db_state_assertions,
        "nl_assertions": scenario.nl_assertions,
        "initialization_actions": scenario.initialization_actions,
        "expected_db_hash": scenario.expected_db_hash if scenario.expected_scenario_db else None,
        "expected_user_db_hash": _hash(scenario.expected_user_db),
    }
    return settled | {key: value for key, value in optional.items() if value}


def _fingerprints(documents: Mapping[str, Mapping[str, Any]]) -> dict[str, dict[str, Any]]:
    """Return path and SHA-256 of each document; ``None`` of one that is not here."""
    return {
        name: {"path": document["path"], "sha256": _sha256(document["text"])}
        for name, document in documents.items()
    }


def _sha256(text: str | None) -> str | None:
    return None if text is None else hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _hash(db: dict[str, Any] | None) -> str | None:
    return get_dict_hash(db) if db else None
