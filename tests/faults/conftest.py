"""What every test of a fault is held to: it leaves nothing behind in the process."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from leftovers import Possessions


@pytest.fixture(autouse=True)
def nothing_is_left_behind() -> Iterator[None]:
    """Fail a test after which the process has another thread, child, socket, pipe or file than before."""
    before = Possessions.now()
    yield
    assert Possessions.now().beyond(before) == []
