"""Event loops whose time is not wall time: it skips idleness, or follows declared costs alone."""

from __future__ import annotations

import asyncio
import ipaddress
import selectors
import threading
import time
from collections.abc import Callable
from concurrent.futures import Executor
from contextvars import Context
from typing import Any, NoReturn, TypeVar, TypeVarTuple

from pytest_voiceeval.errors import ClockError
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

STUCK_SECONDS = 30.0
"""Wall time for which a loop may wait with nothing to do and nothing at work."""


class WarpLoop(asyncio.SelectorEventLoop):
    """A loop that jumps to its next timer when nothing is ready and nothing is at work."""

    epoch: float

    def __init__(self) -> None:
        self.at_work = 0
        self._owner = threading.get_ident()
        self._uncounted: str | None = None
        super().__init__(_JumpingSelector(self))

    def jump(self, seconds: float) -> None:
        """Let ``seconds`` pass at once."""
        raise NotImplementedError

    def wait_limit(self) -> float | None:
        """Return how many wall seconds the loop may sleep with no timer set."""
        return None if self.at_work else STUCK_SECONDS

    def begin_work(self) -> None:
        """Count a piece of work that goes on outside the loop."""
        self.at_work += 1

    def end_work(self) -> None:
        """Count it as done."""
        self.at_work -= 1

    def call_soon_threadsafe(
        self, callback: Callable[[*Ts], object], *args: *Ts, context: Context | None = None
    ) -> asyncio.Handle:
        """Take a callback of another thread, if its work is counted.

        A thread that nobody counted would have been jumped over: the call is spoiled, and says so.
        """
        if threading.get_ident() != self._owner and not self.at_work:
            self._refuse(f"thread {threading.current_thread().name!r}")
        return super().call_soon_threadsafe(callback, *args, context=context)

    async def sock_connect(self, sock: Any, address: Any) -> None:
        """Connect, on this machine only: what is elsewhere works without being counted."""
        if isinstance(address, tuple) and not self.at_work and not _is_loopback(address[0]):
            self._refuse(f"a socket to {address[0]}:{address[1]}")
            raise self.uncounted()
        await super().sock_connect(sock, address)

    def uncounted(self) -> ClockError:
        """Return the error that names what was at work without being counted."""
        return ClockError(
            f"the clock cannot be warped: {self._uncounted} is at work and the clock cannot count it; "
            "run with --voice-clock=real"
        )

    def check_counted(self) -> None:
        """Raise ClockError if anything was at work without being counted."""
        if self._uncounted is not None:
            raise self.uncounted()

    def _refuse(self, what: str) -> None:
        self._uncounted = self._uncounted or what


class MeasuredLoop(WarpLoop):
    """Time runs at wall speed while anything is ready or at work, and skips the rest."""

    def __init__(self) -> None:
        self._skipped = 0.0
        self.epoch = time.time() - time.monotonic()
        super().__init__()

    def time(self) -> float:
        """Return wall time and all that was skipped."""
        return time.monotonic() + self._skipped

    def jump(self, seconds: float) -> None:
        """Let ``seconds`` pass at once."""
        self._skipped += seconds

    def run_in_executor(
        self, executor: Executor | None, func: Callable[[*Ts], T], *args: *Ts
    ) -> asyncio.Future[T]:
        """Run ``func`` in a thread; time runs on until it is done."""
        self.begin_work()
        future = super().run_in_executor(executor, func, *args)
        future.add_done_callback(lambda _: self.end_work())
        return future


class ChargedLoop(WarpLoop):
    """Time stands still while anything is done; jobs are done at once and charged their declared cost."""

    def __init__(self) -> None:
        self._now = 0.0
        self.epoch = EPOCH
        super().__init__()

    def time(self) -> float:
        """Return the virtual time."""
        return self._now

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
            result = func(*args)
        except (KeyboardInterrupt, SystemExit):
            raise
        except BaseException as exc:  # whatever the job raised is its caller's
            self.call_soon(_fail, future, exc)
            return future
        self.call_later(_cost(func, result), _give, future, result)
        return future


class _JumpingSelector(selectors.DefaultSelector):
    def __init__(self, loop: WarpLoop) -> None:
        super().__init__()
        self._loop = loop

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        ready = super().select(0)
        if ready or timeout == 0:
            return ready
        if self._loop.at_work:
            return super().select(timeout)
        if timeout is not None:
            self._loop.jump(timeout)
            return []
        ready = super().select(self._loop.wait_limit())
        if not ready and not self._loop.at_work:
            _stuck()
        return ready


def _stuck() -> NoReturn:
    raise ClockError(
        "the call stands still: everything in it waits, and nothing is at work that could end that; "
        "run with --voice-clock=real to see what it waits for"
    )


def _cost(func: Callable[..., Any], result: Any) -> float:
    if not isinstance(func, Job):
        return 0.0
    once, each_second = COSTS[func.kind]
    return once + each_second * func.seconds_of(result)


def _give(future: asyncio.Future[Any], result: Any) -> None:
    if not future.done():
        future.set_result(result)


def _fail(future: asyncio.Future[Any], exc: BaseException) -> None:
    if not future.done():
        future.set_exception(exc)


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
