"""What one side's database learns of the other side's: deltas, and how they are applied."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from pytest_voiceeval.world.registry import DomainRegistry

SyncApplier = Callable[[dict[str, Any], Mapping[str, Any]], Any]
F = TypeVar("F", bound=SyncApplier)

SYNC_APPLIERS: DomainRegistry[SyncApplier] = DomainRegistry("sync applier")
# A domain has one applier, so its name in the registry says nothing.
_NAME = "applier"


def register_sync_applier(domain: str) -> Callable[[F], F]:
    """Return a decorator that makes ``applier(db, delta)`` the one of ``domain``.

    The applier changes the database in place; what it returns is ignored. A domain without one
    gets its deltas assigned by dotted path.
    """

    def register(function: F) -> F:
        SYNC_APPLIERS.add(domain, _NAME, function)
        return function

    return register


def apply_delta(domain: str, db: dict[str, Any], delta: Mapping[str, Any]) -> list[str]:
    """Apply ``delta`` to ``db`` and return one text for each thing that went wrong.

    What was applied before something went wrong stays. An empty delta does nothing.
    """
    if not isinstance(delta, Mapping):
        return [f"a delta is an object of paths and values, not {delta!r}"]
    if not delta:
        return []
    applier = SYNC_APPLIERS.find(domain, _NAME)
    if applier is None:
        outcomes = [_assign(db, path, value) for path, value in delta.items()]
        return [error for error in outcomes if error is not None]
    try:
        applier(db, delta)
    except Exception as exc:  # a pack's applier may raise anything; it becomes the bot's refusal
        return [f"sync applier of {domain}: {type(exc).__name__}: {exc}"]
    return []


def _assign(db: dict[str, Any], path: str, value: Any) -> str | None:
    """Assign the value at a dotted path whose components but the last exist already."""
    *steps, last = path.split(".")
    target: Any = db
    for step in steps:
        if not isinstance(target, dict) or step not in target:
            return f"{path}: there is no {step!r} on the way"
        target = target[step]
    if not isinstance(target, dict):
        return f"{path}: {last!r} cannot be set, what holds it is no object"
    target[last] = value
    return None
