"""Functions that bring a database into the state in which a scenario begins."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeVar

from pytest_voiceeval.world.registry import DomainRegistry

InitializationFunction = Callable[..., Any]
F = TypeVar("F", bound=InitializationFunction)

INITIALIZATION_FUNCTIONS: DomainRegistry[InitializationFunction] = DomainRegistry("initialization function")


def register_initialization_function(domain: str, name: str | None = None) -> Callable[[F], F]:
    """Return a decorator that registers ``function(db, **arguments)`` in ``domain``.

    The function changes the database in place; what it returns is ignored. ``name`` is that of the
    function unless given.
    """

    def register(function: F) -> F:
        INITIALIZATION_FUNCTIONS.add(domain, name or function.__name__, function)
        return function

    return register


def run_initialization_actions(
    domain: str, db: dict[str, Any], actions: Iterable[Mapping[str, Any]]
) -> list[str]:
    """Run ``actions`` on ``db`` in order and return one text for each that failed.

    A failing action neither stops the rest nor is anything rolled back. The ``side`` of an action
    is not looked at.
    """
    outcomes = [_run(domain, db, action) for action in actions]
    return [error for error in outcomes if error is not None]


def _run(domain: str, db: dict[str, Any], action: Mapping[str, Any]) -> str | None:
    if not isinstance(action, Mapping):
        return f"an initialization action is an object with func_name and arguments, not {action!r}"
    name = action.get("func_name")
    function = INITIALIZATION_FUNCTIONS.find(domain, name) if isinstance(name, str) else None
    if function is None:
        return INITIALIZATION_FUNCTIONS.unknown(domain, name)
    arguments = action.get("arguments") or {}
    if not isinstance(arguments, Mapping):
        return f"{name}: arguments are an object, not {arguments!r}"
    try:
        function(db, **arguments)
    except Exception as exc:  # a pack's function may raise anything; it becomes the bot's refusal
        return f"{name}: {type(exc).__name__}: {exc}"
    return None
