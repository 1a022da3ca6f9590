"""Work that a call waits for, told apart by kind, so that a clock can charge for it."""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Generic, Literal, Protocol, TypeVar, runtime_checkable

T = TypeVar("T")

WorkKind = Literal["recognition", "synthesis"]

ClockName = Literal["charged", "measured", "real"]
"""The clocks that a call may run on, the fastest first."""


CLOCK_MEANINGS: dict[ClockName, str] = {
    "charged": "both bots are embedded and rehearsed: work is charged declared costs, latencies are modelled",
    "measured": "both bots are embedded: idle time is skipped, latencies are measured",
    "real": "wall time, latencies are measured",
}
"""What each clock means, for a person."""


@dataclass(frozen=True)
class Job(Generic[T]):
    """Work for an executor: ``await loop.run_in_executor(None, job)``.

    Any loop runs it; the loop of a charged call runs it with the clock frozen and charges what its
    kind costs by the second of sound.

    Attributes:
        kind: what it is.
        run: does it.
        seconds_of: tells from the result how many seconds of sound were worked on.
    """

    kind: WorkKind
    run: Callable[[], T]
    seconds_of: Callable[[T], float]

    def __call__(self) -> T:
        """Do the work."""
        return self.run()


@runtime_checkable
class WorkCounter(Protocol):
    """A loop that wants to know of work that goes on outside of it, such as an HTTP request."""

    def begin_work(self) -> None:
        """Count a piece of work."""

    def end_work(self) -> None:
        """Count it as done."""


@runtime_checkable
class JobCharger(Protocol):
    """A loop that may charge jobs their declared cost, however long they really take."""

    charges_jobs: bool


COUNTED = ContextVar("COUNTED", default=False)
"""Whether what runs is a part of work that was begun with a ``WorkCounter``, and may leave this machine."""
