"""What an item tells in its reports."""

from __future__ import annotations

from collections.abc import Collection

import pytest

from pytest_voiceeval.report.properties import Property, replaced


def note(item: pytest.Item, pairs: list[Property]) -> None:
    """Have the reports of ``item`` carry properties, in place of those of the same names."""
    item.user_properties[:] = replaced(item.user_properties, pairs)


def forget(item: pytest.Item, names: Collection[str]) -> None:
    """Have the reports of ``item`` carry no property of these names."""
    item.user_properties[:] = [pair for pair in item.user_properties if pair[0] not in names]
