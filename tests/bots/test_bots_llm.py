"""The model's service by itself: what it asks, what it makes of replies, how it waits."""

from __future__ import annotations

import asyncio
import math
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from model_calls import KEY, access
from model_double import Act, ModelDouble, chunk, hang, says, status, streamed, uses, words
from openai import APITimeoutError

from pytest_voiceeval.bots import attempts as attempts_module
from pytest_voiceeval.bots.attempts import EndpointFailedError
from pytest_voiceeval.bots.endpoint_failures import failure_of, retry_after
from pytest_voiceeval.bots.http_client import counted_work
from pytest_voiceeval.bots.llm import CountedOpenAILLMService
from pytest_voiceeval.bots.model_access import model_access
from pytest_voiceeval.bots.profile import load_profile
from pytest_voiceeval.bots.profile_hosted import OpenAiLlm
from pytest_voiceeval.bridge.clock import MeasuredClock
from pytest_voiceeval.bridge.measured import MeasuredLoop
from pytest_voiceeval.testing import VirtualClock

# isort: split
from pipecat.processors.aggregators.llm_context import LLMContext
from pipecat.processors.frameworks.rtvi import RTVIServerMessageFrame


class Service(CountedOpenAILLMService):
    """Keeps what it tells; nothing is behind it."""

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self.told: list[dict[str, Any]] = []

    async def push_frame(self, frame: Any, *_: Any) -> None:
        if isinstance(frame, RTVIServerMessageFrame):
            self.told.append(frame.data)

    @property
    def kinds(self) -> list[str]:
        return [notice["kind"] for notice in self.told]

    async def reply(self, heard: str = "Hi.") -> tuple[str, list[tuple[str, str]]]:
        """Return what of one reply is said, and its calls."""
        said, calls = "", []
        context = LLMContext([{"role": "user", "content": heard}])
        async for piece in await self.get_chat_completions(context):
            for choice in piece.choices:
                said += choice.delta.content or ""
                calls += [(c.function.name, c.function.arguments) for c in choice.delta.tool_calls or ()]
        return said, calls


@asynccontextmanager
async def service(*acts: Act, **fields: Any) -> AsyncIterator[tuple[Service, ModelDouble]]:
    async with ModelDouble(*acts) as double:
        made = Service(access(double.base_url, **fields))
        try:
            yield made, double
        finally:
            await made._client.close()


def replies(
    *acts: Act, heard: str = "Hi.", count: int = 1, **fields: Any
) -> tuple[Any, Service, ModelDouble]:
    """Return the last of ``count`` replies, or why there is none, on virtual time."""

    async def ask() -> tuple[Any, Service, ModelDouble]:
        async with service(*acts, **fields) as (made, double):
            found: Any = None
            for _ in range(count):
                try:
                    found = await made.reply(heard)
                except EndpointFailedError as exc:
                    found = exc
            return found, made, double

    return VirtualClock().run(ask())


def call(index: int | None, key: str | None, name: str | None, arguments: Any) -> dict[str, Any]:
    return {"index": index, "id": key, "function": {"name": name, "arguments": arguments}}


TWO = [("First", '{"a": 1}'), ("Second", '{"b": 2}')]
A, B = '{"a": 1}', '{"b": 2}'


@pytest.mark.parametrize(
    "chunks",
    [
        [[call(0, "x", "First", '{"a"')], [call(0, None, None, ": 1}")], [call(1, "y", "Second", B)]],
        [
            [call(0, "x", "First", '{"a"'), call(1, "y", "Second", '{"b"')],
            [call(1, None, None, ":2}"), call(0, None, None, ":1}")],
        ],
        [[call(None, "x", "First", A), call(None, "y", "Second", B)]],
        [[call(None, "x", "First", '{"a"')], [call(None, None, None, ":1}")], [call(None, "y", "Second", B)]],
        [[call(None, None, "First", {"a": 1})], [call(None, None, "Second", {"b": 2})]],
        [[call(0, "x", "First", A)], [call(0, "y", "Second", B)]],
        [[call(0, "x", "First", '{"a"')], [call(0, "x", "First", ": 1}")], [call(3, "y", "Second", B)]],
        [[call(0, None, "First", A)], [call(1, None, "Second", B)]],
        [[call(0, "x", "Fir", None)], [call(0, None, "st", A)], [call(1, "x", "Second", B)]],
    ],
)
def test_calls_are_put_together_however_they_come(chunks: list[list[dict[str, Any]]]) -> None:
    (said, calls), made, _ = replies(streamed(*(chunk(tool_calls=c) for c in chunks), chunk("tool_calls")))
    assert (said, calls) == ("", TWO)
    assert made.kinds == []


