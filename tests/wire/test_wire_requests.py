"""Requests and replies, paired by id."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

import pytest

from pytest_voiceeval.testing import VirtualClock
from pytest_voiceeval.wire.requests import RequestFailedError, Requests
from pytest_voiceeval.wire.rtvi import Envelope

Answer = Callable[[Requests, Envelope], None]


def ask(answer: Answer, then: Callable[[Requests], Coroutine[Any, Any, Any]]) -> Any:
    async def main() -> Any:
        async def send(message: Envelope) -> None:
            asyncio.get_running_loop().call_later(1.0, answer, requests, message)

        requests = Requests(send)
        return await then(requests)

    return VirtualClock().run(main())


def reply(requests: Requests, message: Envelope, *, d: Any = True, key: str | None = None) -> bool:
    data = {"t": message.fields.get("t"), "d": d}
    return requests.resolve(Envelope(type="server-response", id=key or message.id, data=data))


def test_a_reply_goes_to_the_request_with_its_id() -> None:
    async def two(requests: Requests) -> list[Any]:
        first = requests.call("reset", {}, limit=5)
        second = requests.call("get_scenario_summary", {"include_db": False}, limit=5)
        return await asyncio.gather(first, second)

    answers = {"reset": True, "get_scenario_summary": {"actions": []}}
    found = ask(
        lambda requests, message: reply(requests, message, d=answers[message.fields["t"]]) and None, two
    )
    assert found == [True, {"actions": []}]


def test_a_stray_or_doubled_reply_is_nobodys() -> None:
    seen: list[bool] = []

    def answer(requests: Requests, message: Envelope) -> None:
        seen.append(reply(requests, message, d="stray", key="other"))
        seen.append(reply(requests, message))
        seen.append(reply(requests, message, d="again"))

    assert ask(answer, lambda requests: requests.call("reset", {}, limit=5)) is True
    assert seen == [False, True, False]


def test_no_reply_is_told_with_its_limit() -> None:
    with pytest.raises(RequestFailedError, match="no answer to reset within 5 s"):
        ask(lambda *_: None, lambda requests: requests.call("reset", {}, limit=5))


def test_an_error_reply_is_told_with_its_text() -> None:
    def answer(requests: Requests, message: Envelope) -> None:
        requests.resolve(Envelope(type="error-response", id=message.id, data={"error": "KeyError: 'x'"}))

    with pytest.raises(RequestFailedError, match="answered reset with: KeyError: 'x'"):
        ask(answer, lambda requests: requests.call("reset", {}, limit=5))


def test_an_objection_to_our_version_does_not_keep_a_bot_from_being_ready() -> None:
    def answer(requests: Requests, message: Envelope) -> None:
        requests.resolve(Envelope(type="error-response", id=message.id, data={"error": "old version"}))
        requests.resolve(Envelope(type="bot-ready", id=message.id, data={"version": "1.1.0"}))

    assert ask(answer, lambda requests: requests.handshake(limit=5)).type == "bot-ready"


def test_an_objection_and_no_readiness_are_told_together() -> None:
    def answer(requests: Requests, message: Envelope) -> None:
        requests.resolve(Envelope(type="error-response", id=message.id, data={"error": "old version"}))

    with pytest.raises(RequestFailedError, match="within 5 s; it objected: old version"):
        ask(answer, lambda requests: requests.handshake(limit=5))


def test_a_lost_connection_fails_what_waits_at_once() -> None:
    with pytest.raises(RequestFailedError, match="gone"):
        ask(
            lambda requests, _: requests.fail_all("gone"),
            lambda requests: requests.call("reset", {}, limit=50),
        )
