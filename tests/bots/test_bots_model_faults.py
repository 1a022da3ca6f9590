"""Faults of a model's endpoint, each against an HTTP double: whose they are, which endpoint, what it said."""

from __future__ import annotations

import json
from typing import Any

import pytest
from aiohttp import web
from model_calls import KEY, call, call_with_agent
from model_double import (
    END,
    GOODBYE,
    Act,
    body,
    chunk,
    hang,
    says,
    status,
    streamed,
    tool,
    uses,
    words,
)

from pytest_voiceeval.bots.profile_local import RehearsalLlm
from pytest_voiceeval.errors import ModelEndpointError
from pytest_voiceeval.model.conversation import Conversation
from pytest_voiceeval.model.stop_reason import StopReason
from pytest_voiceeval.scenarios.prompts import CALLER_RULES

ERROR_EVENT = {"error": {"message": "the engine is dead", "code": 500}}


def failing(*acts: Act, **fields: Any) -> tuple[str, Conversation]:
    """Return what a call is told to have come to, and what there is of it."""
    kept: list[Conversation] = []
    with pytest.raises(ModelEndpointError) as caught:
        call(*acts, on_interrupt=kept.append, **fields)
    told = str(caught.value)
    assert KEY not in told
    assert "the agent's side could not go on" in told
    assert "model 'm' at http://127.0.0.1:" in told
    assert "/v1/chat/completions" in told
    return told, kept[0]


def said(conversation: Conversation) -> list[str]:
    return [turn.text for turn in conversation.turns if turn.text]


@pytest.mark.parametrize(
    ("code", "told"),
    [
        (401, "answered 401 Unauthorized: no; set the environment variable THE_KEY to a key that it takes"),
        (403, "answered 403 Forbidden: no; the key that the environment variable THE_KEY holds may not use"),
        (404, "answered 404 Not Found: no; see to llm.model, and that llm.base_url ends where /chat/compl"),
        (400, "answered 400 Bad Request: no; see to llm.model and to what else llm puts into a request"),
    ],
)
def test_a_request_that_is_refused_is_told_at_once_with_what_to_do(code: int, told: str) -> None:
    found, conversation = failing(status(code))
    assert told in found
    assert conversation.agent.notices == {"failed": 1}
    assert conversation.duration_seconds < 3


def test_an_endpoint_that_wants_a_key_where_the_profile_has_none_is_told() -> None:
    told, _ = failing(status(401), key_env=None)
    assert "it wants a key: put one into an environment variable, whose name is llm.api_key_env" in told


def test_an_endpoint_that_shows_the_key_does_not_have_it_repeated() -> None:
    told, conversation = failing(status(401, f"no such key: {KEY}"))
    assert "no such key: <redacted>" in told
    assert KEY not in "\n".join(conversation.events)


@pytest.mark.parametrize("code", [429, 500, 503])
def test_one_that_is_busy_is_asked_again_and_the_call_passes(code: int) -> None:
    conversation, double = call(status(code), status(code), GOODBYE)
    assert conversation.stop_reason is StopReason.EXIT
    assert said(conversation) == ["Thank you and goodbye."]
    assert conversation.agent.notices == {"retry": 2, "recovered": 1}
    assert any(f"answered {code}" in line for line in conversation.events)
    first, second, third = double.times
    assert 0.375 <= second - first < 0.6
    assert 0.75 <= third - second < 1.1


def test_retry_after_is_kept_to() -> None:
    _, double = call(status(429, Retry_After="7"), GOODBYE)
    assert double.times[1] - double.times[0] == pytest.approx(7, abs=0.1)


def test_one_that_asks_to_wait_longer_than_an_answer_may_take_has_failed() -> None:
    told, conversation = failing(status(429, Retry_After="3600"))
    assert "the next would come 3600.0 s later, and llm.timeout_seconds (60) leaves" in told
    assert conversation.agent.notices == {"failed": 1}


def test_a_used_up_quota_is_no_rush_hour() -> None:
    async def refuse(_: web.Request) -> web.StreamResponse:
        told = {"error": {"message": "no credit", "code": "insufficient_quota"}}
        return web.json_response(told, status=429)

    told, conversation = failing(refuse)
    assert "no credit; its quota is used up" in told
    assert "retry" not in conversation.agent.notices


