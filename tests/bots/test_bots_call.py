"""A spoken call with an embedded agent, in real time."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import soxr
from wire_client import PROMPT, WireClient

from pytest_voiceeval.bots.profile import Profile
from pytest_voiceeval.bots.recogniser import heard, shared_recogniser
from pytest_voiceeval.bots.speech import shared_voice, spoken
from pytest_voiceeval.scenarios.rehearsal import Say, Use

pytestmark = [pytest.mark.asyncio, pytest.mark.alone]

GREETING = "Good morning. What would you like to order today?"
ANSWER = "I have one pepperoni pizza for you. Would you like anything else?"


def said(profile: Profile, text: str) -> bytes:
    return b"".join(spoken(text, shared_voice(profile.tts.voice_path), profile.tts.user, 16_000))


def understood(profile: Profile, pcm_24k: bytes) -> str:
    samples = soxr.resample(np.frombuffer(pcm_24k, dtype="<i2").astype(np.float32), 24_000, 16_000)
    model = shared_recogniser(profile.stt.model_path, profile.stt.device, profile.stt.compute_type)
    return heard(model, samples.astype("<i2").tobytes() + bytes(16_000), "en")


async def test_a_spoken_call(agent: Callable[..., Any], profile: Profile) -> None:
    _, client = await agent(Say(GREETING), Say(ANSWER), Use("EndConversationTool"))
    await client.handshake()
    assert await client.prepare(PROMPT, EndConversationTool={})
    await client.kick_off()
    assert understood(profile, await client.hear()) == GREETING
    assert client.rates == {24_000}

    # A pause for a comma, and one between sentences, are within one turn.
    client.say(said(profile, "I would like a pepperoni pizza, please. That is all for now."))
    assert "pepperoni pizza" in understood(profile, await client.hear()).casefold()
    history = await client.history()
    assert [m["role"] for m in history] == ["system", "user", "assistant", "user", "assistant"]
    assert [m["content"] for m in history if m["role"] == "assistant"] == [GREETING, ANSWER]
    assert history[3]["content"] == "I would like a pepperoni pizza, please. That is all for now."

    client.say(said(profile, "Goodbye."))
    assert (await client.wait_for("server-message"))["data"]["text"].startswith("<exit>")
    tokens = [
        m["data"]["tokens"] for m in client.messages if m["type"] == "metrics" and "tokens" in m["data"]
    ]
    assert len(tokens) == 3


async def test_a_turn_without_words_is_answered_all_the_same(
    agent: Callable[..., Any], profile: Profile
) -> None:
    """Speech that the recogniser makes nothing of must not leave both sides waiting."""
    _, client = await agent(Say("Good morning."), Say("Could you say that again?"))
    await client.prepare(PROMPT)
    await client.kick_off()
    await client.hear()
    # Backwards, it is a voice but no words; whether the recogniser hears any, the bot must answer.
    backwards = np.frombuffer(said(profile, "Mm."), dtype="<i2")[::-1].tobytes()
    client.say(backwards * 3)
    spoken_text = [m["data"]["text"] for m in client.messages if m["type"] == "bot-tts-text"]
    assert spoken_text == ["Good morning."]
    after = len(client.messages)
    answer = await client.wait_for("bot-tts-text", after=after)
    assert answer["data"]["text"] == "Could you say that again?"


async def test_an_interruption_stops_the_bot(agent: Callable[..., Any], profile: Profile) -> None:
    long = " ".join(f"This is sentence number {n} of a long speech." for n in range(1, 9))
    _, client = await agent(Say(long), Say("Very well."))
    await client.prepare(PROMPT)
    await client.kick_off()
    await client.wait_for("bot-started-speaking")
    await asyncio.sleep(1.0)
    client.say(said(profile, "Please stop talking now."))
    await client.wait_for("bot-stopped-speaking")
    length = len(client.audio) / 2 / 24_000
    assert length < 4.0


async def test_a_call_cut_off_in_a_turn_leaves_nothing_to_the_next(
    rehearsed_agent: Callable[..., Any], profile: Profile
) -> None:
    async with rehearsed_agent(Say("Good morning."), Say("This belongs to the first call.")) as bot:
        async with WireClient.connected(bot.url) as client:
            await client.prepare(PROMPT)
            client.say(said(profile, "I am in the middle of a rather long sentence, as you can hear."))
            await client.wait_for("user-started-speaking")
        async with WireClient.connected(bot.url) as client:
            await client.prepare(PROMPT)
            await asyncio.sleep(1.5)
            assert await client.history() == [{"role": "system", "content": PROMPT}]
            await client.kick_off()
            assert (await client.wait_for("bot-tts-text"))["data"]["text"] == "Good morning."


async def test_a_proxy_is_not_asked_for_the_rehearsal(
    agent: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    for name in ("NO_PROXY", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
    _, client = await agent(Say("Good morning."))
    await client.prepare(PROMPT)
    await client.kick_off()
    assert (await client.wait_for("bot-tts-text"))["data"]["text"] == "Good morning."
