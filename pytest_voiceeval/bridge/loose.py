"""Work that callbacks of a loop start on other threads, past it: told to the loop, which cannot see it.

Python says of no thread who has started it, and others in the process start some at any time (timers of
pytest-timeout, workers of xdist, debuggers). So ``Thread.start`` and ``ThreadPoolExecutor.submit`` are
replaced by ones that look whether they are called by a callback of a loop that wants to know. They cost
nothing where no thread is started, keep nothing, and may stay for the life of the process.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from typing import Any, Protocol, TypeVar, TypeVarTuple, runtime_checkable

T = TypeVar("T")
Ts = TypeVarTuple("Ts")

BYSTANDERS = frozenset({"tqdm", "_pydevd_bundle"})
"""Packages whose threads tell a call nothing: they redraw progress bars, and serve a debugger."""

_THREAD = threading.local()


@runtime_checkable
class Watcher(Protocol):
    """A loop that wants to know what its callbacks start on other threads."""

    def watch_thread(self, thread: threading.Thread) -> None:
        """Know of ``thread``, which was just started."""

    def watch_job(self, submit: Callable[[], Future[Any]], pool: str | None) -> Future[Any]:
        """Return what ``submit`` does, and know of that as a job of ``pool``."""


def is_counted() -> bool:
    """Whether this thread does counted work now."""
    return getattr(_THREAD, "counted", False)


def in_counted_thread(func: Callable[[*Ts], T], *args: *Ts) -> T:
    """Do ``func``; what it tells the loop meanwhile, and what it starts, is a part of counted work."""
    before = is_counted()
    _THREAD.counted = True
    try:
        return func(*args)
    finally:
        _THREAD.counted = before


def install() -> None:
    """Have threads and jobs of pools be told to the loop whose callback starts them; may be called again."""
    if getattr(threading.Thread.start, "__name__", "") != "start_and_tell":
        threading.Thread.start = _telling_start(threading.Thread.start)  # type: ignore[method-assign,assignment]
    if getattr(ThreadPoolExecutor.submit, "__name__", "") != "submit_and_tell":
        ThreadPoolExecutor.submit = _telling_submit(ThreadPoolExecutor.submit)  # type: ignore[method-assign]


def _telling_start(start: Callable[[threading.Thread], None]) -> Callable[[threading.Thread], None]:
    def start_and_tell(self: threading.Thread) -> None:
        start(self)
        is_bystander = type(self).__module__.split(".", maxsplit=1)[0] in BYSTANDERS
        if not is_bystander and (watcher := _watcher()) is not None:
            watcher.watch_thread(self)

    return start_and_tell


def _telling_submit(submit: Callable[..., Future[Any]]) -> Callable[..., Future[Any]]:
    def submit_and_tell(
        self: ThreadPoolExecutor, fn: Callable[..., Any], /, *args: Any, **kwargs: Any
    ) -> Future[Any]:
        begin = partial(submit, self, fn, *args, **kwargs)
        watcher = _watcher()
        return begin() if watcher is None else watcher.watch_job(begin, self._thread_name_prefix)

    return submit_and_tell


def _watcher() -> Watcher | None:
    """Return the loop whose callback runs, if it wants to know what that starts."""
    try:
        loop = asyncio.get_running_loop()
    except RuntimeError:
        return None
    return loop if isinstance(loop, Watcher) else None
