"""The clock of a call: one event loop that we own, and whose time is the call's time."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any, Literal, Protocol, TypeVar

from pytest_voiceeval.bridge import pipecat_time
from pytest_voiceeval.bridge.alarm import alarm_breaks_off
from pytest_voiceeval.bridge.charged import ChargedLoop
from pytest_voiceeval.bridge.endpoint import Endpoint
from pytest_voiceeval.bridge.measured import MeasuredLoop
from pytest_voiceeval.bridge.warp import STUCK_SECONDS, WarpLoop, all_counted
from pytest_voiceeval.errors import ClockError
from pytest_voiceeval.model.work import ClockName

T = TypeVar("T")


class Clock(Protocol):
    """Runs a call on a loop of its own; everything in the call reads ``loop.time()``."""

    @property
    def name(self) -> ClockName:
        """The clock's name, as metrics carry it."""

    def new_loop(self) -> asyncio.AbstractEventLoop:
        """Return a loop of this clock, not running: for calls that share one. Make it in their thread."""

    def run(self, call: Coroutine[Any, Any, T]) -> T:
        """Run ``call`` to its end on a new loop; SIGINT cancels it and becomes KeyboardInterrupt."""


class RealClock:
    """Time is wall time: for any bot."""

    name: ClockName = "real"

    def new_loop(self) -> asyncio.AbstractEventLoop:
        """Return a loop whose time is wall time."""
        return asyncio.new_event_loop()

    def run(self, call: Coroutine[Any, Any, T]) -> T:
        """Run ``call`` to its end on a new loop; SIGINT cancels it and becomes KeyboardInterrupt."""
        with asyncio.Runner() as runner:
            return _run(runner, call)


def _run(runner: asyncio.Runner, call: Coroutine[Any, Any, T]) -> T:
    """Run ``call``; SIGALRM cancels it, and what is raised then is what its handler raises."""
    tasks: list[asyncio.Task[Any]] = []
    loop = runner.get_loop()

    async def held() -> T:
        tasks.extend(filter(None, [asyncio.current_task()]))
        return await call

    def break_off() -> None:
        for task in tasks:
            task.cancel()
        loop.call_soon_threadsafe(lambda: None)  # it may be waiting in its selector

    with alarm_breaks_off(break_off):
        return runner.run(held())


class _WarpedClock:
    """A clock whose loop warps time.

    Args:
        stuck_seconds: wall time for which a call may stand still before it is given up.
    """

    name: ClockName
    _loop: type[WarpLoop]

    def __init__(self, *, stuck_seconds: float = STUCK_SECONDS) -> None:
        self._stuck_seconds = stuck_seconds

    def new_loop(self) -> WarpLoop:
        """Return a loop that warps time; pipecat reads it."""
        pipecat_time.install()
        return self._loop(self._stuck_seconds)

    def run(self, call: Coroutine[Any, Any, T]) -> T:
        """Run ``call`` to its end on a new loop; SIGINT cancels it and becomes KeyboardInterrupt.

        Raises:
            ClockError: if something was at work that the clock cannot count, or nothing goes on.
        """
        with asyncio.Runner(loop_factory=self.new_loop) as runner:
            return _run(runner, all_counted(call))


class MeasuredClock(_WarpedClock):
    """Time runs at wall speed while work is outstanding, and skips idleness: for embedded bots."""

    name: ClockName = "measured"
    _loop = MeasuredLoop


class ChargedClock(_WarpedClock):
    """Time follows declared costs alone, the same to the bit on every run: for rehearsed embedded bots."""

    name: ClockName = "charged"
    _loop = ChargedLoop


ClockChoice = Literal["auto", "charged", "measured", "real"]
"""What may be asked for; ``auto`` takes the fastest clock that both bots can have."""

CLOCKS: dict[ClockName, type[ChargedClock] | type[MeasuredClock] | type[RealClock]] = {
    "charged": ChargedClock,
    "measured": MeasuredClock,
    "real": RealClock,
}


def choose_clock(choice: ClockChoice, user: Endpoint, agent: Endpoint) -> Clock:
    """Return the clock for a call between two bots.

    Raises:
        ClockError: if a bot cannot have the one that was asked for.
    """
    for name, clock in CLOCKS.items():
        if choice == "auto" and name in user.clocks and name in agent.clocks:
            return clock()
    for bot in (user, agent):
        if choice != "auto" and choice not in bot.clocks:
            raise ClockError(
                f"the clock {choice!r} cannot be had with the {bot.side} {bot.label}: a call with it can run "
                f"on {' or '.join(bot.clocks)}; write one of these, or auto"
            )
    return RealClock() if choice == "auto" else CLOCKS[choice]()
