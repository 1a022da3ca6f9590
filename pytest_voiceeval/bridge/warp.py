"""An event loop whose time is not wall time: it jumps over idleness, and refuses what it cannot count.

Work outside of it can be counted if it says so (jobs of an executor, requests). All else that could end
the idleness that is jumped over is refused: what leads out of the loop by a file descriptor, when the loop
is to wait for it; threads and jobs of thread pools that a callback has started past the loop, when time is
about to jump and they are not over; and any other thread when it calls back, if the call still goes on then.
What cannot be seen is work on a thread that has been there before the call, other than a thread pool's, and
in a process that was started without asyncio.
"""

from __future__ import annotations

import asyncio
import ipaddress
import selectors
import threading
from collections.abc import Awaitable, Callable
from concurrent.futures import Future
from contextvars import Context, ContextVar
from dataclasses import dataclass
from datetime import datetime
from typing import Any, TypeVar, TypeVarTuple

from pytest_voiceeval.bridge import loose
from pytest_voiceeval.bridge.descriptors import Descriptor, HasFileno, descriptor_of, shown_address
from pytest_voiceeval.errors import ClockError
from pytest_voiceeval.model.work import COUNTED

T = TypeVar("T")
Ts = TypeVarTuple("Ts")

STUCK_SECONDS = 30.0
"""Wall time for which a loop may wait with nothing to do and nothing at work."""

CALL: ContextVar[object | None] = ContextVar("CALL", default=None)
"""Which of the calls that share a loop what runs is a part of; ``None`` where a loop has one call only."""


@dataclass(frozen=True)
class _Started:
    """What a callback has started past the loop, and as a part of which call."""

    what: str
    is_over: Callable[[], bool]
    call: object | None


class WarpLoop(asyncio.SelectorEventLoop):
    """A loop that jumps to its next timer when nothing is ready and nothing is at work.

    It refuses what it cannot count: where that would be jumped over, the call is spoiled.

    Args:
        stuck_seconds: wall time for which it may wait with nothing to do and nothing at work.
    """

    def __init__(self, stuck_seconds: float = STUCK_SECONDS) -> None:
        self.at_work = 0
        self.stuck_seconds = stuck_seconds
        self._owner = threading.get_ident()
        self._served: set[object] = set()
        self._connecting: set[int] = set()
        self._admitted: dict[int, Descriptor] = {}
        self.started: list[_Started] = []
        self._calls: set[object | None] = {None}
        self._uncounted: dict[object | None, str] = {}
        self._closing = False
        self._is_made = False
        loose.install()
        super().__init__(_JumpingSelector(self))
        self._is_made = True

    @property
    def epoch(self) -> float:
        """The wall time at which this clock was at 0."""
        raise NotImplementedError

    def jump(self, seconds: float) -> None:
        """Let ``seconds`` pass at once."""
        raise NotImplementedError

    def begin_call(self, call: object) -> None:
        """Have what runs from now on in this context be a part of ``call``, one of several on this loop."""
        CALL.set(call)
        self._calls.add(call)

    def end_call(self, call: object) -> None:
        """Forget ``call``, which is over."""
        self._calls.discard(call)
        self.started = [started for started in self.started if started.call is not call]
        self._uncounted.pop(call, None)

    def wall_time(self) -> datetime:
        """Return the local wall time that it is on this clock."""
        return datetime.fromtimestamp(self.epoch + self.time())

    def begin_work(self) -> None:
        """Count a piece of work that goes on outside the loop."""
        self.at_work += 1

    def end_work(self) -> None:
        """Count it as done."""
        self.at_work -= 1

    def call_soon_threadsafe(
        self, callback: Callable[[*Ts], object], *args: *Ts, context: Context | None = None
    ) -> asyncio.Handle:
        """Take a callback of another thread; of one that does no counted work, the call's end will tell."""
        elsewhere = threading.get_ident() != self._owner
        if elsewhere and not self._closing and not loose.is_counted():
            self._refuse(f"thread {threading.current_thread().name!r}")
        return super().call_soon_threadsafe(callback, *args, context=context)

    def take_from_work(self, callback: Callable[[*Ts], object], *args: *Ts) -> None:
        """Take a callback of work that is counted, on whatever thread."""
        super().call_soon_threadsafe(callback, *args)

    def watch_thread(self, thread: threading.Thread) -> None:
        """Know of a thread that a callback has started: until it is over, no time may be skipped."""
        if not loose.is_counted():
            self._watch(f"thread {thread.name!r}", lambda: not thread.is_alive())

    def watch_job(self, submit: Callable[[], Future[Any]], pool: str | None) -> Future[Any]:
        """Know of a job in the same way. A pool's threads do not tell: they stay when it is done."""
        job = loose.in_counted_thread(submit)
        if not loose.is_counted():
            self._watch(f"a job of the thread pool {pool!r}", job.done)
        return job

    def refuse_started(self) -> None:
        """Refuse what callbacks have started past the loop and is not over; ``started`` is empty then."""
        for started in self.started:
            if not started.is_over():
                self._refuse(started.what, started.call)
        self.started.clear()

    def admit(self, fileobj: int | HasFileno) -> None:
        """Take a file descriptor that the loop is to wait for, if what happens at its other end is counted.

        That is so for a connection to what this loop serves, at either end of it, and for one that is made
        as a part of counted work.

        Raises:
            ClockError: if it leads elsewhere.
        """
        if not self._is_made:  # it wakes itself up by one
            return
        found = descriptor_of(fileobj)
        if found.number in self._connecting:  # it has no other end yet
            return
        if found.listens:
            self._served.add(_key(found.here))
        elif found.is_stream and (self._reaches_itself(found.there) or self._reaches_itself(found.here)):
            return
        elif self._counted():
            self._admitted[found.number] = found
        elif not found.is_same_as(self._admitted.get(found.number)):
            raise self._refuse(f"what {found.name} leads to")

    async def sock_connect(self, sock: Any, address: Any) -> None:
        """Connect to what this loop serves; to anything else only as a part of counted work.

        Raises:
            ClockError: before anything is sent, if it must not be.
        """
        if not self._reaches_itself(address) and not self._counted():
            raise self._refuse(f"what a socket to {shown_address(address)} leads to")
        number = sock.fileno()
        self._connecting.add(number)
        try:
            await super().sock_connect(sock, address)
        finally:
            self._connecting.discard(number)
        self._admitted[number] = descriptor_of(number)

    async def getaddrinfo(self, host: Any, port: Any, **options: Any) -> Any:
        """Look a name up; that of another machine only as a part of counted work.

        Raises:
            ClockError: before anything is sent, if it must not be.
        """
        if host and not _is_here(host) and not self._counted():
            raise self._refuse(f"what a socket to {host}:{port} leads to")
        return await super().getaddrinfo(host, port, **options)

    async def subprocess_exec(self, protocol_factory: Any, *args: Any, **options: Any) -> Any:
        """Raise ClockError: processes are not counted."""
        raise self._refuse(f"a subprocess ({args[0]})")

    async def subprocess_shell(self, protocol_factory: Any, cmd: Any, **options: Any) -> Any:
        """Raise ClockError: processes are not counted."""
        raise self._refuse(f"a subprocess ({cmd})")

    async def shutdown_default_executor(self, *args: Any) -> None:
        """Wait for the threads of the executor, whose work is counted; the call is over."""
        self._closing = True
        self.at_work += 1
        try:
            await super().shutdown_default_executor(*args)
        finally:
            self.at_work -= 1

    def check_counted(self, cause: Exception | None = None) -> None:
        """Raise ClockError, because of ``cause``, if anything was at work in this call uncounted."""
        if (what := self._uncounted.get(CALL.get())) is not None:
            raise _cannot_warp(what) from cause

    def _counted(self) -> bool:
        """Whether the running task does counted work."""
        return COUNTED.get()

    def _watch(self, what: str, is_over: Callable[[], bool]) -> None:
        self.started.append(_Started(what, is_over, CALL.get()))

    def _reaches_itself(self, address: Any) -> bool:
        if isinstance(address, tuple) and not _is_here(address[0]):
            return False
        return _key(address) in self._served

    def _refuse(self, what: str, call: object | None = None) -> ClockError:
        """Return the error for ``what``, which is a part of ``call`` or of what runs.

        Nobody knows whose another thread is that calls back: it may be any call's.
        """
        call = CALL.get() if call is None else call
        for spoiled in tuple(self._calls) if call is None else self._calls & {call}:
            self._uncounted.setdefault(spoiled, what)
        return _cannot_warp(what)


