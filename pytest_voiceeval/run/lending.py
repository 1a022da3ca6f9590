"""Bots that are lent to calls which are held at once: to each call those that no other has."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager

from pytest_voiceeval.bridge.endpoint import Endpoint, SeveralCalls, TakesPieces
from pytest_voiceeval.errors import DefinitionError
from pytest_voiceeval.model.turns import Side
from pytest_voiceeval.model.work import ClockName
from pytest_voiceeval.scenarios.base import Scenario


class SeveralBots:
    """Bots of one side that are as good as each other, for as many calls at once.

    Whoever takes it for one bot has the first of them.

    Attributes:
        bots: one or more, each of them for one call at a time unless it says otherwise.
    """

    def __init__(self, bots: Sequence[Endpoint]) -> None:
        self.bots = tuple(bots)

    @property
    def side(self) -> Side:
        """Which side of a call they take."""
        return self.bots[0].side

    @property
    def label(self) -> str:
        """What they are, for messages."""
        return ", ".join(dict.fromkeys(bot.label for bot in self.bots))

    @property
    def clocks(self) -> tuple[ClockName, ...]:
        """The clocks that a call with any of them can run on."""
        return tuple(clock for clock in self.bots[0].clocks if all(clock in bot.clocks for bot in self.bots))

    @property
    def takes_pieces(self) -> bool:
        """Whether the first of them gets sound in pieces."""
        return isinstance(self.bots[0], TakesPieces) and self.bots[0].takes_pieces

    def open(self, scenario: Scenario) -> AbstractAsyncContextManager[str]:
        """Have the first of them listening."""
        return self.bots[0].open(scenario)

    def close(self) -> None:
        """Give them all up."""
        for bot in self.bots:
            bot.close()


def first_of(endpoint: Endpoint) -> Endpoint:
    """Return the bot that takes a call which is held alone."""
    return endpoint.bots[0] if isinstance(endpoint, SeveralBots) else endpoint


class Lender:
    """Lends the bots of one side.

    Args:
        endpoint: a bot, or ``SeveralBots``.
        at_once: calls that are held at once at most.

    Raises:
        DefinitionError: if the endpoint's ``concurrent_calls`` is no number of calls.
    """

    def __init__(self, endpoint: Endpoint, at_once: int) -> None:
        self.endpoint = endpoint
        self._free: asyncio.Queue[Endpoint] = asyncio.Queue()
        for bot in endpoint.bots if isinstance(endpoint, SeveralBots) else (endpoint,):
            for _ in range(min(_calls_at_once(bot), at_once)):
                self._free.put_nowait(bot)

    @asynccontextmanager
    async def lent(self) -> AsyncIterator[Endpoint]:
        """Yield a bot for one call, as soon as one is free; who comes first gets the first."""
        bot = await self._free.get()
        try:
            yield bot
        finally:
            self._free.put_nowait(bot)


def _calls_at_once(bot: Endpoint) -> int:
    """Return how many calls a bot can take part in at once."""
    calls: object = bot.concurrent_calls if isinstance(bot, SeveralCalls) else 1
    if isinstance(calls, bool) or not isinstance(calls, int) or calls < 1:
        raise DefinitionError(
            f"concurrent_calls of the {bot.side} {bot.label} is {calls!r}; write how many calls it can take "
            "part in at once, such as 4, or leave it out"
        )
    return calls
