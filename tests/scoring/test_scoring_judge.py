"""The judge against a real endpoint on this machine."""

from __future__ import annotations

import asyncio
import contextlib
import json
import socket
import threading
from collections.abc import Iterator
from dataclasses import replace
from fnmatch import fnmatchcase
from typing import Any

import pytest
from scoring_calls import call, declare

from pytest_voiceeval import Judgement, JudgeSettings, LLMJudge
from pytest_voiceeval.errors import DefinitionError
from pytest_voiceeval.model.conversation import Conversation, SideEvidence
from pytest_voiceeval.model.stop_reason import StopReason
from pytest_voiceeval.scoring.judge import NOTHING_OBSERVED
from pytest_voiceeval.testing import JudgeReply, JudgeServer

CANARY = "sk-canary-7f3a9c55e1"
GOOD = json.dumps({"score": 0.95, "reason": "fine"})
AT_ONCE = {"retry-after-ms": "1"}
BUSY = JudgeReply("busy", status=503, headers=AT_ONCE)
SCENARIO = declare(reference_answer={"answer": "42"})
JUDGED = declare(nl_assertions=["It was polite.", "It was short."])
HEARD = call(
    agent=SideEvidence(actions=(), context=[{"role": "assistant", "content": "Hello."}]),
    pushed=('{"answer": "42"}',),
)


def judged(
    server: JudgeServer, conversation: Conversation = HEARD, scenario: Any = None, **options: Any
) -> Judgement:
    settings = JudgeSettings(**{"url": server.url, "model": "m", **options})
    return LLMJudge(settings).judge(scenario or SCENARIO, conversation)


