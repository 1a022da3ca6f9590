from __future__ import annotations

import threading
from collections.abc import Callable, Iterator

import pytest

from pytest_voiceeval.bridge.clock import Clock
from pytest_voiceeval.run.together import CallThread


@pytest.fixture
def threads() -> Iterator[Callable[[Clock, int], CallThread]]:
    """Makes threads for calls, and sees that each can be closed."""
    made: list[CallThread] = []

    def make(clock: Clock, at_once: int) -> CallThread:
        made.append(CallThread(clock, at_once))
        return made[-1]

    yield make
    for thread in made:
        assert thread.close()
    assert not [left for left in threading.enumerate() if left.name.startswith("calls (")]
