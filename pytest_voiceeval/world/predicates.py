"""Claims about the state of a database at the end of a call."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from pytest_voiceeval.world.registry import DomainRegistry

Predicate = Callable[..., Any]
F = TypeVar("F", bound=Predicate)

PREDICATES: DomainRegistry[Predicate] = DomainRegistry("predicate")


def register_db_state_predicate(domain: str, name: str | None = None) -> Callable[[F], F]:
    """Return a decorator that registers ``predicate(db, **arguments)`` in ``domain``.

    The predicate returns a value, most often a boolean, and changes nothing. ``name`` is that of
    the function unless given.
    """

    def register(function: F) -> F:
        PREDICATES.add(domain, name or function.__name__, function)
        return function

    return register
