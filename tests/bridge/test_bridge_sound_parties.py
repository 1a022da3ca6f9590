"""Agents of which only the sound is had, over raw PCM and Twilio Media Streams, on virtual time."""

from __future__ import annotations

import asyncio
import json
import re
from typing import Any

import numpy as np
import pytest
from scripted_calls import Greeting, user_bot

from pytest_voiceeval.bridge.call import hold_call
from pytest_voiceeval.bridge.endpoint import Peer
from pytest_voiceeval.bridge.settings import CallSettings
from pytest_voiceeval.model.conversation import Conversation
from pytest_voiceeval.model.stop_reason import StopReason
from pytest_voiceeval.model.turns import AGENT, USER
from pytest_voiceeval.testing import (
    BotConnection,
    FakeBot,
    FakePcmAgent,
    FakeTwilioAgent,
    Utterance,
    VirtualClock,
)
from pytest_voiceeval.wire.dialect import Dialect, PcmEncoding

LINES = [Utterance("Welcome.", 1.0, 300), Utterance("Good bye.", 0.8, 350)]


def hold(
    user: FakeBot, agent: FakePcmAgent | FakeTwilioAgent, dialect: Dialect, **settings: Any
) -> Conversation:
    async def opener(url: str, limit: float) -> Any:
        return await (user if url == "mem://user" else agent).open(url, limit)

    async def call() -> Conversation:
        return await hold_call(
            Greeting(),
            user=Peer(USER, "mem://user", "fake user"),
            agent=Peer(AGENT, "mem://agent", "fake agent", dialect=dialect),
            settings=CallSettings(**{"max_duration": 60.0, "opener": opener, **settings}),
        )

    return VirtualClock().run(call())


def hold_pcm(agent: FakePcmAgent, user: FakeBot | None = None, **form: Any) -> Conversation:
    return hold(user or user_bot(), agent, Dialect("pcm", "auto", **form), inactivity_timeout=15.0)


def hold_twilio(agent: FakeTwilioAgent, user: FakeBot | None = None, **parameters: str) -> Conversation:
    dialect = Dialect("twilio", "auto", twilio_parameters=parameters)
    return hold(user or user_bot(), agent, dialect, inactivity_timeout=15.0)


def assert_talked(conversation: Conversation) -> None:
    assert [turn.speaker for turn in conversation.turns] == [AGENT, USER, AGENT]
    lengths = [turn.end - turn.start for turn in conversation.turns]
    assert lengths == pytest.approx([1.0, 1.2, 0.8], abs=0.015)
    assert conversation.stop_reason is StopReason.AGENT_HANGUP
    assert conversation.agent_closed_normally
    assert conversation.agent_is_black_box


@pytest.mark.parametrize("encoding", ["s16le", "f32le", "mulaw", "alaw"])
@pytest.mark.parametrize(
    ("rate", "message_bytes"), [(8_000, 7), (16_000, None), (22_050, 333), (48_000, 4099)]
)
def test_a_call_over_raw_pcm_of_any_form_and_any_size_of_message(
    encoding: PcmEncoding, rate: int, message_bytes: int | None
) -> None:
    agent = FakePcmAgent(LINES, rate_hz=rate, encoding=encoding, message_bytes=message_bytes, hangs_up=True)
    conversation = hold_pcm(agent, pcm_rate=rate, pcm_encoding=encoding)
    assert_talked(conversation)
    assert conversation.agent_protocol == "pcm"
    assert conversation.agent.skipped_frames == 0


@pytest.mark.parametrize("rate", [8_000, 16_000, 24_000, 44_100])
def test_the_agent_hears_the_user_as_it_spoke(rate: int) -> None:
    agent = FakePcmAgent(LINES, rate_hz=rate, hangs_up=True)
    hold_pcm(agent, pcm_rate=rate)
    heard = np.concatenate([samples for _, samples in agent.heard]).astype(float)
    loud = np.flatnonzero(np.abs(heard) > 200)
    said = heard[loud[0] : loud[-1] + 1]
    assert len(said) / rate == pytest.approx(1.2, abs=0.01)
    assert np.sqrt(np.mean(said**2)) == pytest.approx(16_000 / np.sqrt(2), rel=0.02)
    spectrum = np.abs(np.fft.rfft(said * np.hanning(len(said))))
    assert np.argmax(spectrum) * rate / len(said) == pytest.approx(500, abs=2)


@pytest.mark.parametrize("rate", [8_000, 24_000])
def test_latency_of_an_agent_is_measured_whatever_the_rate(rate: int) -> None:
    agent = FakePcmAgent(LINES, rate_hz=rate, hangs_up=True, answer_after=0.8)
    (latency,) = hold_pcm(agent, pcm_rate=rate).latencies
    at, samples = next((at, s) for at, s in reversed(agent.heard) if np.abs(s.astype(int)).max() > 164)
    end = at + float(np.flatnonzero(np.abs(samples.astype(int)) > 164)[-1] + 1) / rate
    assert latency.seconds == pytest.approx(agent.spoken[1][0] - end, abs=0.015)


