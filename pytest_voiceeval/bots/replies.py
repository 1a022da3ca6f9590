"""A model's reply as it comes, and what of it is said and done: for servers of many makes."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, Iterator, Mapping
from typing import Any

from openai import AsyncStream
from openai.types import CompletionUsage
from openai.types.chat import ChatCompletionChunk
from pydantic import BaseModel, ConfigDict, ValidationError

from pytest_voiceeval.bots.endpoint_failures import UnusableAnswerError
from pytest_voiceeval.bots.reasoning import SpokenText
from pytest_voiceeval.bots.tool_calls import CallPart, CompleteCall, ToolCalls, sendable

_STREAMS = {"text/event-stream", "text/plain", "application/octet-stream", "application/x-ndjson", ""}
_WHOLE = "application/json"


class _Lenient(BaseModel):
    model_config = ConfigDict(extra="ignore")


class _Part(_Lenient):
    type: str = ""
    text: str | None = None


class _Delta(_Lenient):
    content: str | list[_Part] | None = None
    reasoning: Any = None
    reasoning_content: Any = None
    tool_calls: list[CallPart] | None = None

    @property
    def text(self) -> str:
        """What is to be said, whether it comes as a text or as a list of parts."""
        if isinstance(self.content, list):
            return "".join(part.text or "" for part in self.content if part.type == "text")
        return self.content or ""

    @property
    def is_reasoned(self) -> bool:
        """Whether there is a thought in it that is told apart from what is said."""
        parts = self.content if isinstance(self.content, list) else []
        told_apart = any(part.type in {"thinking", "reasoning"} for part in parts)
        return bool(self.reasoning or self.reasoning_content) or told_apart


class _Choice(_Lenient):
    delta: _Delta | None = None
    message: _Delta | None = None
    finish_reason: str | None = None


class Piece(_Lenient):
    """What came of a reply at once: a chunk of a stream, or the whole."""

    model: str | None = None
    choices: list[_Choice] | None = None
    usage: Any = None


class Reply:
    """One reply: takes its pieces, and gives them back as pipecat understands them.

    Attributes:
        said: what of it was given to be said.
        calls: its tool calls, once it is over.
        finish_reason: why it is over; ``None`` as long as that was not told.
        came: whether anything of it came.
        reasoned: whether the model thought aloud, where nobody hears it.
        in_one: whether it came in one piece.
    """

    def __init__(self) -> None:
        self.said = ""
        self.calls: list[CompleteCall] = []
        self.finish_reason: str | None = None
        self.came = False
        self.in_one = False
        self._has_reasoning = False
        self._text = SpokenText()
        self._calls = ToolCalls()
        self._usage: CompletionUsage | None = None

    @property
    def reasoned(self) -> bool:
        """Whether the model thought aloud."""
        return self._has_reasoning or self._text.has_thought

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing in it to be said or done."""
        return not self.said.strip() and not self.calls

    def feed(self, piece: Piece) -> Iterator[ChatCompletionChunk]:
        """Yield what of ``piece`` is to be said at once."""
        self._usage = _usage(piece.usage) or self._usage
        for choice in (piece.choices or ())[:1]:
            self.came = True
            self.finish_reason = choice.finish_reason or self.finish_reason
            delta = choice.delta or choice.message or _Delta()
            self._has_reasoning |= delta.is_reasoned
            self._calls.add(delta.tool_calls or ())
            if delta.text:
                yield from self._say(self._text.feed(delta.text))

    def end(self) -> Iterator[ChatCompletionChunk]:
        """Yield what is left of the reply when nothing more comes: its last words, its calls, its usage.

        Raises:
            UnusableAnswerError: if it broke off before it was told to be over, and nothing of it was said.
        """
        calls = self._calls.complete()
        yield from self._say(self._text.end())
        if self.finish_reason is None and not self.said.strip():
            if not self.came:
                raise UnusableAnswerError("the stream ended, and nothing of a reply was in it", again=True)
            if not calls:
                raise UnusableAnswerError("the stream ended before the reply did", again=True)
        self.calls = calls
        for number, call in enumerate(calls):
            function = {"name": call.name, "arguments": json.dumps(dict(call.arguments))}
            yield _chunk({"tool_calls": [{"index": number, "id": call.id, "function": function}]})
        if self._usage is not None:
            yield _chunk(None, self._usage)

    def _say(self, text: str) -> Iterator[ChatCompletionChunk]:
        if text:
            words = sendable(text)
            self.said += words
            yield _chunk({"content": words})


def _chunk(delta: Mapping[str, Any] | None, usage: CompletionUsage | None = None) -> ChatCompletionChunk:
    choices = [] if delta is None else [{"index": 0, "delta": delta, "finish_reason": None}]
    return ChatCompletionChunk.model_validate(
        {
            "id": "",
            "object": "chat.completion.chunk",
            "created": 0,
            "model": "",
            "choices": choices,
            "usage": usage,
        }
    )


def _usage(value: Any) -> CompletionUsage | None:
    """Return the tokens that a piece reports; ``None`` if it does not, or none that make sense."""
    try:
        return None if value is None else CompletionUsage.model_validate(value)
    except ValidationError:
        return None


async def pieces(stream: AsyncStream[ChatCompletionChunk], reply: Reply) -> AsyncGenerator[Piece]:
    """Yield the pieces of a reply, also of one that comes whole although a stream was asked for.

    Raises:
        UnusableAnswerError: if it is no reply.
    """
    response = stream.response
    kind = response.headers.get("content-type", "").partition(";")[0].strip().casefold()
    if kind == _WHOLE:
        reply.in_one = True
        yield _whole((await response.aread()).decode("utf-8", "replace"))
    elif kind in _STREAMS:
        async for chunk in stream:
            yield piece_of(chunk)
    else:
        text = (await response.aread()).decode("utf-8", "replace")
        raise UnusableAnswerError(
            f"it answered {response.status_code} with {kind}, which is no chat completion: {text}",
            again=False,
            remedy="see that llm.base_url leads to the API, up to and with /v1, and not to a page",
        )


def piece_of(chunk: object) -> Piece:
    """Return what a chunk of a stream has of a reply.

    Raises:
        UnusableAnswerError: if it is none.
    """
    try:
        if isinstance(chunk, ChatCompletionChunk):
            return Piece.model_validate(chunk.to_dict(warnings=False))
        return Piece.model_validate(chunk)
    except ValidationError as exc:
        raise _no_piece(exc, repr(chunk)) from None


def _whole(text: str) -> Piece:
    try:
        content = json.loads(text)
    except (ValueError, RecursionError) as exc:
        raise UnusableAnswerError(f"it answered with what is no JSON ({exc}): {text}", again=True) from None
    if isinstance(content, dict) and content.get("error") and not content.get("choices"):
        raise UnusableAnswerError(f"it answered with an error: {json.dumps(content['error'])}", again=True)
    try:
        piece = Piece.model_validate(content)
    except ValidationError as exc:
        raise _no_piece(exc, text) from None
    if not piece.choices:
        raise UnusableAnswerError(
            f"it answered with JSON that is no chat completion: {text}",
            again=False,
            remedy="see that llm.base_url leads to an OpenAI-compatible API",
        )
    return piece


def _no_piece(exc: ValidationError, text: str) -> UnusableAnswerError:
    first = exc.errors()[0]
    where = ".".join(str(part) for part in first["loc"]) or "it"
    return UnusableAnswerError(f"it sent no chat completion ({where}: {first['msg']}): {text}", again=True)
