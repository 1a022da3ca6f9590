"""The world of one side as a scenario begins: shared state filled, database loaded and initialized."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pytest_voiceeval.world.artifacts import load_db_artifact
from pytest_voiceeval.world.initialization import run_initialization_actions


def seed(
    state: dict[str, Any], initial: Mapping[str, Any], actions: Sequence[Mapping[str, Any]], domain: str
) -> list[str]:
    """Merge ``initial`` into ``state``, load the database that it names, and run ``actions`` on that.

    ``db_path`` of ``initial`` is a path under the data root, and replaced by ``db`` unless that is there.

    Args:
        state: the shared state of a side's bot, changed in place.
        initial: what the scenario's ``setup_shared_state`` gave.
        actions: initialization actions of this side.
        domain: namespace of the initialization functions.

    Returns:
        One text for each thing that went wrong; without the database, no action is run.
    """
    state.update(initial)
    path = state.pop("db_path", None)
    if path is not None and "db" not in state:
        try:
            state["db"] = load_db_artifact(path)
        except Exception as exc:  # whatever is wrong with the artefact becomes the refusal
            return [f"db_path: {exc}"]
    if not actions:
        return []
    if not isinstance(state.get("db"), dict):
        return ["actions: there is no database to run them on; give db or db_path"]
    return run_initialization_actions(domain, state["db"], actions)
