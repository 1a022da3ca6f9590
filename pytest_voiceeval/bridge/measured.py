"""The loop of a measured call."""

from __future__ import annotations

import asyncio
import concurrent.futures
import time
from collections.abc import Callable
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import suppress
from contextvars import ContextVar
from functools import partial
from typing import Any, TypeVar, TypeVarTuple

from pytest_voiceeval.bridge.loose import in_counted_thread
from pytest_voiceeval.bridge.warp import STUCK_SECONDS, WarpLoop, give_exception, give_result

T = TypeVar("T")
Ts = TypeVarTuple("Ts")

_SKIPPED_BEFORE = ContextVar("_SKIPPED_BEFORE", default=0.0)
"""Seconds that a shared loop had skipped when the call that runs was begun."""


class MeasuredLoop(WarpLoop):
    """Time runs at wall speed while anything is ready or at work, and skips the rest.

    It would be no less true at wall speed for as long as a thread lives that a callback has started past
    the loop. But a client's thread often stays for good: then whole calls would take as long as on the
    clock ``real``, without a word. So such threads are refused.
    """

    def __init__(self, stuck_seconds: float = STUCK_SECONDS) -> None:
        self._skipped = 0.0
        self._epoch = time.time() - time.monotonic()
        super().__init__(stuck_seconds)
        self.set_default_executor(ThreadPoolExecutor(thread_name_prefix="call"))

    def time(self) -> float:
        """Return wall time and all that was skipped."""
        return time.monotonic() + self._skipped

    @property
    def epoch(self) -> float:
        """The wall time at which this clock was at 0; in a call that shares the loop, as it sees it.

        What was skipped before that call began is none of its time: it begins when it does.
        """
        return self._epoch - _SKIPPED_BEFORE.get()

    def begin_call(self, call: object) -> None:
        """Begin ``call`` at the wall time that it is."""
        super().begin_call(call)
        _SKIPPED_BEFORE.set(self._skipped)

    def jump(self, seconds: float) -> None:
        """Let ``seconds`` pass at once."""
        self._skipped += seconds

    def set_default_executor(self, executor: Any) -> None:
        """Have ``executor`` do the jobs that name no other."""
        super().set_default_executor(executor)
        self._jobs = executor

    def run_in_executor(
        self, executor: Executor | None, func: Callable[[*Ts], T], *args: *Ts
    ) -> asyncio.Future[T]:
        """Run ``func`` in a thread; time runs on until it is done, also if nobody waits for it any more."""
        executor = executor or self._jobs
        future: asyncio.Future[T] = self.create_future()
        threads = isinstance(executor, ThreadPoolExecutor)
        run = partial(in_counted_thread, func) if threads else func
        job: concurrent.futures.Future[T] = in_counted_thread(executor.submit, run, *args)  # type: ignore[arg-type]  # either takes args
        self.begin_work()
        future.add_done_callback(lambda future: future.cancelled() and job.cancel())
        job.add_done_callback(partial(self._take, future))
        return future

    def _take(self, future: asyncio.Future[T], job: concurrent.futures.Future[T]) -> None:
        """Take ``job`` when it is done, on whatever thread."""
        with suppress(RuntimeError):  # the loop was closed meanwhile
            self.take_from_work(self._settle, future, job)

    def _settle(self, future: asyncio.Future[T], job: concurrent.futures.Future[T]) -> None:
        self.end_work()
        if job.cancelled():
            future.cancel()
        elif (exc := job.exception()) is not None:
            give_exception(future, exc)
        else:
            give_result(future, job.result())
