"""What an item tells in its reports."""

from __future__ import annotations

import pytest

from pytest_voiceeval.report.properties import SCENARIO, Property, replaced

noted_key = pytest.StashKey[set[str]]()


def note(item: pytest.Item, pairs: list[Property]) -> None:
    """Have the reports of ``item`` carry properties, in place of those of the same names."""
    item.stash.setdefault(noted_key, set()).update(name for name, _ in pairs)
    item.user_properties[:] = replaced(item.user_properties, pairs)


def forget(item: pytest.Item) -> None:
    """Have the reports of ``item`` carry nothing that was noted before but the scenario.

    A plugin may run an item again: what the try before came to is not what this one comes to.
    """
    names = item.stash.get(noted_key, set()) - {SCENARIO}
    item.user_properties[:] = [pair for pair in item.user_properties if pair[0] not in names]
