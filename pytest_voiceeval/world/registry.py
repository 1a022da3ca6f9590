"""Functions that packs register by domain and name."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, Generic, TypeVar

from pytest_voiceeval.errors import DuplicateNameError

F = TypeVar("F", bound=Callable[..., Any])


class DomainRegistry(Generic[F]):
    """Functions by domain and name; ``noun`` is what messages call one of them."""

    def __init__(self, noun: str) -> None:
        self.noun = noun
        self._functions: dict[str, dict[str, F]] = {}

    def add(self, domain: str, name: str, function: F) -> None:
        """Register ``function``; the same function of a module that is imported again replaces itself.

        Raises:
            DuplicateNameError: if another function has the name in this domain.
        """
        names = self._functions.setdefault(domain, {})
        taken = names.get(name)
        if taken is not None and _origin(taken) != _origin(function):
            raise DuplicateNameError(
                f"{_place(function)}: {self.noun} {name!r} is registered twice in domain {domain!r}, "
                f"the first time at {_place(taken)}; give one of them another name"
            )
        names[name] = function

    def find(self, domain: str, name: str) -> F | None:
        """Return the function of that name in ``domain``, ``None`` if there is none."""
        return self._functions.get(domain, {}).get(name)

    def names(self, domain: str) -> list[str]:
        """Return the sorted names in ``domain``."""
        return sorted(self._functions.get(domain, {}))

    def unknown(self, domain: str, name: object) -> str:
        """Return the text that says that there is no ``name`` in ``domain``, and what there is."""
        names = ", ".join(self.names(domain)) or "none"
        return f"no {self.noun} {name!r} in domain {domain!r}; registered: {names}"


def _origin(function: Callable[..., Any]) -> tuple[object, ...]:
    plain = inspect.unwrap(function)
    code = getattr(plain, "__code__", None)
    # A callable without code, such as a partial, is only ever the same as itself.
    return (id(plain),) if code is None else (code.co_filename, code.co_firstlineno, code.co_qualname)


def _place(function: Callable[..., Any]) -> str:
    plain = inspect.unwrap(function)
    code = getattr(plain, "__code__", None)
    return repr(plain) if code is None else f"{code.co_filename}:{code.co_firstlineno}"