def test_one_that_is_broken_for_ever_fails_after_its_retries() -> None:
    told, conversation = failing(status(500, "kaput"), retries=3)
    assert "answered 500 Internal Server Error: kaput, at attempt 4 of 4" in told
    assert conversation.agent.notices == {"retry": 3, "failed": 1}


def test_one_that_hangs_fails_within_the_limit_of_an_answer() -> None:
    told, conversation = failing(hang)
    assert "failed: not done within 60 s (llm.timeout_seconds), at attempt 3 of 5" in told
    assert conversation.agent.notices == {"retry": 2, "failed": 1}
    assert any("nothing came for 20 s (llm.first_timeout_seconds)" in line for line in conversation.events)
    assert 60 <= conversation.duration_seconds < 63


def test_one_that_drops_connections_is_told() -> None:
    async def drop(request: web.Request) -> web.StreamResponse:
        assert request.transport is not None
        request.transport.abort()
        return web.Response()

    told, conversation = failing(drop, retries=1)
    assert "broke off: " in told
    assert "at attempt 2 of 2" in told
    assert conversation.agent.notices == {"retry": 1, "failed": 1}


def test_a_stream_that_breaks_before_the_first_word_is_asked_for_again() -> None:
    conversation, double = call(
        streamed(chunk(role="assistant", content=""), cut=True),
        streamed(chunk(content="<think>so"), cut=True),
        streamed(tool("EndConversationTool", '{"a'), cut=True),
        streamed(done=False),
        streamed(ERROR_EVENT),
        GOODBYE,
        retries=5,
    )
    assert said(conversation) == ["Thank you and goodbye."]
    assert conversation.agent.notices == {"retry": 5, "recovered": 1}
    assert len(double.bodies) == 6


@pytest.mark.parametrize("last", [{"cut": True}, {"done": False}])
def test_a_stream_that_breaks_after_some_words_lets_them_stand_and_says_nothing_twice(
    last: dict[str, bool],
) -> None:
    broken = streamed(*words("Good morning. I am"), *([] if last.get("cut") else [ERROR_EVENT]), **last)
    conversation, double = call(broken, inactivity_timeout=20.0)
    assert "".join(said(conversation)).split() == ["Good", "morning.", "I", "am"]
    assert conversation.stop_reason is StopReason.INACTIVITY
    assert conversation.agent.notices == {"cut": 1}
    assert len(double.bodies) == 1
    assert any("in the middle of a reply; said was" in line for line in conversation.events)


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ("{message: 1", "not JSON"),
        ('["x"]', "JSON, but list where an object is wanted"),
        ('"x"', "JSON, but str where an object is wanted"),
    ],
)
def test_malformed_arguments_come_back_to_the_model_which_can_go_on(arguments: str, told: str) -> None:
    conversation, double = call(uses(tool("SendRTVIMessageTool", arguments)), GOODBYE)
    assert conversation.stop_reason is StopReason.EXIT
    assert conversation.agent.notices == {"malformed-call": 1}
    *_, asked, answer = double.bodies[1]["messages"]
    assert asked["tool_calls"][0]["function"] == {"name": "SendRTVIMessageTool", "arguments": "{}"}
    assert answer["role"] == "tool"
    assert told in json.loads(answer["content"])["message"]
    assert json.loads(answer["content"])["received"] == arguments


@pytest.mark.parametrize(
    ("call_made", "told"),
    [
        (tool("SendRTVIMessageTool", '{"text": 5}'), "message is missing"),
        (tool("NoSuchTool", '{"x": 1}'), "There is no tool named 'NoSuchTool'"),
        (tool("", "{}"), "There is no tool named 'unnamed'"),
    ],
)
def test_calls_that_cannot_be_made_come_back_to_the_model(call_made: dict[str, Any], told: str) -> None:
    conversation, double = call(uses(call_made), GOODBYE)
    assert conversation.stop_reason is StopReason.EXIT
    assert told in double.bodies[1]["messages"][-1]["content"]


