"""Scenario files that are chosen, each with the names of its scenarios that are."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pytest_voiceeval.plugin.catalogue import Entry

Names = frozenset[str] | None
"""Names of scenarios; ``None`` for all of a file."""


def by_file(scenarios: Iterable[tuple[str, Entry]]) -> dict[Path, Names]:
    """Return the files of scenarios, each with the names that are given with it."""
    found: dict[Path, Names] = {}
    for name, entry in scenarios:
        found[entry.path] = either(found.get(entry.path, frozenset()), frozenset({name}))
    return found


def either(one: Names, other: Names) -> Names:
    """Return the names that are in one of them."""
    return None if one is None or other is None else one | other


def union(*parts: Mapping[Path, Names]) -> dict[Path, Names]:
    """Return the files that are chosen in one of the parts, each with all names that it has in them."""
    found: dict[Path, Names] = {}
    for part in parts:
        for path, names in part.items():
            found[path] = either(found.get(path, frozenset()), names)
    return found


def combined(named: Mapping[Path, Names], asked: Mapping[Path, Names]) -> dict[Path, Names]:
    """Return the asked-for scenarios with those that node ids name; a file named as a whole is narrowed."""
    return {
        path: names if named.get(path) is None else either(names, named[path])
        for path, names in asked.items()
    }
