"""Calls that are held at once: one event loop for all of them, in a thread of its own."""

from __future__ import annotations

import asyncio
import concurrent.futures
import threading
import weakref
from collections.abc import Callable, Coroutine, Generator
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Generic, TypeVar

from pytest_voiceeval.bridge.clock import Clock
from pytest_voiceeval.bridge.warp import CALL, WarpLoop, all_counted
from pytest_voiceeval.errors import ClockError

T = TypeVar("T")

SWEEP_SECONDS = 5.0
"""How long tasks that a call has left behind may take to end when they are cancelled."""

WORKERS = 4
WORKERS_OF_A_CALL = 3
"""Threads for jobs that block, such as recognition: some for all calls, and some more for each."""

CLOSE_SECONDS = 30.0
"""How long all calls may take to end when they are cancelled, in seconds of wall time."""

PATIENCE_SECONDS = 15.0
"""How much of that passes before they are cancelled again, which breaks off how they end, too."""


class Parts:
    """The tasks that run as parts of one call.

    Contexts lead to it, and may outlive the call: so nothing of what the call came to, or was held with, is
    here.
    """

    def __init__(self) -> None:
        self.tasks: weakref.WeakSet[asyncio.Task[Any]] = weakref.WeakSet()


class HeldCall(Generic[T]):
    """A call that was handed to a ``CallThread``.

    Attributes:
        outcome: what it comes to; of one that was cancelled, ``asyncio.CancelledError``.
        hold: makes the coroutine of it.
        is_begun: whether there was a place for it.
        is_cancelled: whether it is being broken off: it is told once, and then ends in order.
        fault: what has broken the loop under it.
        parts: what runs as parts of it.
    """

    def __init__(self, call: Callable[[], Coroutine[Any, Any, T]], thread: CallThread) -> None:
        self.outcome: concurrent.futures.Future[T] = concurrent.futures.Future()
        self.hold = call
        self.is_begun = False
        self.is_cancelled = False
        self.fault: ClockError | None = None
        self.parts = Parts()
        self._thread = thread

    def cancel(self) -> None:
        """Have it broken off, if it is not over; may be called from any thread, and more than once."""
        self._thread.cancel(self)

    @property
    def is_over(self) -> bool:
        """Whether it has come to an end that is its own: to a result, or to an error."""
        return self.outcome.done() and not isinstance(self.outcome.exception(), asyncio.CancelledError)

    def end(self, task: asyncio.Task[T]) -> None:
        """Take over what ``task`` has come to."""
        if task.cancelled():
            self.outcome.set_exception(self.fault or asyncio.CancelledError())
        elif (exc := task.exception()) is not None:
            self.outcome.set_exception(exc)
        else:
            self.outcome.set_result(task.result())


