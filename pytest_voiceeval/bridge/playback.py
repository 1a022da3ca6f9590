"""Marks in a bot's sound, of which it is told when they were reached."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable


class PlaybackMarks:
    """Calls back, in order, when the sound before each mark was heard, or dropped."""

    def __init__(self) -> None:
        self._waiting: deque[tuple[asyncio.TimerHandle, Callable[[], None]]] = deque()

    def set(self, reached: Callable[[], None], seconds: float) -> None:
        """Have ``reached`` called in ``seconds``: so long the sound before the mark will be heard."""
        if seconds <= 0 and not self._waiting:
            reached()
            return
        loop = asyncio.get_running_loop()
        last = self._waiting[-1][0].when() if self._waiting else 0.0
        timer = loop.call_at(max(loop.time() + seconds, last), self._reach_next)
        self._waiting.append((timer, reached))

    def reach_all(self) -> None:
        """Call all back now: the sound before them was dropped."""
        while self._waiting:
            self._waiting[0][0].cancel()
            self._reach_next()

    def forget(self) -> None:
        """Call nobody back any more."""
        for timer, _ in self._waiting:
            timer.cancel()
        self._waiting.clear()

    def _reach_next(self) -> None:
        _, reached = self._waiting.popleft()
        reached()
