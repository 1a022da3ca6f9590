"""A scenario as files: what a call was prepared with, for whoever reads the results."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from pytest_voiceeval.model.turns import SIDES
from pytest_voiceeval.scenarios.base import Scenario
from pytest_voiceeval.world.hashing import get_dict_hash


def save_scenario(scenario: Scenario, directory: Path) -> None:
    """Write prompts, tools, ``metadata.json`` and the reference, if there is one, into ``directory``."""
    directory.mkdir(parents=True, exist_ok=True)
    for side in SIDES:
        _write(directory / f"{side}_prompt.txt", scenario.prompt(side))
        _write(directory / f"{side}_tools.json", _json(scenario.tools(side)))
    _write(directory / "metadata.json", _json(metadata(scenario)))
    reference = scenario.reference_answer
    if reference:
        content = {"message": reference} if isinstance(reference, str) else reference
        _write(directory / scenario.reference_file, _json(content))


def metadata(scenario: Scenario) -> dict[str, Any]:
    """Return what ``metadata.json`` holds; the last five keys only where they are set."""
    noise = scenario.noise_config
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
        "expected_db_hash": _hash(scenario.expected_scenario_db),
        "expected_user_db_hash": _hash(scenario.expected_user_db),
    }
    return settled | {key: value for key, value in optional.items() if value}


def _hash(db: dict[str, Any] | None) -> str | None:
    return get_dict_hash(db) if db else None


def _json(value: Any) -> str:
    return json.dumps(value, indent=4, ensure_ascii=False, allow_nan=False)


def _write(path: Path, text: str) -> None:
    """Write ``text`` so that ``path`` appears whole or not at all."""
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    draft.write_text(text, encoding="utf-8")
    draft.replace(path)
