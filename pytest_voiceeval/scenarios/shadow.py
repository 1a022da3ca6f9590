"""Both worlds of a scenario as they must be: every action of a bot done once more, beside it, and synced."""

from __future__ import annotations

import copy
import json
from collections.abc import Mapping
from typing import Any

from pytest_voiceeval.errors import DefinitionError, VoiceEvalError
from pytest_voiceeval.model.turns import AGENT, SIDES, USER, Side
from pytest_voiceeval.scenarios.base import Scenario
from pytest_voiceeval.tools.checked import action_name, is_error
from pytest_voiceeval.tools.origin import location
from pytest_voiceeval.tools.replay import Invocable, World, build_tools
from pytest_voiceeval.world.hashing import get_dict_hash
from pytest_voiceeval.world.seeding import seed
from pytest_voiceeval.world.sync import apply_delta

Deltas = Mapping[Side, Mapping[str, Any]]
"""What each side's world must learn of the other's; nothing for a side that knows all."""


class ShadowFaultError(Exception):
    """An action cannot be followed; the text says why."""


class Shadow:
    """The two worlds of a scenario that keeps them in step, as its bots' worlds must be.

    Attributes:
        worlds: the database of each side.
    """

    def __init__(self, scenario: Scenario) -> None:
        """Load and initialize both worlds.

        Raises:
            DefinitionError: if that is not possible.
            UnknownNameError: if one of the scenario's tools is not there.
        """
        self._scenario = scenario
        self.worlds: dict[Side, World] = {}
        self._tools: dict[Side, dict[str, Invocable]] = {}
        for side in (AGENT, USER):
            state = self._seeded(side)
            self.worlds[side] = state["db"]
            self._tools[side] = self._built(side, state)

    def sync(self) -> Deltas:
        """Bring the worlds in step, and return what each side's bot must be told.

        Raises:
            DefinitionError: if ``sync_state`` fails, or returns what cannot be applied.
        """
        deltas = deltas_of(self._scenario, self.worlds[AGENT], self.worlds[USER])
        for side, delta in deltas.items():
            if errors := apply_delta(self._scenario.domain, self.worlds[side], delta):
                raise self._wrong(f"sync_state gives the {side} what cannot be applied: {'; '.join(errors)}")
        return copy.deepcopy(deltas)

    def follow(self, side: Side, action: Mapping[str, Any]) -> None:
        """Do what a bot's tool has recorded.

        Raises:
            ShadowFaultError: if that is not possible.
        """
        name, arguments = action.get("name"), action.get("arguments") or {}
        tool = self._tools[side].get(name) if isinstance(name, str) else None
        if tool is None or not isinstance(arguments, Mapping):
            known = ", ".join(self._tools[side])
            raise ShadowFaultError(f"the {side} recorded {name!r}, which no tool of its can do: {known}")
        try:
            result = tool.invoke(**arguments)
        except Exception as exc:  # a pack's tool may raise anything
            raise ShadowFaultError(
                f"the {side} recorded {name!r}, which fails when done again: {type(exc).__name__}: {exc}"
            ) from exc
        if is_error(result):
            raise ShadowFaultError(
                f"the {side} recorded {name!r}, which is refused when done again: {result!r}"
            )

    def db_hash(self, side: Side) -> str | None:
        """Return the hash that the bot of ``side`` must report; ``None`` for an empty world."""
        world = self.worlds[side]
        return get_dict_hash(world) if world else None

    def _built(self, side: Side, state: dict[str, Any]) -> dict[str, Invocable]:
        try:
            tools = build_tools(json.loads(self._scenario.tools(side)), self._scenario.domain, state)
        except VoiceEvalError:
            raise
        except Exception as exc:  # a pack's constructor may raise anything
            raise self._wrong(f"a tool of the {side} cannot be made: {type(exc).__name__}: {exc}") from exc
        return {action_name(name): tool for name, tool in tools.items()}

    def _seeded(self, side: Side) -> dict[str, Any]:
        initial: dict[str, Any] = {}
        self._scenario.setup_shared_state(initial, side)
        actions = [a for a in self._scenario.initialization_actions or [] if a.get("side") == side]
        state: dict[str, Any] = {"actions": []}
        errors = seed(state, copy.deepcopy(initial), actions, self._scenario.domain)
        if not errors and not isinstance(state.get("db"), dict):
            errors = ["setup_shared_state gives neither db nor db_path, but sync_state needs both worlds"]
        if errors:
            raise self._wrong(f"the world of the {side} cannot be set up: {'; '.join(errors)}")
        return state

    def _wrong(self, what: str) -> DefinitionError:
        return _wrong(self._scenario, what)


def deltas_of(scenario: Scenario, agent_db: World, user_db: World) -> Deltas:
    """Return what ``sync_state`` gives each side whose world is to change.

    Raises:
        DefinitionError: if it fails, or returns something else.
    """
    try:
        found: Any = scenario.sync_state(agent_db, user_db)
    except Exception as exc:  # a pack's function may raise anything
        raise _wrong(scenario, f"sync_state failed: {type(exc).__name__}: {exc}") from exc
    if not isinstance(found, Mapping) or not set(found) <= set(SIDES):
        raise _wrong(scenario, f"sync_state returns {found!r}; return {{'agent': {{…}}, 'user': {{…}}}}")
    deltas = {side: delta for side in SIDES if (delta := found.get(side))}
    for side, delta in deltas.items():
        if not _is_delta(delta):
            told = f"sync_state gives the {side} {delta!r}; a delta maps paths, as texts, to values of JSON"
            raise _wrong(scenario, told)
    return deltas


def _wrong(scenario: Scenario, what: str) -> DefinitionError:
    return DefinitionError(f"{location(type(scenario))}: scenario {scenario.name}: {what}")


def _is_delta(delta: Any) -> bool:
    if not isinstance(delta, Mapping) or not all(isinstance(path, str) for path in delta):
        return False
    try:
        json.dumps(dict(delta), allow_nan=False)
    except (TypeError, ValueError, RecursionError):
        return False
    return True