@pytest.mark.parametrize("arguments", ["", "null", "{}"])
def test_calls_without_arguments_are_made(arguments: str) -> None:
    conversation, _ = call(uses(tool("EndConversationTool", arguments), text="Goodbye."))
    assert conversation.stop_reason is StopReason.EXIT


@pytest.mark.parametrize(
    ("reply", "told"),
    [
        (streamed(chunk(role="assistant", content=""), chunk("stop")), "(finish_reason stop)"),
        (streamed(*words("<think> I should greet. </think>"), chunk("stop")), ", only reasoning"),
        (streamed(chunk(reasoning_content="Hm."), chunk("length")), "(finish_reason length); raise llm.max"),
    ],
)
def test_an_empty_reply_is_told_and_is_the_agents_own(reply: Act, told: str) -> None:
    conversation, double = call(reply, inactivity_timeout=20.0)
    assert said(conversation) == []
    assert conversation.stop_reason is StopReason.INACTIVITY
    assert conversation.agent.notices == {"empty": 1}
    assert len(double.bodies) == 1
    assert any("gave an empty reply" in line and told in line for line in conversation.events)


def test_thoughts_are_not_spoken() -> None:
    reply = streamed(
        chunk(content="<thi"),
        chunk(content="nk>Secret"),
        chunk(content=" thought.</think>Hello"),
        END,
        chunk("stop"),
    )
    conversation, _ = call(reply)
    assert said(conversation) == ["Hello"]


def test_a_whole_reply_in_place_of_a_stream_is_understood_and_told_once() -> None:
    function = {"name": "EndConversationTool", "arguments": ""}
    message = {
        "role": "assistant",
        "content": "Goodbye.",
        "tool_calls": [{"type": "function", "function": function}],
    }
    whole = {"model": "m", "choices": [{"index": 0, "message": message, "finish_reason": "tool_calls"}]}
    conversation, _ = call(body(json.dumps(whole), "application/json"))
    assert said(conversation) == ["Goodbye."]
    assert conversation.stop_reason is StopReason.EXIT
    assert conversation.agent.notices == {"unstreamed": 1}


def test_a_page_in_place_of_a_stream_is_told_at_once() -> None:
    told, conversation = failing(body("<html><title>Sign in</title></html>", "text/html"))
    assert "it answered 200 with text/html, which is no chat completion: <html><title>Sign in" in told
    assert "see that llm.base_url leads to the API, up to and with /v1, and not to a page" in told
    assert conversation.agent.notices == {"failed": 1}


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        (body('{"ok": true}', "application/json"), "JSON that is no chat completion: {"),
        (body("[", "application/json"), "what is no JSON"),
        (body('{"error": "overloaded"}', "application/json"), "it answered with an error: "),
        (streamed("{oops"), "sent what is no answer: JSONDecodeError"),
        (streamed('"text"'), "it sent no chat completion"),
        (streamed({"choices": "none"}), "it sent no chat completion (choices: "),
    ],
)
def test_what_is_no_reply_is_told(answer: Act, told: str) -> None:
    found, _ = failing(answer, retries=1)
    assert told in found


def test_the_callers_model_is_told_as_the_callers() -> None:
    with pytest.raises(ModelEndpointError) as caught:
        call_with_agent(status(401, f"bad {KEY}"))
    assert "the user's side could not go on: model 'm' at http://127.0.0.1:" in str(caught.value)
    assert "answered 401 Unauthorized: bad <redacted>" in str(caught.value)


def test_a_callers_model_talks_with_an_agent() -> None:
    conversation, double = call_with_agent(says("Thank you and goodbye."))
    assert conversation.stop_reason is StopReason.EXIT
    assert said(conversation)[:2] == ["Good morning. How can I help you?", "Thank you and goodbye."]
    system, heard = double.bodies[0]["messages"][:2]
    assert system["content"].endswith(CALLER_RULES)
    assert "help you" in heard["content"]


def test_a_rehearsal_may_pretend_to_think_for_as_long_as_it_likes() -> None:
    slow = RehearsalLlm(service="rehearsal", seconds_to_first_token=30.0, seconds_per_token=1.0)
    conversation, _ = call_with_agent(says("Thank you and goodbye."), agents_llm=slow)
    assert conversation.stop_reason is StopReason.EXIT
    assert conversation.agent.notices == {}
