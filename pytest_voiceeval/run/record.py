"""A scenario as a record: its names, signals, hashes, counts and tools, for programs and for comparison."""

from __future__ import annotations

import hashlib
import json
from typing import Any

from pytest_voiceeval.model.turns import AGENT, SIDES, USER, Side
from pytest_voiceeval.run.gold import GoldOutcome, gold_outcome
from pytest_voiceeval.scenarios.base import Scenario
from pytest_voiceeval.world.hashing import get_dict_hash


def scenario_record(scenario: Scenario) -> dict[str, Any]:
    """Return the record of ``scenario``; for a hash, ``None`` means that there is no such database.

    ``expected_db_hash`` is that of the database which the scenario expects, else of what its gold actions
    lead to.

    Raises:
        DefinitionError: if its worlds cannot be loaded, or a part of it is missing.
        UnknownNameError: if one of its tools is not there.
    """
    gold = gold_outcome(scenario)
    references = _reference_actions(scenario)
    return {
        "name": scenario.name,
        "description": scenario.description,
        "task_id": scenario.task_id,
        "tool_domain": scenario.domain,
        "success_signals": [signal.value for signal in scenario.whitelist],
        "initial_db_hash": gold.seeded[AGENT],
        "initial_user_db_hash": gold.seeded[USER],
        "initialization_ok": not gold.initialization_faults,
        "post_init_db_hash": gold.initialized[AGENT],
        "post_init_user_db_hash": gold.initialized[USER],
        "expected_db_hash": _expected(scenario.expected_scenario_db, gold, AGENT),
        "expected_user_db_hash": _expected(scenario.expected_user_db, gold, USER),
        "n_reference_actions": len(references),
        "reference_action_names": references,
        "n_gold_actions": len(scenario.gold_actions or ()),
        "n_gold_calls_refused": len(gold.replay.refused) if gold.replay else 0,
        "n_db_state_assertions": len(scenario.db_state_assertions or ()),
        "n_db_state_assertions_holding_before_gold": gold.holding_before,
        "n_db_state_assertions_holding_after_gold": gold.holding_after,
        "n_nl_assertions": len(scenario.nl_assertions or ()),
        "n_initialization_actions": len(scenario.initialization_actions or ()),
        "max_duration": scenario.max_duration,
        **{f"{side}_tools": list(json.loads(scenario.tools(side))) for side in reversed(SIDES)},
        **{f"{side}_prompt_sha256": _sha256(scenario.prompt(side)) for side in reversed(SIDES)},
    }


def _expected(declared: dict[str, Any] | None, gold: GoldOutcome, side: Side) -> str | None:
    if declared is not None:
        return get_dict_hash(declared)
    return gold.replayed[side] if gold.replayed else None


def _reference_actions(scenario: Scenario) -> list[list[str | None]]:
    """Return side and name of each action of the reference answer, where that lists actions."""
    answer = scenario.reference_answer
    actions = answer.get("actions") if isinstance(answer, dict) else None
    listed = actions if isinstance(actions, list) else []
    return [[action.get("side", AGENT), action.get("name")] for action in listed if isinstance(action, dict)]


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
