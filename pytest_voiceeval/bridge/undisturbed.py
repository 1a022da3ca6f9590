"""Keeps the process from delaying its calls: by its garbage collector, and by what other threads do."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import sys
import threading
from collections.abc import Callable, Iterator

from pytest_voiceeval.model.work import JobCharger

SWITCH_SECONDS = 0.0002
"""How long a thread may keep the interpreter while the loop of calls waits for it.

The loop lets go of it whenever it sends, receives or waits: with 16 calls a hundred times in 20 ms. At
Python's own 5 ms a thread that scores calls, or hears speech, delays all of them by many frames.
"""

FREEZES_A_COLLECTION = 10
"""After how many freezes all garbage is collected: what was frozen as garbage came to no collection since."""


PYTHONS_OWN = 1000
"""Frozen objects that are nobody's: Python 3.12 freezes some hundreds as it starts."""


class Shared:
    """A change of the whole process, there while at least one call needs it.

    Args:
        change: makes it, and returns what undoes it.
    """

    def __init__(self, change: Callable[[], Callable[[], object]]) -> None:
        self._change = change
        self._undo: Callable[[], object] = change
        self._calls = 0
        self._lock = threading.Lock()  # loops of calls run in several threads

    @contextlib.contextmanager
    def needed(self) -> Iterator[None]:
        """Have it as it is needed until the body has ended."""
        with self._lock:
            if not self._calls:
                self._undo = self._change()
            self._calls += 1
        try:
            yield
        finally:
            with self._lock:
                self._calls -= 1
                if not self._calls:
                    self._undo()


class Freezer:
    """Takes what there is out of the garbage collector's way, whose way through all of it may take 0.1 s.

    What comes later is collected as ever.
    """

    def __init__(self) -> None:
        self._freezes = 0

    def freeze(self) -> Callable[[], object]:
        """Freeze what there is, unless somebody has frozen something; return what thaws it."""
        if gc.get_freeze_count() > PYTHONS_OWN:
            return _nothing
        self._freezes += 1
        if self._freezes % FREEZES_A_COLLECTION == 0:
            gc.collect()
        gc.freeze()
        return gc.unfreeze


def switch_often() -> Callable[[], object]:
    """Have threads hand over the interpreter after ``SWITCH_SECONDS``; return what undoes it."""
    before = sys.getswitchinterval()
    if before <= SWITCH_SECONDS:
        return _nothing
    sys.setswitchinterval(SWITCH_SECONDS)
    ours = sys.getswitchinterval()  # as it is rounded

    def put_back() -> None:
        if sys.getswitchinterval() == ours:
            sys.setswitchinterval(before)

    return put_back


def _nothing() -> None:
    """Undo nothing."""


_CHANGES = (Shared(Freezer().freeze), Shared(switch_often))
"""Of the process, as the collector and the interpreter are: there is one of each."""


@contextlib.contextmanager
def undisturbed() -> Iterator[None]:
    """Keep garbage and other threads from delaying a call on the running loop, until the body has ended.

    Several loops may ask for it at once. One that charges declared costs for work does not need it.
    """
    loop = asyncio.get_running_loop()
    with contextlib.ExitStack() as stack:
        if not (isinstance(loop, JobCharger) and loop.charges_jobs):
            for change in _CHANGES:
                stack.enter_context(change.needed())
        yield
