"""Asking an endpoint until it answers, within its limits.

openai's client could repeat requests by itself. It would not know of an answer that breaks off after it has
begun, wait for two minutes where a call has one, and tell nobody; so here it makes one attempt at a time.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable
from typing import TypeVar

from loguru import logger

from pytest_voiceeval.bots.endpoint_access import EndpointAccess
from pytest_voiceeval.bots.endpoint_failures import FAILURES, UnusableAnswerError, failure_of
from pytest_voiceeval.bots.http_client import counted_work
from pytest_voiceeval.wire.notices import Notice, NoticeKind

T = TypeVar("T")

Tell = Callable[[Notice], Awaitable[None]]
"""Tells the bridge something of an endpoint."""

FIRST_DELAY_SECONDS = 0.5
LONGEST_DELAY_SECONDS = 8.0
JITTER = 0.25
"""A delay is shorter than its full length by up to this share, so that not all callers come back at once."""


class EndpointFailedError(Exception):
    """An endpoint failed for good; the text says which and why, without its key."""


class Attempts:
    """The attempts at one answer.

    The first follows when this is made; ``failed`` waits for the time of the next one, or gives up.
    """

    def __init__(self, access: EndpointAccess, tell: Tell) -> None:
        self._access = access
        self._tell = tell
        self._loop = asyncio.get_running_loop()
        self._begun = self._loop.time()
        self._number = 1

    async def within(self, step: Awaitable[T]) -> T:
        """Return what ``step`` of an attempt gives, if it does in time.

        Raises:
            UnusableAnswerError: if it does not.
        """
        limits = self._access.limits
        left = self._begun + limits.whole - self._loop.time()
        try:
            async with asyncio.timeout(min(left, limits.first)):
                return await step
        except TimeoutError:
            told = f"nothing came for {limits.first:g} s ({self._access.section}.first_timeout_seconds)"
            if left < limits.first:
                told = f"not done within {limits.whole:g} s ({self._access.section}.timeout_seconds)"
            raise UnusableAnswerError(told, again=True) from None

    async def failed(self, exc: Exception) -> None:
        """Wait until the next attempt may be made, after one came to ``exc``.

        Raises:
            EndpointFailedError: if none may; the bridge is told.
        """
        limits = self._access.limits
        failure = failure_of(exc, self._access)
        delay = delay_seconds(self._number, failure.retry_after, random.random())
        left = self._begun + limits.whole - self._loop.time()
        told = f"{self._access.name} {failure.text}"
        if not failure.again:
            await self.give_up(f"{told}{self._after()}; {failure.remedy}" if failure.remedy else told)
        if self._number > limits.retries:
            await self.give_up(f"{told}{self._after()}")
        if delay >= left:
            await self.give_up(
                f"{told}{self._after()}; the next would come {delay:.1f} s later, and "
                f"{self._access.section}.timeout_seconds ({limits.whole:g}) leaves {max(left, 0):.1f} s"
            )
        await self.note("retry", f"{told}; attempt {self._number + 1} follows in {delay:.1f} s")
        with counted_work():
            await asyncio.sleep(delay)
        self._number += 1

    async def succeeded(self) -> None:
        """Take note that an attempt came to an answer."""
        if self._number > 1:
            await self.note("recovered", f"{self._access.name} answered attempt {self._number}")

    async def give_up(self, text: str) -> None:
        """Tell the bridge that the endpoint failed for good.

        Raises:
            EndpointFailedError: always.
        """
        await self.note("failed", text)
        raise EndpointFailedError(text)

    async def note(self, kind: NoticeKind, text: str) -> None:
        """Tell the bridge, and the log."""
        logger.warning(f"{kind}: {text}")
        await self._tell(Notice(kind=kind, text=text))

    def _after(self) -> str:
        if self._number == 1:
            return ""
        return f", at attempt {self._number} of {self._access.limits.retries + 1}"


def delay_seconds(number: int, asked_for: float | None, luck: float) -> float:
    """Return the seconds until the attempt after ``number``: as asked for, else twice as many each time.

    Args:
        number: of the attempt that failed, from 1.
        asked_for: what the endpoint asks to wait; ``None`` or 0 if it does not.
        luck: from 0 to 1, which makes it shorter.
    """
    if asked_for:
        return asked_for
    full = min(FIRST_DELAY_SECONDS * 2.0 ** (number - 1), LONGEST_DELAY_SECONDS)
    return full * (1 - JITTER * luck)


async def answered(access: EndpointAccess, tell: Tell, attempt: Callable[[Attempts], Awaitable[T]]) -> T:
    """Return the answer of the first ``attempt`` that comes to one.

    Raises:
        EndpointFailedError: if none does.
    """
    attempts = Attempts(access, tell)
    while True:
        try:
            answer = await attempt(attempts)
        except FAILURES as exc:
            await attempts.failed(exc)
        else:
            await attempts.succeeded()
            return answer