class _JumpingSelector(selectors.DefaultSelector):
    def __init__(self, loop: WarpLoop) -> None:
        super().__init__()
        self._loop = loop

    def register(self, fileobj: int | HasFileno, events: int, data: Any = None) -> selectors.SelectorKey:
        self._loop.admit(fileobj)
        return super().register(fileobj, events, data)

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        ready = super().select(0)
        if ready or timeout == 0:
            return ready
        if self._loop.at_work:
            return super().select(timeout)
        if timeout is not None:
            if self._loop.started:
                self._loop.refuse_started()
            self._loop.jump(timeout)
            return []
        ready = super().select(self._loop.stuck_seconds)
        if not ready:
            self._loop.check_counted()
            raise ClockError(
                "the call stands still: everything in it waits, and nothing is at work that could end "
                "that; run with --voice-clock=real to see what it waits for"
            )
        return ready


def _cannot_warp(what: str) -> ClockError:
    return ClockError(
        f"the clock cannot be warped: {what} is at work and the clock cannot count it; "
        "run with --voice-clock=real"
    )


async def all_counted(call: Awaitable[T]) -> T:
    """Return what ``call`` comes to, if its clock could count all that was at work in it.

    Raises:
        ClockError: if not, whatever it came to: that may come of time that went wrong.
    """
    loop = asyncio.get_running_loop()
    if not isinstance(loop, WarpLoop):
        return await call
    try:
        result = await call
    except ClockError:
        raise
    except Exception as exc:  # whatever it is
        loop.check_counted(exc)
        raise
    loop.check_counted()
    return result


def _key(address: Any) -> object:
    """Return what tells ``address`` from others of this machine's loopback."""
    return address[1] if isinstance(address, tuple) else address


def _is_here(host: str | bytes) -> bool:
    """Whether ``host`` is an address or the name of this machine's loopback."""
    name = host.decode() if isinstance(host, bytes) else host
    try:
        address = ipaddress.ip_address(name)
    except ValueError:
        return name == "localhost"
    return (getattr(address, "ipv4_mapped", None) or address).is_loopback


def give_result(future: asyncio.Future[Any], result: Any) -> None:
    """Give ``result`` to ``future``, if that is still waited for."""
    if not future.done():
        future.set_result(result)


def give_exception(future: asyncio.Future[Any], exc: BaseException) -> None:
    """Give ``exc`` to ``future``, if that is still waited for."""
    if not future.done():
        future.set_exception(exc)


def wall_time(loop: asyncio.AbstractEventLoop) -> datetime:
    """Return local time as ``loop`` has it."""
    return loop.wall_time() if isinstance(loop, WarpLoop) else datetime.now()