def test_words_and_calls_of_one_chunk_are_both_taken() -> None:
    both = chunk("tool_calls", content="One moment.", tool_calls=[call(0, "x", "First", '{"a": 1}')])
    assert replies(streamed(both))[0] == ("One moment.", TWO[:1])


def test_every_call_has_an_id_of_its_own() -> None:
    async def ids() -> list[str]:
        same = [call(0, None, "A", ""), call(1, "x", "B", ""), call(2, "x", "C", ""), call(3, "", "D", "")]
        async with service(uses(chunk(tool_calls=same))) as (made, _):
            pieces = [piece async for piece in await made.get_chat_completions(LLMContext([]))]
            return [c.id for p in pieces for choice in p.choices for c in choice.delta.tool_calls or ()]

    found = VirtualClock().run(ids())
    assert len(set(found)) == 4
    assert all(found)
    assert found[1] == "x"


def test_the_second_break_in_a_row_is_a_failure_and_a_whole_reply_between_forgives() -> None:
    broken = streamed(*words("I am"), cut=True)
    found, made, _ = replies(broken, says("Good."), broken, broken, count=4)
    assert made.kinds == ["cut", "cut", "failed"]
    assert "in the middle of a reply, the second in a row" in str(found)


@pytest.mark.parametrize(
    ("said", "heard", "is_echo"),
    [
        ("Your table is booked.", "your table is booked", True),
        ("Your table is booked.", "Your table is not booked.", False),
        ("Good bye.", "Good bye.", False),
    ],
)
def test_a_reply_that_repeats_what_was_heard_is_noted_and_said(said: str, heard: str, is_echo: bool) -> None:
    (found, _), made, _ = replies(says(said), heard=heard)
    assert found.strip() == said
    assert made.kinds == (["echo"] if is_echo else [])


def test_a_stream_that_ends_without_telling_that_the_reply_is_over_is_noted() -> None:
    (said, _), made, _ = replies(streamed(*words("One moment")))
    assert said.strip() == "One moment"
    assert made.kinds == ["cut"]
    assert "ended its stream without telling that the reply is over" in made.told[0]["text"]


def test_a_stream_that_stalls_in_the_middle_is_a_broken_one() -> None:
    (said, _), made, _ = replies(streamed(*words("One moment")[1:], pause=1000.0))
    assert said == "One "
    assert made.kinds == ["cut"]
    assert "nothing came for 20 s (llm.first_timeout_seconds), in the middle" in made.told[0]["text"]


def test_a_slow_stream_that_never_pauses_long_ends_at_the_limit_of_an_answer() -> None:
    (said, _), made, double = replies(streamed(*words("a b c d e f g h"), pause=10.0), first=20.0, whole=60.0)
    assert said.split() == ["a", "b", "c", "d", "e"]
    assert made.kinds == ["cut"]
    assert len(double.bodies) == 1


