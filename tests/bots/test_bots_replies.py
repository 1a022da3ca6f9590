"""Replies put together from pieces: those that make sense, and those that do not."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from model_double import chunk
from openai.types.chat import ChatCompletionChunk

from pytest_voiceeval.bots.endpoint_failures import UnusableAnswerError
from pytest_voiceeval.bots.replies import Reply, piece_of
from pytest_voiceeval.bots.tool_calls import MalformedArguments

TEXT = st.text(st.characters(), max_size=8)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=8,
)
FUNCTIONS = st.fixed_dictionaries({}, optional={"name": JSON, "arguments": JSON})
CALLS = st.fixed_dictionaries({}, optional={"index": JSON, "id": JSON, "function": FUNCTIONS | JSON})
DELTAS = st.fixed_dictionaries(
    {}, optional={"content": JSON, "tool_calls": st.lists(CALLS, max_size=3) | JSON, "reasoning": JSON}
)
CHOICES = st.fixed_dictionaries({}, optional={"delta": DELTAS | JSON, "finish_reason": JSON})
CHUNKS = st.fixed_dictionaries({}, optional={"choices": st.lists(CHOICES, max_size=2) | JSON, "usage": JSON})


def replied(chunks: Sequence[Any]) -> tuple[str, Reply]:
    """Return what pipecat gets to say of ``chunks``, as openai's client hands them over."""
    reply = Reply()
    given_on: list[ChatCompletionChunk] = []
    for content in chunks:
        built = ChatCompletionChunk.construct(**content) if isinstance(content, dict) else content
        given_on += reply.feed(piece_of(built))
    given_on += reply.end()
    said = "".join(c.delta.content or "" for piece in given_on for c in piece.choices)
    said.encode()  # it can be sent
    return said, reply


@given(st.lists(CHUNKS | JSON, max_size=4))
def test_whatever_comes_is_a_reply_or_told_to_be_none(chunks: list[Any]) -> None:
    try:
        said, reply = replied(chunks)
    except UnusableAnswerError:
        return
    assert said == reply.said
    assert all(f"{c.id}{c.name}{json.dumps(c.arguments, ensure_ascii=False)}".encode() for c in reply.calls)
    assert all(isinstance(call.arguments, dict) and call.id and call.name for call in reply.calls)


@given(st.text(max_size=30))
def test_any_arguments_are_an_object_or_told_to_be_none(arguments: str) -> None:
    part = {"index": 0, "id": "a", "function": {"name": "T", "arguments": arguments}}
    _, reply = replied([chunk("tool_calls", tool_calls=[part])])
    (call,) = reply.calls
    if isinstance(call.arguments, MalformedArguments):
        assert call.arguments.text == arguments
        assert call.arguments == {}


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (r'{"a\ud800": ["x\udfff"]}', {"a?": ["x?"]}),
        (r'{"a": "\ud83d\ude00"}', {"a": "😀"}),
        ('{"a": NaN}', {}),
    ],
)
def test_arguments_that_could_not_be_sent_are_made_so(arguments: str, expected: dict[str, Any]) -> None:
    part = {"index": 0, "id": "a", "function": {"name": "T", "arguments": arguments}}
    said, reply = replied([chunk("tool_calls", content="x\ud800", tool_calls=[part])])
    assert said == "x?"
    assert reply.calls[0].arguments == expected


def test_a_text_that_comes_in_parts_is_said_and_its_thoughts_are_not() -> None:
    parts = [
        {"type": "thinking", "thinking": [{"type": "text", "text": "Hm."}]},
        {"type": "text", "text": "Hi."},
    ]
    said, reply = replied([chunk("stop", content=parts)])
    assert (said, reply.reasoned) == ("Hi.", True)


@pytest.mark.parametrize("usage", [None, "many", {"prompt_tokens": "x"}])
def test_a_usage_that_makes_no_sense_is_passed_over(usage: Any) -> None:
    assert replied([chunk(content="Hi."), {**chunk("stop"), "usage": usage}])[0] == "Hi."


def test_usage_is_handed_on_once_the_last_one_that_came() -> None:
    reply = Reply()
    usage = {"prompt_tokens": 5, "completion_tokens": 1, "total_tokens": 6}
    for tokens in (1, 2):
        told = {**chunk(content="a"), "usage": {**usage, "completion_tokens": tokens}}
        list(reply.feed(piece_of(told)))
    found = [piece.usage for piece in reply.end() if piece.usage]
    assert [(u.prompt_tokens, u.completion_tokens) for u in found] == [(5, 2)]
