"""The clock of a call: one event loop that we own, and whose time is the call's time."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any, Protocol, TypeVar

T = TypeVar("T")


class Clock(Protocol):
    """Runs a call on a loop of its own; everything in the call reads ``loop.time()``."""

    @property
    def name(self) -> str:
        """The clock's name, as metrics carry it."""

    def run(self, call: Coroutine[Any, Any, T]) -> T:
        """Run ``call`` to its end on a new loop; SIGINT cancels it and becomes KeyboardInterrupt."""


class RealClock:
    """Time is wall time."""

    name = "real"

    def run(self, call: Coroutine[Any, Any, T]) -> T:
        """Run ``call`` to its end on a new loop; SIGINT cancels it and becomes KeyboardInterrupt."""
        with asyncio.Runner() as runner:
            return runner.run(call)
