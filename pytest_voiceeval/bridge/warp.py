"""An event loop whose time is not wall time: it jumps over idleness, and refuses what it cannot count."""

from __future__ import annotations

import asyncio
import ipaddress
import selectors
import threading
from collections.abc import Awaitable, Callable
from contextvars import Context, ContextVar
from datetime import datetime
from typing import Any, TypeVar, TypeVarTuple

from pytest_voiceeval.errors import ClockError
from pytest_voiceeval.model.work import COUNTED

T = TypeVar("T")
Ts = TypeVarTuple("Ts")

STUCK_SECONDS = 30.0
"""Wall time for which a loop may wait with nothing to do and nothing at work."""

_THREAD = threading.local()

CALL: ContextVar[object | None] = ContextVar("CALL", default=None)
"""Which of the calls that share a loop what runs is a part of; ``None`` where a loop has one call only."""


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
        self._calls: set[object | None] = {None}
        self._uncounted: dict[object | None, str] = {}
        self._closing = False
        super().__init__(_JumpingSelector(self))

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
        if elsewhere and not self._closing and not getattr(_THREAD, "counted", False):
            self._refuse(f"thread {threading.current_thread().name!r}")
        return super().call_soon_threadsafe(callback, *args, context=context)

    def take_from_work(self, callback: Callable[[*Ts], object], *args: *Ts) -> None:
        """Take a callback of work that is counted, on whatever thread."""
        super().call_soon_threadsafe(callback, *args)

    async def create_server(self, *args: Any, **options: Any) -> asyncio.Server:
        """Serve; connections to what this loop serves are its own, and need no counting."""
        server: asyncio.Server = await super().create_server(*args, **options)
        self._served |= {listening.getsockname()[1] for listening in server.sockets}
        return server

    async def create_unix_server(self, *args: Any, **options: Any) -> asyncio.Server:
        """Serve, as above."""
        server: asyncio.Server = await super().create_unix_server(*args, **options)
        self._served |= {listening.getsockname() for listening in server.sockets}
        return server

    async def sock_connect(self, sock: Any, address: Any) -> None:
        """Connect to what this loop serves; to anything else only as a part of counted work.

        Raises:
            ClockError: before anything is sent, if it must not be.
        """
        if not self._reaches_itself(address) and not self._counted():
            where = f"{address[0]}:{address[1]}" if isinstance(address, tuple) else address
            raise self._refuse(f"what a socket to {where} leads to")
        await super().sock_connect(sock, address)

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

    def _reaches_itself(self, address: Any) -> bool:
        if isinstance(address, tuple):
            return _is_here(address[0]) and address[1] in self._served
        return address in self._served

    def _refuse(self, what: str) -> ClockError:
        """Return the error for ``what``. Nobody knows whose another thread is: it may be any call's."""
        call = CALL.get()
        for spoiled in self._calls if call is None else {call}:
            self._uncounted.setdefault(spoiled, what)
        return _cannot_warp(what)


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


def _is_here(host: str | bytes) -> bool:
    """Whether ``host`` is an address or the name of this machine's loopback."""
    name = host.decode() if isinstance(host, bytes) else host
    try:
        return ipaddress.ip_address(name).is_loopback
    except ValueError:
        return name == "localhost"


def in_counted_thread(func: Callable[[*Ts], T], *args: *Ts) -> T:
    """Do ``func``; what it tells the loop meanwhile comes of counted work."""
    _THREAD.counted = True
    try:
        return func(*args)
    finally:
        _THREAD.counted = False


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
