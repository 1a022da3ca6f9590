"""pipecat's OpenAI service, as an embedded bot needs it: for models behind any OpenAI-compatible endpoint."""

from __future__ import annotations

import re
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from typing import Any

import pytest_voiceeval.bots.pipecat_import  # noqa: F401 - before anything of pipecat's

# isort: split
from openai import AsyncOpenAI
from openai.types.chat import ChatCompletionChunk
from pipecat.frames.frames import FunctionCallFromLLM
from pipecat.processors.aggregators.llm_context import LLMContext
from pipecat.processors.frameworks.rtvi import RTVIServerMessageFrame
from pipecat.services.openai.llm import OpenAILLMService

from pytest_voiceeval.bots.attempts import Attempts
from pytest_voiceeval.bots.endpoint_failures import FAILURES, failure_of
from pytest_voiceeval.bots.http_client import client_for
from pytest_voiceeval.bots.model_access import ModelAccess
from pytest_voiceeval.bots.replies import Reply, pieces
from pytest_voiceeval.bots.tool_calls import MalformedArguments
from pytest_voiceeval.wire.notices import Notice

_MOST_CUTS = 2
"""Replies in a row that may break off after some of them was said, before the endpoint counts as failed."""

_ECHO_WORDS = 3
"""Words that a reply must have to count as an echo: two people may both say goodbye."""


class CountedOpenAILLMService(OpenAILLMService):
    """Asks again where that may help, understands servers of many makes, and tells what goes wrong.

    Its requests are counted, its connections closed.
    """

    def __init__(self, access: ModelAccess, **options: Any) -> None:
        self._access = access
        self._cuts = 0
        self._malformed: dict[str, MalformedArguments] = {}
        self._told_unstreamed = False
        settings = self.Settings(model=access.model, extra=dict(access.extra), **access.sampling)
        super().__init__(settings=settings, **options)

    def create_client(self, *_: Any, **__: Any) -> AsyncOpenAI:
        """Return a client for the endpoint."""
        return client_for(self._access)

    async def cleanup(self) -> None:
        """Release what the service holds."""
        await super().cleanup()  # type: ignore[no-untyped-call]
        await self._client.close()

    async def get_chat_completions(self, context: LLMContext) -> Any:
        """Return the chunks of one reply, as they come."""
        return self._chunks(context)

    async def run_function_calls(self, function_calls: Sequence[FunctionCallFromLLM]) -> None:
        """Make the calls of a reply; where the arguments of one are none, its tool is told so."""
        for call in function_calls:
            call.arguments = self._malformed.pop(call.tool_call_id, call.arguments)
        await super().run_function_calls(function_calls)

    async def _chunks(self, context: LLMContext) -> AsyncGenerator[ChatCompletionChunk]:
        attempts = Attempts(self._access, self._tell)
        while True:
            reply = Reply()
            try:
                async with aclosing(self._attempt(context, attempts, reply)) as chunks:
                    async for chunk in chunks:
                        yield chunk
            except FAILURES as exc:
                if not reply.said.strip():
                    await attempts.failed(exc)
                    continue
                await self._cut(attempts, reply, exc)
            else:
                self._cuts = 0
                await attempts.succeeded()
                await self._look_at(reply, context, attempts)
            return

    async def _attempt(
        self, context: LLMContext, attempts: Attempts, reply: Reply
    ) -> AsyncGenerator[ChatCompletionChunk]:
        stream = await attempts.within(super().get_chat_completions(context))
        try:
            async with aclosing(pieces(stream, reply)) as coming:
                while (piece := await attempts.within(anext(coming, None))) is not None:
                    for chunk in reply.feed(piece):
                        yield chunk
            for chunk in reply.end():
                yield chunk
        finally:
            await stream.close()

    async def _cut(self, attempts: Attempts, reply: Reply, exc: Exception) -> None:
        """Let what was said of a broken reply stand, for it cannot be unsaid.

        Raises:
            EndpointFailedError: if it is not the first one in a row.
        """
        self._cuts += 1
        told = f"{self._access.name} {failure_of(exc, self._access).text}, in the middle of a reply"
        if self._cuts >= _MOST_CUTS:
            await attempts.give_up(f"{told}, the second in a row")
        await attempts.note("cut", f"{told}; said was {self._access.shown(reply.said)!r}")

    async def _look_at(self, reply: Reply, context: LLMContext, attempts: Attempts) -> None:
        """Tell what is odd about a whole reply."""
        name = self._access.name
        for call in reply.calls:
            if isinstance(call.arguments, MalformedArguments):
                self._malformed[call.id] = call.arguments
                told = f"{name} called {call.name} with arguments that are no JSON object"
                await attempts.note("malformed-call", self._access.shown(f"{told}: {call.arguments.text}"))
        if reply.finish_reason is None and reply.said.strip() and not reply.in_one:
            told = f"{name} ended its stream without telling that the reply is over"
            await attempts.note("cut", f"{told}; said was {self._access.shown(reply.said)!r}")
        if reply.is_empty:
            thought = ", only reasoning" if reply.reasoned else ""
            hint = "; raise llm.max_tokens" if reply.finish_reason == "length" else ""
            await attempts.note(
                "empty", f"{name} gave an empty reply{thought} (finish_reason {reply.finish_reason}){hint}"
            )
        if reply.in_one and not self._told_unstreamed:
            self._told_unstreamed = True
            await attempts.note(
                "unstreamed", f"{name} does not stream: latencies are those of its whole replies"
            )
        if _echoes(reply.said, _last_heard(context)):
            said = self._access.shown(reply.said)
            await attempts.note("echo", f"{name} repeated what it had heard: {said!r}")

    async def _tell(self, notice: Notice) -> None:
        await self.push_frame(RTVIServerMessageFrame(data=notice.to_json()))


def _last_heard(context: LLMContext) -> str:
    """Return what the other side said last."""
    for message in reversed(context.get_messages()):
        if isinstance(message, dict) and message.get("role") == "user":
            content = message.get("content")
            return content if isinstance(content, str) else ""
    return ""


def _echoes(said: str, heard: str) -> bool:
    """Whether ``said`` is what was heard last, word by word."""
    words = re.findall(r"\w+", said.casefold())
    return len(words) >= _ECHO_WORDS and words == re.findall(r"\w+", heard.casefold())
