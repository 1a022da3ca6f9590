"""pipecat's OpenAI service, as an embedded bot needs it."""

from __future__ import annotations

import asyncio
from typing import Any
from urllib.parse import urlsplit

import pytest_voiceeval.bots.pipecat_import  # noqa: F401 - before anything of pipecat's

# isort: split
from openai import AsyncOpenAI, DefaultAsyncHttpxClient
from pipecat.services.openai.llm import OpenAILLMService

from pytest_voiceeval.model.work import COUNTED, WorkCounter

_THIS_MACHINE = {"127.0.0.1", "::1", "localhost"}


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


class CountedOpenAILLMService(OpenAILLMService):
    """Its requests are counted, its connections closed; a server on this machine is asked directly."""

    def create_client(self, *args: Any, **options: Any) -> AsyncOpenAI:
        """Return a client for the ``base_url`` among ``options``."""
        url, key = options.get("base_url"), options.get("api_key")
        address = urlsplit(url or "")
        direct = address.hostname in _THIS_MACHINE
        client = CountedHttpClient(trust_env=not direct, verify=address.scheme != "http")
        return AsyncOpenAI(api_key=key, base_url=url, http_client=client)

    async def cleanup(self) -> None:
        """Release what the service holds."""
        await super().cleanup()  # type: ignore[no-untyped-call]
        await self._client.close()


class _Work:
    """A piece of work that ends once."""

    def __init__(self, counter: WorkCounter) -> None:
        self._counter: WorkCounter | None = counter
        counter.begin_work()

    def end(self) -> None:
        if self._counter is not None:
            self._counter.end_work()
            self._counter = None