@pytest.fixture(autouse=True)
def no_key(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("JUDGE_API_KEY", "OPENAI_API_KEY", "OPENAI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)


def test_the_request_is_that_of_the_specification() -> None:
    with JudgeServer(GOOD) as server:
        judgement = judged(server)
    assert (judgement.score, judgement.reason, judgement.error) == (0.95, "fine", "")
    (request,) = server.requests
    assert request.path == "/v1/chat/completions"
    assert request.headers["content-type"] == "application/json"
    assert "authorization" not in request.headers
    messages = request.body.pop("messages")
    assert request.body == {
        "model": "m",
        "max_tokens": 100_000,
        "temperature": 1.0,
        "top_p": 0.95,
        "seed": 42,
    }
    assert [message["role"] for message in messages] == ["system", "user"]
    assert judgement.judge_input == {
        "system_prompt": messages[0]["content"],
        "user_content": messages[1]["content"],
    }
    assert messages[1]["content"].startswith(
        '<reference>\n{\n  "answer": "42"\n}\n</reference>\n\n<prediction>'
    )


def test_what_an_endpoint_does_not_take_can_be_left_out() -> None:
    with JudgeServer(GOOD) as server:
        judged(server, temperature=None, top_p=None, seed=None, max_tokens=None)
    assert set(server.requests[0].body) == {"model", "messages"}


def test_thoughts_are_asked_for_only_if_wanted() -> None:
    with JudgeServer(GOOD) as server:
        judged(server, thinking=True)
        judged(server, thinking_token_budget=500)
    asked = [
        {key: request.body.get(key) for key in ("chat_template_kwargs", "thinking_token_budget")}
        for request in server.requests
    ]
    thinking = {"enable_thinking": True}
    assert asked == [
        {"chat_template_kwargs": thinking, "thinking_token_budget": None},
        {"chat_template_kwargs": thinking, "thinking_token_budget": 500},
    ]


@pytest.mark.parametrize(
    "suffix", ["", "/", "/chat/completions", "/chat/completions/", "/chat/completions?api-version=2"]
)
def test_both_forms_of_the_url_are_taken(suffix: str) -> None:
    with JudgeServer(GOOD) as server:
        judged(server, url=server.url + suffix)
    assert server.requests[0].path == "/v1/chat/completions" + ("?api-version=2" if "?" in suffix else "")


def test_verdicts_on_assertions_come_along() -> None:
    entries = [{"index": 2, "passed": True, "reason": "brief"}]
    with JudgeServer(json.dumps({"score": 0.5, "nl_assertion_verdicts": entries})) as server:
        judgement = judged(server, scenario=JUDGED)
    assert [verdict.passed for verdict in judgement.verdicts] == [False, True]
    assert judgement.pass_rate == 0.5


def test_the_key_goes_to_the_endpoint_and_nowhere_else(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("MY_KEY", f" {CANARY}\n")
    replies = [
        JudgeReply(GOOD),
        JudgeReply(f"wrong key {CANARY} " + 480 * "x", status=401),
        JudgeReply(body=f"echo of {CANARY}"),
        JudgeReply(f"echo of {CANARY}"),
    ]
    caplog.set_level("DEBUG")
    with JudgeServer(*replies) as server:
        settings = JudgeSettings(url=server.url, model="m", api_key_env="MY_KEY")
        found = [LLMJudge(settings).judge(SCENARIO, HEARD) for _ in replies]
    assert {request.headers["authorization"] for request in server.requests} == {f"Bearer {CANARY}"}
    assert [bool(judgement.error) for judgement in found] == [False, True, True, True]
    assert "see that the key in MY_KEY is right" in found[1].error
    told = repr((LLMJudge(settings), settings, found)) + json.dumps(
        [judgement.to_json() for judgement in found]
    )
    captured = capfd.readouterr()
    for text in (told, caplog.text, captured.out, captured.err):
        assert CANARY not in text
        assert CANARY[:12] not in text


def test_the_key_of_another_service_is_not_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", CANARY)
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
    with JudgeServer(GOOD) as server:
        judged(server)
    assert CANARY not in repr(server.requests)


def test_an_endpoint_on_this_machine_is_reached_without_the_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("no_proxy", "")
    for name in ("http_proxy", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    with JudgeServer(GOOD) as server:
        assert judged(server).score == 0.95


def test_an_endpoint_elsewhere_needs_a_key(monkeypatch: pytest.MonkeyPatch) -> None:
    settings = JudgeSettings(url="https://judge.example/v1", model="m")
    error = LLMJudge(settings).judge(SCENARIO, HEARD).error
    assert error.startswith(
        "the judge has no key for https://judge.example/v1: the environment variable JUDGE_API_KEY is not set"
    )
    monkeypatch.setenv("JUDGE_API_KEY", "naïve key")
    error = LLMJudge(settings).judge(SCENARIO, HEARD).error
    assert error == "the judge's key in JUDGE_API_KEY has characters that no HTTP header can hold"


@pytest.mark.parametrize(
    ("reply", "told"),
    [
        (
            JudgeReply("no such field: top_p", status=400),
            "answered HTTP 400: *: top_p*left out*--voice-judge-top-p=none (of `run`: --judge-top-p=none)",
        ),
        (
            JudgeReply("no such model", status=404),
            "answered HTTP 404: *no such model*see that URL *",
        ),
        (JudgeReply("<html>Ö</html>", status=418), "answered HTTP 418: *Ö*"),
        (
            JudgeReply(GOOD, finish_reason="length"),
            "was cut off at its longest reply*--voice-judge-max-tokens (of `run`: --judge-max-tokens)",
        ),
        (JudgeReply(GOOD, finish_reason="MAX_TOKENS"), "was cut off at its longest reply*"),
        (JudgeReply(None), "gave an empty reply (finish_reason 'stop')"),
        (JudgeReply(" \n", finish_reason=None), "gave an empty reply (finish_reason 'unknown')"),
        (JudgeReply(body="<html>welcome</html>"), "answered with no chat completion: <html>welcome</html>"),
        (JudgeReply(body='{"choices": []}'), "answered with no chat completion: *"),
        (JudgeReply(body='{"choices": [{"message": {"refusal": "no"}}]}'), "refused: no"),
        (JudgeReply(body="", headers={"Content-Type": "text/plain"}), "answered with no chat completion: "),
        (JudgeReply("I'd say 0.9"), None),
        (JudgeReply('{"score": 0.9, "reason": "so '), None),
        (JudgeReply('{"score": 7}'), None),
    ],
    ids=str,
)
def test_what_is_no_reply_is_an_error_and_no_score(reply: JudgeReply, told: str | None) -> None:
    with JudgeServer(reply) as server:
        judgement = judged(server)
    assert len(server.requests) == 1
    assert (judgement.score, judgement.verdicts) == (None, ())
    assert judgement.judge_input["user_content"]
    if told is None:
        assert judgement.error.startswith("the judge's ")
    else:
        assert fnmatchcase(judgement.error, f"the judge at {server.url} {told}")


def test_the_text_of_a_message_may_come_in_parts() -> None:
    parts = [
        {"type": "thinking", "thinking": []},
        {"type": "text", "text": '{"score"'},
        {"type": "text", "text": ": 0.5}"},
    ]
    body = json.dumps({"choices": [{"message": {"content": parts}, "finish_reason": "stop"}]})
    with JudgeServer(JudgeReply(body=body)) as server:
        assert judged(server).score == 0.5


def test_what_fails_for_the_moment_is_tried_again() -> None:
    with JudgeServer(BUSY, replace(BUSY, status=429), GOOD) as server:
        assert judged(server).score == 0.95
    assert len(server.requests) == 3


def test_what_goes_on_failing_is_an_error_after_three_times() -> None:
    with JudgeServer(BUSY) as server:
        error = judged(server).error
    assert len(server.requests) == 3
    assert error.startswith(f"the judge at {server.url} answered HTTP 503: ")


def test_a_judge_that_hangs_is_given_up() -> None:
    with JudgeServer(JudgeReply(hangs=True)) as server:
        error = judged(server, timeout=0.3).error
    assert error.endswith(
        "gave no reply within 0.3 s; give it more with --voice-judge-timeout (of `run`: --judge-timeout)"
    )
    assert len(server.requests) == 1


def test_a_judge_that_trickles_is_given_up() -> None:
    reply = JudgeReply(GOOD, headers={"Content-Length": "100000"})
    with trickling() as url:
        error = LLMJudge(JudgeSettings(url=url, model="m", timeout=0.4)).judge(SCENARIO, HEARD).error
    assert "gave no reply within 0.4 s" in error, reply


@contextlib.contextmanager
def trickling() -> Iterator[str]:
    """Serve a response that never ends, a blank every now and then."""
    listener = socket.create_server(("127.0.0.1", 0))
    stop = threading.Event()

    def serve() -> None:
        connection, _ = listener.accept()
        with connection, contextlib.suppress(OSError):
            connection.recv(100_000)
            connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n")
            while not stop.wait(0.05):
                connection.sendall(b" ")

    thread = threading.Thread(target=serve)
    thread.start()
    try:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}/v1"
    finally:
        stop.set()
        thread.join()
        listener.close()


def test_nobody_there_is_an_error() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    settings = JudgeSettings(url=f"http://127.0.0.1:{port}/v1", model="m", timeout=10)
    error = LLMJudge(settings).judge(SCENARIO, HEARD).error
    assert error.startswith(f"the judge at http://127.0.0.1:{port}/v1 could not be reached (")


def test_one_that_breaks_off_is_told_as_that() -> None:
    with JudgeServer(JudgeReply(breaks_off=True)) as server:
        error = judged(server, timeout=30).error
    assert error.startswith(f"the judge at {server.url} broke off its connection (")


def test_several_samples_come_to_median_and_majority_with_seeds_of_their_own() -> None:
    replies = [
        json.dumps({"score": score, "nl_assertion_verdicts": [{"index": 1, "passed": score > 0.3}]})
        for score in (0.2, 0.9, 0.6)
    ]
    with JudgeServer(*replies) as server:
        judgement = judged(server, scenario=declare(nl_assertions=["It was polite."]), samples=3)
    assert sorted(request.body["seed"] for request in server.requests) == [42, 43, 44]
    assert (judgement.score, judgement.spread) == (0.6, pytest.approx(0.7))
    assert [verdict.passed for verdict in judgement.verdicts] == [True]
    assert sorted(sample.score for sample in judgement.samples) == [0.2, 0.6, 0.9]


def test_one_sample_that_fails_is_an_error_of_all() -> None:
    with JudgeServer(GOOD, JudgeReply("no", status=400), GOOD) as server:
        judgement = judged(server, samples=3)
    assert "HTTP 400" in judgement.error
    assert judgement.score is None


def test_a_call_of_which_nothing_was_observed_is_not_put_to_the_model() -> None:
    silent = call(agent=SideEvidence(actions=(), context=[{"role": "system", "content": "You are Lisa."}]))
    with JudgeServer(GOOD) as server:
        judgement = judged(server, silent, JUDGED)
    assert not server.requests
    assert (judgement.score, judgement.reason, judgement.error) == (0.0, NOTHING_OBSERVED, "")
    assert [(verdict.passed, verdict.reason) for verdict in judgement.verdicts] == 2 * [
        (False, NOTHING_OBSERVED)
    ]


def test_evidence_that_could_not_be_had_is_no_score_of_nought() -> None:
    lost = SideEvidence(pull_error="it never answered")
    with JudgeServer(GOOD) as server:
        judgement = judged(server, call(agent=lost))
        hung_up = judged(server, call(StopReason.AGENT_HANGUP, agent=lost))
    assert "could not be had (agent: it never answered)" in judgement.error
    assert hung_up.score == 0.0
    assert not server.requests


def test_the_judge_can_be_asked_within_a_running_loop() -> None:
    async def ask(server: JudgeServer) -> Judgement:
        return judged(server)

    with JudgeServer(GOOD) as server:
        assert asyncio.run(ask(server)).score == 0.95


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"url": "localhost:8000"}, "write an http:// or https:// URL"),
        ({"url": "http://"}, "write an http:// or https:// URL"),
        ({"url": "http://host:99999/v1"}, "write an http:// or https:// URL"),
        ({"url": f"https://me:{CANARY}@host/v1"}, "no key or password may stand in it"),
        ({"url": f"https://host/v1?api_key={CANARY}"}, "no key or password may stand in it"),
        ({"model": " "}, "no model"),
        ({"timeout": float("nan")}, "timeout of the judge is nan"),
        ({"timeout": 0}, "timeout of the judge is 0"),
        ({"temperature": float("inf")}, "temperature of the judge is inf"),
        ({"top_p": 1.5}, "top_p of the judge is 1.5; give a number from 0 to 1"),
        ({"max_tokens": 0}, "max_tokens of the judge is 0; give a whole number from 1 on"),
        ({"thinking_token_budget": -1}, "thinking_token_budget of the judge is -1"),
        ({"context_message_limit": True}, "context_message_limit of the judge is True"),
        ({"context_string_limit": 2.5}, "context_string_limit of the judge is 2.5"),
        ({"samples": 0}, "samples of the judge is 0"),
    ],
)
def test_settings_that_make_no_sense_are_refused_without_telling_secrets(
    options: dict[str, Any], told: str
) -> None:
    with pytest.raises(DefinitionError) as caught:
        JudgeSettings(**{"url": "http://127.0.0.1/v1", "model": "m", **options})
    assert told in str(caught.value)
    assert CANARY not in str(caught.value)


@pytest.mark.parametrize(
    ("host", "local"),
    [
        ("localhost", True),
        ("127.1.2.3", True),
        ("[::1]", True),
        ("judge.localhost", True),
        ("10.0.0.5", False),
        ("localhost.example", False),
    ],
)
def test_only_this_machine_may_do_without_a_key(host: str, local: bool) -> None:
    assert JudgeSettings(url=f"http://{host}:8000/v1", model="m").is_local is local