class CallThread:
    """Holds up to ``at_once`` calls at once, the others wait for their turn in the order they came in.

    A call has no thread of its own, and the calls that are held at once share this one: whoever waits for
    their results does what blocks meanwhile (scores, asks a judge, writes files), and they must go on at
    their pace. What goes wrong in one is its own outcome; tasks that it leaves behind are ended with it.

    The loop is of the calls' clock. On the clock ``measured`` time runs at wall speed while there is work
    outstanding in any of the calls, and jumps when all are idle. So work of one call delays another only by
    what they contend for, a core or the interpreter, exactly as it would in real time.

    Args:
        clock: of all calls.
        at_once: how many are held at once.
    """

    def __init__(self, clock: Clock, at_once: int) -> None:
        self._clock = clock
        # Jobs of a call may only wait, for a file or a server: they are not to keep those of others waiting.
        self._workers = ThreadPoolExecutor(WORKERS + WORKERS_OF_A_CALL * at_once, "calls")
        self._slots = asyncio.Semaphore(at_once)
        self._held: dict[HeldCall[Any], asyncio.Task[Any]] = {}
        self._begun_calls = 0
        self._closing = asyncio.Event()
        started: concurrent.futures.Future[asyncio.AbstractEventLoop] = concurrent.futures.Future()
        self._thread = threading.Thread(
            target=self._run, args=(started,), name=f"calls ({clock.name})", daemon=True
        )
        self._thread.start()
        self._loop = started.result()

    def submit(self, call: Callable[[], Coroutine[Any, Any, T]]) -> HeldCall[T]:
        """Hold ``call`` as soon as there is a place for it. It runs in the context of who calls this."""
        held = HeldCall(call, self)
        if not self._tell(lambda: self._begin(held)):
            held.outcome.set_exception(RuntimeError(f"the thread of {self._thread.name} has ended"))
        return held

    def cancel(self, held: HeldCall[Any]) -> None:
        """Break a call off, if it is not over and not being broken off already."""
        self._tell(lambda: self._cancel(held))

    def close(self, seconds: float = CLOSE_SECONDS, patience: float = PATIENCE_SECONDS) -> bool:
        """Break off what is still held, end the thread, and return whether that was done in time.

        Args:
            seconds: of wall time that this may take.
            patience: how many of them calls that are being broken off have to end in order, which is to
                close their connections and to write what there is of them.
        """
        self._tell(self._closing.set)
        self._thread.join(patience)
        if self._thread.is_alive():
            self._tell(self._cancel_again)
            self._thread.join(max(seconds - patience, 0.0))
        return not self._thread.is_alive()

    def _cancel(self, held: HeldCall[Any]) -> None:
        if held in self._held and not held.is_cancelled:
            held.is_cancelled = True
            self._held[held].cancel()

    def _cancel_again(self) -> None:
        for task in self._held.values():
            task.cancel()

    def _tell(self, callback: Callable[[], object]) -> bool:
        """Have ``callback`` called on the loop; return whether there still is one."""
        tell = (
            self._loop.take_from_work if isinstance(self._loop, WarpLoop) else self._loop.call_soon_threadsafe
        )
        try:
            tell(callback)
        except RuntimeError:  # it was closed
            return False
        return True

    def _run(self, started: concurrent.futures.Future[asyncio.AbstractEventLoop]) -> None:
        runner = asyncio.Runner(loop_factory=self._clock.new_loop)
        try:
            loop = runner.get_loop()
        except Exception as exc:  # whatever it is: who waits for the loop is to raise it
            started.set_exception(exc)
            return
        with runner:
            loop.set_task_factory(_task_of_call)
            loop.set_default_executor(self._workers)
            serving = loop.create_task(self._serve())
            loop.call_soon(started.set_result, loop)
            while not serving.done():
                try:
                    loop.run_until_complete(serving)
                except ClockError as exc:  # of the loop itself: nothing goes on in any call
                    self._give_up(exc)
                except (KeyboardInterrupt, SystemExit):
                    continue  # asyncio lets these through; the task that raised it has it as its outcome

    async def _serve(self) -> None:
        self._is_idle(True)
        await self._closing.wait()
        self._is_idle(False)
        while self._held:
            for held in self._held:
                self._cancel(held)
            await asyncio.wait(self._held.values())

    def _is_idle(self, idle: bool) -> None:
        """Tell a loop that warps time whether there is no call in which time could be skipped."""
        loop = asyncio.get_running_loop()
        if isinstance(loop, WarpLoop):
            loop.at_work += 1 if idle else -1

    def _begin(self, held: HeldCall[Any]) -> None:
        task = self._loop.create_task(self._hold(held))
        self._held[held] = task
        task.add_done_callback(lambda task: self._end(held, task))

    def _end(self, held: HeldCall[Any], task: asyncio.Task[Any]) -> None:
        del self._held[held]
        held.end(task)

    async def _hold(self, held: HeldCall[T]) -> T:
        async with self._slots:
            loop = asyncio.get_running_loop()
            if not self._begun_calls:
                self._is_idle(False)
            self._begun_calls += 1
            held.is_begun = True
            if isinstance(loop, WarpLoop):
                loop.begin_call(held.parts)
            else:
                CALL.set(held.parts)
            try:
                return await all_counted(held.hold())
            finally:
                try:
                    await _sweep(held.parts)
                finally:  # also of one that is cancelled again
                    if isinstance(loop, WarpLoop):
                        loop.end_call(held.parts)
                    self._begun_calls -= 1
                    if not self._begun_calls:
                        self._is_idle(True)

    def _give_up(self, exc: ClockError) -> None:
        """End all calls that are held with ``exc``."""
        for held, task in self._held.items():
            if held.is_begun:
                held.fault = exc
                held.is_cancelled = True
                task.cancel()


async def _sweep(parts: Parts) -> None:
    """End the tasks that a call has left behind."""
    left = {task for task in parts.tasks if not task.done()} - {asyncio.current_task()}
    for task in left:
        task.cancel()
    if left:
        await asyncio.wait(left, timeout=SWEEP_SECONDS)


def _task_of_call(
    loop: asyncio.AbstractEventLoop, coro: Coroutine[Any, Any, T] | Generator[Any, None, T], **options: Any
) -> asyncio.Task[T]:
    """Return a task as asyncio makes it, and note of which call it is a part."""
    task = asyncio.Task(coro, loop=loop, **options)
    context = options.get("context")
    call = CALL.get() if context is None else context.get(CALL)
    if isinstance(call, Parts):
        call.tasks.add(task)
    return task
