"""Clients for OpenAI-compatible endpoints, whose requests the call's clock counts."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import pytest_voiceeval.bots.pipecat_import  # noqa: F401 - before anything of pipecat's

# isort: split
from openai import AsyncOpenAI, DefaultAsyncHttpxClient, Timeout

from pytest_voiceeval.model.work import COUNTED, WorkCounter

if TYPE_CHECKING:
    from pytest_voiceeval.bots.endpoint_access import EndpointAccess

_THIS_MACHINE = {"127.0.0.1", "::1", "localhost"}

_module = next(c.__module__ for c in DefaultAsyncHttpxClient.__mro__ if c.__module__.startswith("httpx"))
TRANSPORT_ERRORS: tuple[type[Exception], ...] = (sys.modules[_module.split(".")[0]].TransportError,)
"""What the HTTP library below openai's client, httpx or httpx2, raises where a connection fails."""


class CountedHttpClient(DefaultAsyncHttpxClient):
    """An HTTP client whose requests the call's clock counts, from their sending to the end of the answer."""

    async def send(self, request: Any, *, stream: bool = False, **options: Any) -> Any:
        """Send ``request``; with ``stream``, the answer's body is still to come."""
        loop = asyncio.get_running_loop()
        if not isinstance(loop, WorkCounter):
            return await super().send(request, stream=stream, **options)
        work = _Work(loop)
        counted = COUNTED.set(True)
        try:
            response = await super().send(request, stream=stream, **options)
        except BaseException:
            work.end()
            raise
        finally:
            COUNTED.reset(counted)
        if not stream or response.is_closed:
            work.end()
            return response
        close = response.aclose

        async def end() -> None:
            try:
                await close()
            finally:
                work.end()

        response.aclose = end  # type: ignore[method-assign]  # of this one answer
        return response


def client_for(access: EndpointAccess) -> AsyncOpenAI:
    """Return a client for ``access`` that makes one attempt; a server on this machine is asked directly."""
    address = urlsplit(access.base_url)
    direct = address.hostname in _THIS_MACHINE
    return AsyncOpenAI(
        api_key=access.api_key,
        base_url=access.base_url,
        max_retries=0,
        timeout=Timeout(access.limits.whole, connect=access.limits.connect),
        http_client=CountedHttpClient(trust_env=not direct, verify=address.scheme != "http"),
    )


@contextmanager
def counted_work() -> Iterator[None]:
    """Have the call's clock count the body: what is waited for in it lies outside, so no time is skipped."""
    loop = asyncio.get_running_loop()
    work = _Work(loop) if isinstance(loop, WorkCounter) else None
    try:
        yield
    finally:
        if work is not None:
            work.end()


class _Work:
    """A piece of work that ends once."""

    def __init__(self, counter: WorkCounter) -> None:
        self._counter: WorkCounter | None = counter
        counter.begin_work()

    def end(self) -> None:
        if self._counter is not None:
            self._counter.end_work()
            self._counter = None