def test_sound_goes_out_in_20_ms_without_a_lag() -> None:
    agent = FakePcmAgent(LINES, rate_hz=8_000, hangs_up=True)
    hold_pcm(agent, pcm_rate=8_000)
    assert {len(samples) for _, samples in agent.heard} == {160}
    times = [at for at, _ in agent.heard]
    assert np.diff(times) == pytest.approx(np.full(len(times) - 1, 0.02), abs=1e-6)


def test_a_text_over_raw_pcm_is_counted_and_skipped() -> None:
    class Chatty(FakePcmAgent):
        async def after_line(self, connection: BotConnection, line: Utterance) -> None:
            await connection.send("hello")

    conversation = hold_pcm(Chatty(LINES, hangs_up=True))
    assert_talked(conversation)
    assert conversation.agent.skipped_frames == 2
    assert conversation.agent.first_skipped.startswith("a text message where only binary ones belong")
    assert any("raw PCM is nothing but samples" in line for line in conversation.events)


def test_an_agent_that_only_listens_is_spoken_to() -> None:
    agent = FakePcmAgent([Utterance("You are welcome.", 1.0)], greets=False, hangs_up=True)
    conversation = hold_pcm(agent)
    assert [turn.speaker for turn in conversation.turns] == [USER, AGENT]


def test_twilio_opens_a_stream_and_ends_it() -> None:
    agent = FakeTwilioAgent(LINES)
    conversation = hold_twilio(agent, tenant="blue")
    assert [message["event"] for message in agent.messages] == ["connected", "start", "mark", "mark", "stop"]
    connected, start, *_, stop = agent.messages
    assert connected == {"event": "connected", "protocol": "Call", "version": "1.0.0"}
    assert re.fullmatch("MZ[0-9a-f]{32}", start["streamSid"])
    assert start["start"]["streamSid"] == start["streamSid"]
    assert re.fullmatch("CA[0-9a-f]{32}", start["start"]["callSid"])
    assert start["start"]["mediaFormat"] == {"encoding": "audio/x-mulaw", "sampleRate": 8000, "channels": 1}
    assert start["start"]["customParameters"] == {"tenant": "blue"}
    assert start["start"]["tracks"] == ["inbound"]
    assert (stop["streamSid"], stop["stop"]["callSid"]) == (start["streamSid"], start["start"]["callSid"])
    assert conversation.agent_protocol == "twilio"
    assert conversation.stop_reason is StopReason.INACTIVITY


def test_twilio_numbers_its_sound_and_sends_20_ms_at_a_time() -> None:
    agent = FakeTwilioAgent(LINES, hangs_up=True)
    assert_talked(hold_twilio(agent))
    assert [media["chunk"] for media in agent.media] == [str(n + 1) for n in range(len(agent.media))]
    assert [media["timestamp"] for media in agent.media] == [str(20 * n) for n in range(len(agent.media))]
    assert {media["track"] for media in agent.media} == {"inbound"}
    assert {len(samples) for _, samples in agent.heard} == {160}
    times = [at for at, _ in agent.heard]
    assert np.diff(times) == pytest.approx(np.full(len(times) - 1, 0.02), abs=1e-6)


def test_a_mark_comes_back_when_the_sound_before_it_was_heard() -> None:
    agent = FakeTwilioAgent(LINES)
    conversation = hold_twilio(agent)
    assert [name for _, name in agent.marks] == ["Welcome.", "Good bye."]
    begun = agent.heard[0][0]
    ends = [turn.end for turn in conversation.turns if turn.speaker == AGENT]
    assert [at - begun for at, _ in agent.marks] == pytest.approx(ends, abs=0.05)


def test_a_mark_after_nothing_comes_back_at_once() -> None:
    class Marking(FakeTwilioAgent):
        marked = 0.0

        async def take(self, connection: BotConnection, message: bytes | str) -> None:
            await super().take(connection, message)
            if json.loads(message)["event"] == "start":
                self.marked = asyncio.get_running_loop().time()
                for name in ("a", "b"):
                    await self.tell(connection, "mark", {"name": name})

    agent = Marking(greets=False)
    hold_twilio(agent, FakeBot(USER))
    assert agent.marks == [(agent.marked, "a"), (agent.marked, "b")]


class Ahead(FakeTwilioAgent):
    """Sends all of a line at once, as bots do that do not keep time."""

    async def _say(self, connection: BotConnection, line: Utterance) -> None:
        times = np.arange(round(line.seconds * 8_000)) / 8_000
        await self.send_sound(connection, (16_000 * np.sin(2 * np.pi * line.hz * times)).astype(np.int16))
        await self.after_line(connection, line)

    async def clear_at(self, connection: BotConnection, seconds: float) -> None:
        await asyncio.sleep(seconds)
        await self.tell(connection, "clear")