def test_a_profiles_fields_go_into_the_request(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_KEY", f" {KEY}\n")
    llm = OpenAiLlm(
        service="openai",
        model="m",
        api_key_env="SOME_KEY",
        temperature=0.5,
        top_p=0.9,
        seed=7,
        max_tokens=100,
        max_completion_tokens=200,
        reasoning_effort="low",
        extra_body={"top_k": 20, "chat_template_kwargs": {"enable_thinking": False}},
    )

    async def ask() -> tuple[dict[str, Any], dict[str, Any]]:
        async with ModelDouble(says("Hello.")) as double:
            profile = load_profile("local").model_copy(
                update={"llm": llm.model_copy(update={"base_url": double.base_url})}
            )
            async with model_access(profile, "agent", []) as found:
                made = Service(found)
                await made.reply()
                await made._client.close()
            return double.bodies[0], dict(double.headers[0])

    body, headers = VirtualClock().run(ask())
    assert headers["Authorization"] == f"Bearer {KEY}"
    assert {name: body[name] for name in ("temperature", "top_p", "seed", "max_tokens")} == {
        "temperature": 0.5,
        "top_p": 0.9,
        "seed": 7,
        "max_tokens": 100,
    }
    assert body["max_completion_tokens"] == 200
    assert body["reasoning_effort"] == "low"
    assert body["top_k"] == 20
    assert body["chat_template_kwargs"] == {"enable_thinking": False}
    assert "extra_body" not in body


def test_nobody_listening_is_told_and_tried_again() -> None:
    async def ask() -> tuple[str, list[str]]:
        async with ModelDouble(hang) as double:
            gone = double.base_url
        made = Service(access(gone, retries=1))
        with pytest.raises(EndpointFailedError) as caught:
            await made.reply()
        await made._client.close()
        return str(caught.value), made.kinds

    told, kinds = MeasuredClock().run(ask())
    assert "could not be reached: ConnectError" in told
    assert kinds == ["retry", "failed"]


def test_a_break_before_the_next_attempt_is_no_idleness_that_a_clock_may_skip() -> None:
    async def at_work() -> tuple[int, int]:
        loop = asyncio.get_running_loop()
        assert isinstance(loop, MeasuredLoop)
        with counted_work():
            inside = loop.at_work
        return inside, loop.at_work

    assert MeasuredClock().run(at_work()) == (1, 0)


def test_an_answer_that_is_interrupted_is_no_work_any_more() -> None:
    async def interrupt() -> tuple[int, int]:
        loop = asyncio.get_running_loop()
        assert isinstance(loop, MeasuredLoop)
        async with service(streamed(*words("One two three"), pause=0.5)) as (made, _):
            coming = made._chunks(LLMContext([]))
            await anext(coming)
            during = loop.at_work
            await coming.aclose()
            return during, loop.at_work

    assert MeasuredClock().run(interrupt()) == (1, 0)


@given(st.integers(1, 60), st.floats(0, 1, exclude_max=True))
def test_delays_double_up_to_a_limit_and_come_a_little_early(number: int, luck: float) -> None:
    full = min(0.5 * 2 ** (number - 1), 8.0)
    delay = attempts_module.delay_seconds(number, None, luck)
    assert 0.75 * full <= delay <= full
    assert attempts_module.delay_seconds(number, 3.5, luck) == 3.5


NOW = datetime(2025, 1, 1, 12, 0, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, None),
        ({"retry-after": "3"}, 3.0),
        ({"retry-after": "2.5"}, 2.5),
        ({"retry-after-ms": "1500", "retry-after": "9"}, 1.5),
        ({"retry-after": "Wed, 01 Jan 2025 12:00:30 GMT"}, 30.0),
        ({"retry-after": "Wed, 01 Jan 2025 11:00:00 GMT"}, 0.0),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "-5"}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "inf"}, None),
    ],
)
def test_retry_after_is_read(headers: dict[str, str], seconds: float | None) -> None:
    assert retry_after(headers, NOW) == seconds


@given(st.text(), st.floats())
def test_nothing_in_a_header_breaks_the_reading(text: str, number: float) -> None:
    for value in (text, str(number)):
        found = retry_after({"retry-after": value}, NOW)
        assert found is None or (math.isfinite(found) and found >= 0)


def test_a_busy_endpoint_is_asked_no_more_than_its_retries() -> None:
    found, made, double = replies(status(503), retries=2)
    assert isinstance(found, EndpointFailedError)
    assert len(double.bodies) == 3
    assert made.kinds == ["retry", "retry", "failed"]


def test_a_connection_that_is_not_made_in_time_is_told_with_the_limit() -> None:
    class ConnectTimeout(Exception):
        pass

    exc = APITimeoutError(request=None)  # type: ignore[arg-type]
    exc.__cause__ = ConnectTimeout()
    failure = failure_of(exc, access("http://10.0.0.1/v1", connect=2.5))
    assert failure.text == "could not be reached within 2.5 s (llm.connect_timeout_seconds)"
    assert failure.again
