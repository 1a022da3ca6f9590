"""What a scenario's own actions lead to: its worlds at the start, and after its gold actions."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from pytest_voiceeval.bridge.setup import initialization
from pytest_voiceeval.errors import DefinitionError
from pytest_voiceeval.model.turns import AGENT, SIDES, USER, Side
from pytest_voiceeval.scenarios.base import Scenario
from pytest_voiceeval.scenarios.shadow import deltas_of
from pytest_voiceeval.scoring.db_state import evaluate_db_state_assertion
from pytest_voiceeval.tools.origin import location
from pytest_voiceeval.tools.replay import GoldReplay, World, gold_replay
from pytest_voiceeval.world.hashing import get_dict_hash
from pytest_voiceeval.world.seeding import seed

Hashes = Mapping[Side, str | None]
"""Canonical hash of each side's database; ``None`` where there is none."""


@dataclass(frozen=True)
class GoldOutcome:
    """The worlds of a scenario before and after its gold actions.

    Attributes:
        seeded: hashes of the databases as they are loaded.
        initialized: hashes once all initialization actions are run and the worlds are in step.
        initialization_faults: what did not work of that.
        holding_before: how many of its DB assertions hold then.
        replayed: hashes once its gold actions are done; ``None`` if it lists none.
        replay: what the gold actions left behind; ``None`` if it lists none.
        holding_after: how many of its DB assertions hold in the end.
    """

    seeded: Hashes
    initialized: Hashes
    initialization_faults: tuple[str, ...]
    holding_before: int
    replayed: Hashes | None
    replay: GoldReplay | None
    holding_after: int


def gold_outcome(scenario: Scenario) -> GoldOutcome:
    """Return what becomes of a scenario's worlds: loaded, initialized, its gold actions done.

    Raises:
        DefinitionError: if its worlds cannot be loaded.
        UnknownNameError: if one of its tools is not there.
    """
    worlds = {side: world for side in SIDES if (world := _seeded(scenario, side)) is not None}
    seeded = _hashes(worlds)
    actions = [a for a in scenario.initialization_actions or [] if a.get("side") in worlds]
    start = gold_replay(
        scenario.domain,
        worlds,
        [],
        tools={},
        initialization_actions=actions,
        sync=_sync(scenario, worlds),
    )
    initialized, before = _hashes(worlds), _holding(scenario, worlds)
    replay = None
    if scenario.gold_actions is not None:
        tools = {side: json.loads(scenario.tools(side)) for side in worlds}
        sync = _sync(scenario, worlds)
        replay = gold_replay(scenario.domain, worlds, scenario.gold_actions, tools=tools, sync=sync)
    return GoldOutcome(
        seeded=seeded,
        initialized=initialized,
        initialization_faults=tuple(start.faults),
        holding_before=before,
        replayed=_hashes(worlds) if replay else None,
        replay=replay,
        holding_after=_holding(scenario, worlds) if replay else before,
    )


def _seeded(scenario: Scenario, side: Side) -> World | None:
    state: dict[str, Any] = {}
    initial = json.loads(initialization(scenario, side)["shared_state_init"])
    if errors := seed(state, initial, [], scenario.domain):
        raise DefinitionError(
            f"{location(type(scenario))}: scenario {scenario.name}: the world of the {side} cannot be "
            f"loaded: {'; '.join(errors)}"
        )
    db = state.get("db")
    return db if isinstance(db, dict) else None


def _sync(scenario: Scenario, worlds: Mapping[Side, World]) -> Any:
    return partial(deltas_of, scenario) if scenario.syncs_state and len(worlds) == len(SIDES) else None


def _hashes(worlds: Mapping[Side, World]) -> Hashes:
    return {side: get_dict_hash(worlds[side]) if side in worlds else None for side in SIDES}


def _holding(scenario: Scenario, worlds: Mapping[Side, World]) -> int:
    db, user_db = worlds.get(AGENT), worlds.get(USER)
    verdicts = (
        evaluate_db_state_assertion(assertion, domain=scenario.domain, db=db, user_db=user_db)
        for assertion in scenario.db_state_assertions or []
    )
    return sum(bool(verdict["passed"]) for verdict in verdicts)
