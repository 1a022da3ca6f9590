from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

import aiohttp
import pytest
import pytest_asyncio
from openai import APIStatusError, AsyncOpenAI, BadRequestError, NotFoundError

from pytest_voiceeval.bots.rehearsal_server import Pace, RehearsalServer, Script, serve_scripts
from pytest_voiceeval.scenarios.rehearsal import REHEARSALS, Rehearsal, Say, Use

pytestmark = pytest.mark.asyncio

ORDER = {"items": [{"name": "Pizza", "price": "9.99"}], "total": "9.99"}
REHEARSAL = Rehearsal(
    user=(Say("I want a pizza."), Say("Goodbye.")),
    agent=(
        Say("Welcome. What would you like?"),
        Use("PlaceOrderTool", ORDER),
        Say("It is on the way."),
        Use("EndConversationTool"),
    ),
)
AGENT = "You sell pizza."
USER = "You want pizza."
SCRIPTS = [Script(AGENT, "agent", REHEARSAL), Script(USER, "user", REHEARSAL)]


@pytest_asyncio.fixture
async def client() -> AsyncIterator[AsyncOpenAI]:
    async with (
        serve_scripts(SCRIPTS) as url,
        AsyncOpenAI(base_url=url, api_key="none", max_retries=0) as openai,
    ):
        yield openai


def conversation(prompt: str, answered: int) -> list[Any]:
    messages: list[Any] = [{"role": "system", "content": prompt}]
    for _ in range(answered):
        messages += [{"role": "user", "content": "hm"}, {"role": "assistant", "content": "so"}]
    return [*messages, {"role": "user", "content": "Hello"}]


async def test_the_line_follows_from_the_number_of_assistant_messages(client: AsyncOpenAI) -> None:
    for number, line in enumerate(REHEARSAL.user):
        answer = await client.chat.completions.create(model="gold", messages=conversation(USER, number))
        assert isinstance(line, Say)
        assert answer.choices[0].message.content == line.text
        assert answer.choices[0].finish_reason == "stop"


async def test_a_repeated_request_gets_the_same_answer(client: AsyncOpenAI) -> None:
    ask = lambda: client.chat.completions.create(model="gold", messages=conversation(AGENT, 0))  # noqa: E731
    assert await ask() == await ask()


async def test_beyond_the_end_the_answer_is_empty(client: AsyncOpenAI) -> None:
    answer = await client.chat.completions.create(model="gold", messages=conversation(AGENT, 9))
    assert answer.choices[0].message.content == ""
    assert answer.choices[0].message.tool_calls is None


async def test_a_tool_call_comes_whole(client: AsyncOpenAI) -> None:
    answer = await client.chat.completions.create(model="gold", messages=conversation(AGENT, 1))
    assert answer.choices[0].finish_reason == "tool_calls"
    calls = answer.choices[0].message.tool_calls
    assert calls is not None
    assert [call.type for call in calls] == ["function"]
    assert calls[0].function.name == "PlaceOrderTool"  # type: ignore[union-attr]
    assert json.loads(calls[0].function.arguments) == ORDER  # type: ignore[union-attr]


async def test_text_streams_word_by_word_at_a_pace() -> None:
    pace = Pace(seconds_per_token=0.001)
    async with serve_scripts(SCRIPTS, pace=pace) as url, AsyncOpenAI(base_url=url, api_key="none") as client:
        stream = await client.chat.completions.create(
            model="gold", messages=conversation(AGENT, 0), stream=True
        )
        words = [chunk.choices[0].delta.content async for chunk in stream]
    assert [word for word in words if word] == ["Welcome.", " What", " would", " you", " like?"]


async def test_text_streams_in_pieces_with_usage_at_the_end(client: AsyncOpenAI) -> None:
    stream = await client.chat.completions.create(
        model="gold",
        messages=conversation(AGENT, 0),
        stream=True,
        stream_options={"include_usage": True},
    )
    chunks = [chunk async for chunk in stream]
    words = [c.choices[0].delta.content for c in chunks if c.choices and c.choices[0].delta.content]
    assert words == ["Welcome. What would you", " like?"]
    assert chunks[-2].choices[0].finish_reason == "stop"
    usage = chunks[-1].usage
    assert usage is not None
    assert usage.prompt_tokens > 0
    assert usage.completion_tokens > 0
    assert usage.total_tokens == usage.prompt_tokens + usage.completion_tokens


async def test_without_the_option_no_usage_is_streamed(client: AsyncOpenAI) -> None:
    stream = await client.chat.completions.create(model="gold", messages=conversation(AGENT, 0), stream=True)
    assert all(chunk.usage is None and chunk.choices for chunk in [chunk async for chunk in stream])


async def test_a_tool_call_streams_name_first_then_arguments(client: AsyncOpenAI) -> None:
    stream = await client.chat.completions.create(model="gold", messages=conversation(AGENT, 1), stream=True)
    pieces = [call async for chunk in stream for call in (chunk.choices[0].delta.tool_calls or ())]
    assert pieces[0].function is not None
    assert pieces[0].function.name == "PlaceOrderTool"
    arguments = "".join(piece.function.arguments or "" for piece in pieces if piece.function)
    assert json.loads(arguments) == ORDER


