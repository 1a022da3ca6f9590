"""The loop of a charged call."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import Executor
from datetime import UTC, datetime
from typing import Any, TypeVar, TypeVarTuple

from pytest_voiceeval.bridge.loose import in_counted_thread
from pytest_voiceeval.bridge.warp import STUCK_SECONDS, WarpLoop, give_exception, give_result
from pytest_voiceeval.model.work import Job, WorkKind

T = TypeVar("T")
Ts = TypeVarTuple("Ts")

COSTS: dict[WorkKind, tuple[float, float]] = {
    "recognition": (0.08, 0.0),
    "synthesis": (0.02, 0.06),
}
"""Virtual cost of a job: seconds for each, and for each second of its sound.

Source: measured on two cores of a laptop's kind with a shortened Whisper tiny.en and a medium Piper voice.
"""

EPOCH = 1_735_689_600.0
"""Wall time at which a charged call begins (2025-01-01T00:00:00Z), so that time stamps repeat."""

START = 1000.0
"""The loop's time when a charged call begins: not 0, which pipecat takes for a clock that never started."""


class ChargedLoop(WarpLoop):
    """Time stands still while anything is done; jobs are done at once and charged their declared cost."""

    charges_jobs = True
    epoch = EPOCH - START

    def __init__(self, stuck_seconds: float = STUCK_SECONDS) -> None:
        self._now = START
        super().__init__(stuck_seconds)

    def time(self) -> float:
        """Return the virtual time."""
        return self._now

    def wall_time(self) -> datetime:
        """Return the wall time that it is on this clock: the same on every run, wherever it is held."""
        return datetime.fromtimestamp(self.epoch + self.time(), UTC).replace(tzinfo=None)

    def begin_work(self) -> None:
        """Do nothing: here only declared costs count."""

    def end_work(self) -> None:
        """Do nothing."""

    def jump(self, seconds: float) -> None:
        """Let ``seconds`` pass at once."""
        self._now += seconds

    def run_in_executor(
        self, executor: Executor | None, func: Callable[[*Ts], T], *args: *Ts
    ) -> asyncio.Future[T]:
        """Do ``func`` now, on this thread, and give its result when its cost has passed."""
        future: asyncio.Future[T] = self.create_future()
        try:
            result = in_counted_thread(func, *args)
        except (KeyboardInterrupt, SystemExit):
            raise
        except BaseException as exc:  # whatever the job raised is its caller's
            self.call_soon(give_exception, future, exc)
            return future
        self.call_later(_cost(func, result), give_result, future, result)
        return future

    def _counted(self) -> bool:
        return False


def _cost(func: Callable[..., Any], result: Any) -> float:
    if not isinstance(func, Job):
        return 0.0
    once, each_second = COSTS[func.kind]
    return once + each_second * func.seconds_of(result)
