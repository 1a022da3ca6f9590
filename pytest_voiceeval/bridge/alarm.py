"""SIGALRM, by which pytest-timeout and others end what takes too long, breaks a call off in order."""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Callable, Iterator
from types import FrameType


@contextlib.contextmanager
def alarm_breaks_off(break_off: Callable[[], object]) -> Iterator[None]:
    """Have SIGALRM call ``break_off``, and whoever set a handler for it called when the body has ended.

    A handler that raises would do so inside whatever the loop does just then: in a task that nobody waits
    for, where it is lost, or between a bot and its tidying up. Off the main thread, and where nobody set a
    handler, nothing changes.
    """
    handler = signal.getsignal(signal.SIGALRM) if hasattr(signal, "SIGALRM") else None
    if not callable(handler) or threading.current_thread() is not threading.main_thread():
        yield
        return
    rung: list[tuple[int, FrameType | None]] = []

    def ring(number: int, frame: FrameType | None) -> None:
        rung.append((number, frame))
        break_off()

    signal.signal(signal.SIGALRM, ring)
    try:
        yield
    finally:
        if signal.getsignal(signal.SIGALRM) is ring:
            signal.signal(signal.SIGALRM, handler)
        if rung:
            handler(*rung[0])  # raises, in place of whatever the call was broken off with