async def test_the_model_is_the_variant(client: AsyncOpenAI) -> None:
    mute = await client.chat.completions.create(model="mute", messages=conversation(AGENT, 0))
    assert mute.choices[0].message.content == ""
    idle = await client.chat.completions.create(model="do-nothing", messages=conversation(AGENT, 1))
    assert idle.choices[0].message.content == "It is on the way."


async def test_the_models_are_the_variants(client: AsyncOpenAI) -> None:
    assert [model.id async for model in client.models.list()] == list(REHEARSALS)
    assert (await client.models.retrieve("no-exit")).id == "no-exit"


async def test_a_prompt_with_a_suffix_still_fits(client: AsyncOpenAI) -> None:
    messages = conversation(f"{USER}\nSpeak in short sentences.", 1)
    answer = await client.chat.completions.create(model="gold", messages=messages)
    assert answer.choices[0].message.content == "Goodbye."


async def test_an_unknown_model_is_not_found_and_the_known_are_named(client: AsyncOpenAI) -> None:
    with pytest.raises(NotFoundError, match="gold, mute") as caught:
        await client.chat.completions.create(model="gpt-4", messages=conversation(AGENT, 0))
    assert caught.value.code == "model_not_found"


async def test_an_unknown_prompt_is_not_found_and_the_remedy_is_told(client: AsyncOpenAI) -> None:
    with pytest.raises(NotFoundError, match="Give the scenario a rehearsal"):
        await client.chat.completions.create(model="gold", messages=conversation("You are a cat.", 0))


async def test_no_messages_is_a_bad_request(client: AsyncOpenAI) -> None:
    with pytest.raises(BadRequestError, match="messages"):
        await client.chat.completions.create(model="gold", messages=[])


@pytest.mark.parametrize("body", ["", "[]", "{", '{"model": 3, "messages": "x"}', '{"messages": [{}]}'])
async def test_a_bad_body_is_answered_in_openais_shape(client: AsyncOpenAI, body: str) -> None:
    async with (
        aiohttp.ClientSession() as http,
        http.post(f"{client.base_url}chat/completions", data=body) as answer,
    ):
        assert answer.status == 400
        error = (await answer.json())["error"]
    assert error["type"] == "invalid_request_error"
    assert error["message"]


async def test_an_unknown_path_is_answered_in_openais_shape(client: AsyncOpenAI) -> None:
    with pytest.raises(APIStatusError, match="Not Found"):
        await client.embeddings.create(model="gold", input="x")


async def test_many_calls_at_once_do_not_mix() -> None:
    texts = [f"This is shop number {n}." for n in range(20)]
    scripts = [Script(text, "agent", Rehearsal((), (Say(text),))) for text in texts]
    async with (
        serve_scripts(scripts, pace=Pace(seconds_per_token=0.001)) as url,
        AsyncOpenAI(base_url=url, api_key="none") as openai,
    ):
        answers = await asyncio.gather(
            *(openai.chat.completions.create(model="gold", messages=conversation(t, 0)) for t in texts)
        )
    assert [answer.choices[0].message.content for answer in answers] == texts


async def test_a_cancelled_stream_leaves_the_server_sound() -> None:
    async with (
        serve_scripts(SCRIPTS, pace=Pace(seconds_per_token=0.05)) as url,
        AsyncOpenAI(base_url=url, api_key="none") as openai,
    ):
        stream = await openai.chat.completions.create(
            model="gold", messages=conversation(AGENT, 0), stream=True
        )
        async for _ in stream:
            await stream.close()
            break
        answer = await openai.chat.completions.create(model="gold", messages=conversation(AGENT, 0))
        assert answer.choices[0].message.content == "Welcome. What would you like?"


async def test_what_was_heard_tells_scenarios_with_one_prompt_apart() -> None:
    scripts = [
        Script(
            AGENT,
            "agent",
            Rehearsal((Say(f"I want a {dish} please."),), (Say("Welcome."), Say(f"One {dish}."))),
        )
        for dish in ("pepperoni pizza", "caesar salad")
    ]
    messages = [
        {"role": "system", "content": AGENT},
        {"role": "user", "content": "Hello"},
        {"role": "assistant", "content": "Welcome."},
        {"role": "user", "content": "I want a Caesar salad, please."},
    ]
    async with serve_scripts(scripts) as url, AsyncOpenAI(base_url=url, api_key="none") as openai:
        answer = await openai.chat.completions.create(model="gold", messages=messages)  # type: ignore[arg-type]
    assert answer.choices[0].message.content == "One caesar salad."


async def test_the_address_exists_only_while_it_runs() -> None:
    server = RehearsalServer(SCRIPTS)
    with pytest.raises(RuntimeError, match="async with"):
        _ = server.base_url
    async with server:
        assert server.base_url.startswith("http://127.0.0.1:")


async def test_a_pace_delays_the_first_token() -> None:
    loop = asyncio.get_running_loop()
    async with (
        serve_scripts(SCRIPTS, pace=Pace(seconds_to_first_token=0.2)) as url,
        AsyncOpenAI(base_url=url, api_key="none") as openai,
    ):
        start = loop.time()
        await openai.chat.completions.create(model="gold", messages=conversation(USER, 0))
        assert loop.time() - start >= 0.2
