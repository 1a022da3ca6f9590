"""A steady beat on a loop's time."""

from __future__ import annotations

import asyncio
from collections.abc import Callable


class Ticker:
    """Calls ``beat`` with 0, 1, 2 … at ``begun`` and every ``seconds`` after it.

    A beat that comes late does not move those after it: they follow at once. The loop is asked once a beat;
    a task that sleeps would be woken in a second round.

    Attributes:
        failed: ends with the error of a beat that failed, which is the last one.
    """

    def __init__(self, begun: float, seconds: float, beat: Callable[[int], None]) -> None:
        self._loop = asyncio.get_running_loop()
        self._begun = begun
        self._seconds = seconds
        self._beat = beat
        self._number = 0
        self.failed: asyncio.Future[None] = self._loop.create_future()
        self._next = self._loop.call_soon(self._tick)

    def stop(self) -> None:
        """Beat no more."""
        self._next.cancel()
        self.failed.cancel()

    def _tick(self) -> None:
        try:
            self._beat(self._number)
        except Exception as exc:  # whatever it is: it is raised where ``failed`` is waited for
            self.failed.set_exception(exc)
            return
        self._number += 1
        self._next = self._loop.call_at(self._begun + self._number * self._seconds, self._tick)