def test_clear_drops_what_was_not_heard_and_returns_the_marks() -> None:
    class Clearing(Ahead):
        async def after_line(self, connection: BotConnection, line: Utterance) -> None:
            for name in ("one", "two"):
                await self.tell(connection, "mark", {"name": name})
            self.clearing = asyncio.create_task(self.clear_at(connection, 2.0))

    agent = Clearing([Utterance("A long story.", 8.0)])
    conversation = hold_twilio(agent, FakeBot(USER))
    (turn,) = conversation.turns
    assert turn.end - turn.start == pytest.approx(1.85, abs=0.1)
    assert [name for _, name in agent.marks] == ["one", "two"]
    begun = agent.heard[0][0]
    assert [at - begun for at, _ in agent.marks] == pytest.approx([2.0, 2.0], abs=0.05)


def test_marks_of_sound_that_was_sent_ahead_come_back_in_time() -> None:
    agent = Ahead([Utterance("A story.", 4.0)])
    conversation = hold_twilio(agent, FakeBot(USER))
    ((at, _),) = agent.marks
    assert at - agent.heard[0][0] == pytest.approx(conversation.turns[0].end, abs=0.05)


def test_a_user_may_speak_over_the_agent() -> None:
    class Interrupting(FakeBot):
        def _listen(self, connection: Any, frame: Any, quiet_since: float) -> float:
            if not self.spoken and len(self.heard) > 100:
                self._say_next(connection)
            return super()._listen(connection, frame, quiet_since)

    user = Interrupting(USER, [Utterance("Stop, please.", 1.0, 500)])
    agent = FakeTwilioAgent(
        [Utterance("A long story.", 9.0), Utterance("Yes?", 0.5)], yields=True, hangs_up=True
    )
    conversation = hold_twilio(agent, user)
    story = conversation.turns[0]
    assert story.end - story.start < 3.0
    assert [turn.speaker for turn in conversation.turns] == [AGENT, USER, AGENT]


@pytest.mark.parametrize(
    "message",
    [
        b"\x00\x01",
        "no json",
        "[]",
        '{"event": "media"}',
        '{"event": "nonsense", "streamSid": "SID"}',
        '{"event": "media", "streamSid": "SID"}',
        '{"event": "media", "streamSid": "SID", "media": {"payload": "%%%"}}',
        '{"event": "media", "streamSid": "SID", "media": {"payload": 5}}',
        '{"event": "media", "streamSid": "another", "media": {"payload": "/w=="}}',
        '{"event": "mark", "streamSid": "SID"}',
        "[" * 100_000,
    ],
)
def test_what_is_no_message_of_media_streams_is_counted_and_skipped(message: bytes | str) -> None:
    class Garbling(FakeTwilioAgent):
        async def after_line(self, connection: BotConnection, line: Utterance) -> None:
            sent = message.replace("SID", self._stream_sid) if isinstance(message, str) else message
            await connection.send(sent)

    conversation = hold_twilio(Garbling(LINES, hangs_up=True))
    assert_talked(conversation)
    assert conversation.agent.skipped_frames == 2


def test_of_a_message_that_was_skipped_little_is_told_however_long_it_is() -> None:
    class Elsewhere(FakeTwilioAgent):
        async def after_line(self, connection: BotConnection, line: Utterance) -> None:
            await connection.send(json.dumps({"event": "clear", "streamSid": "x" * 1_000_000}))

    conversation = hold_twilio(Elsewhere(LINES, hangs_up=True))
    assert conversation.agent.first_skipped.startswith("a message for the stream 'xxx")
    assert max(map(len, [conversation.agent.first_skipped, *conversation.events])) < 400


def test_the_words_of_an_agent_on_the_telephone_are_those_that_the_user_understood() -> None:
    class Hearing(FakeBot):
        async def _say(self, connection: Any, line: Utterance) -> None:
            await self._tell(connection, "user-transcription", {"text": "Welcome.", "final": True})
            await super()._say(connection, line)

    conversation = hold_twilio(
        FakeTwilioAgent(LINES, hangs_up=True), Hearing(USER, [Utterance("Hello there.", 1.2)])
    )
    assert [turn.text for turn in conversation.turns] == ["Welcome.", "Hello there.", "[NOT UNDERSTOOD]"]


@pytest.mark.parametrize("agent", [FakePcmAgent(LINES, hangs_up=True), FakeTwilioAgent(LINES, hangs_up=True)])
def test_a_call_over_a_real_socket(agent: FakePcmAgent | FakeTwilioAgent) -> None:
    user = user_bot()

    async def call() -> Conversation:
        async with user.serve() as user_url, agent.serve() as url:
            return await hold_call(
                Greeting(),
                user=Peer(USER, user_url, "fake user"),
                agent=Peer(
                    AGENT,
                    url,
                    "fake agent",
                    dialect=Dialect("pcm" if isinstance(agent, FakePcmAgent) else "twilio", "auto"),
                ),
                settings=CallSettings(max_duration=60.0),
            )

    conversation = asyncio.run(call())
    assert conversation.stop_reason is StopReason.AGENT_HANGUP
    assert conversation.agent_closed_normally
    assert [turn.speaker for turn in conversation.turns] == [AGENT, USER, AGENT]
