"""Noise in whole calls between scripted bots, on virtual time."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import soundfile
from scripted_calls import Greeting, agent_bot, end_of_speech, hold, user_bot

from pytest_voiceeval.errors import DefinitionError
from pytest_voiceeval.model.conversation import Conversation
from pytest_voiceeval.model.parts import NoiseConfig
from pytest_voiceeval.model.stop_reason import StopReason
from pytest_voiceeval.testing import FakeBot, Utterance

RATE_HZ = 16_000
WHITE = NoiseConfig(random_white_noise=True, white_noise_db=-40.0)


def noisy_call(noise: Any, **bots: FakeBot) -> Conversation:
    return hold(
        bots.get("user") or user_bot(), bots.get("agent") or agent_bot(), Greeting(noise_config=noise)
    )


def channels(conversation: Conversation) -> tuple[np.ndarray, np.ndarray]:  # type: ignore[type-arg]
    stereo = np.frombuffer(conversation.recording.pcm, "<i2").reshape(-1, 2).astype(float)
    return stereo[:, 0], stereo[:, 1]


def rms(samples: Any) -> float:
    return math.sqrt(float(np.mean(np.square(samples))))


def heard(bot: FakeBot) -> bytes:
    return b"".join(pcm for _, pcm in bot.heard)


def sound_file(path: Path, samples: Any, rate_hz: int = RATE_HZ, **options: Any) -> str:
    path.parent.mkdir(parents=True, exist_ok=True)
    soundfile.write(path, samples, rate_hz, **options)
    return str(path)


def steps(seconds: float, rate_hz: int = RATE_HZ) -> np.ndarray:  # type: ignore[type-arg]
    """Return 100 Hz tones, each half second quieter than the one before."""
    times = np.arange(round(seconds * rate_hz)) / rate_hz
    return 0.2 * np.sin(2 * np.pi * 100 * times) * 0.5 ** np.floor(times * 2)


def test_the_agent_hears_the_noise_and_it_is_recorded_as_heard() -> None:
    user, agent = user_bot(), agent_bot()
    conversation = noisy_call(WHITE, user=user, agent=agent)
    left, right = channels(conversation)
    everything = np.frombuffer(heard(agent), "<i2").astype(float)
    # The last frames before the end may still be on their way when the bot is asked for its evidence.
    assert len(left) - len(everything) <= 640
    assert (everything == left[: len(everything)]).all()
    assert rms(left[:4000]) == pytest.approx(327.68 / math.sqrt(3), rel=0.05)
    assert np.abs(left).max() > 15_000
    greeting = conversation.turns[0]
    assert not right[: round(greeting.start * RATE_HZ) - 1].any()
    assert max(map(abs, np.frombuffer(heard(user), "<i2").astype(int))) == right.max()


def test_noise_is_taken_neither_for_speech_nor_for_activity() -> None:
    clean = hold(user_bot(), agent_bot())
    loud = noisy_call(NoiseConfig(random_white_noise=True, white_noise_db=-31.0))
    for found, expected in zip(loud.turns, clean.turns, strict=True):
        assert (found.speaker, found.text) == (expected.speaker, expected.text)
        # The fake agent answers by what it hears: noise may make the last frame of speech seem louder.
        assert (found.start, found.end) == pytest.approx((expected.start, expected.end), abs=0.021)
    assert loud.turns[1] == clean.turns[1]
    mute = hold(
        user_bot(), FakeBot("agent"), Greeting(noise_config=WHITE), inactivity_timeout=20.0, max_duration=60
    )
    assert (mute.stop_reason, mute.turns) == (StopReason.INACTIVITY, ())
    assert mute.duration_seconds == pytest.approx(20.0, abs=0.05)


def test_latency_runs_from_the_end_of_the_clean_speech() -> None:
    clean = agent_bot()
    hold(user_bot(), clean)
    agent = agent_bot()
    (latency,) = noisy_call(WHITE, agent=agent).latencies
    assert latency.seconds == pytest.approx(agent.spoken[1][0] - end_of_speech(clean.heard), abs=0.005)


def test_the_same_scenario_has_the_same_noise_on_every_run_and_another_seed_other_noise() -> None:
    recordings = [
        noisy_call(noise).recording.pcm
        for noise in (WHITE, WHITE, NoiseConfig(random_white_noise=True, white_noise_db=-40.0, seed=5))
    ]
    assert recordings[0] == recordings[1]
    assert recordings[0] != recordings[2]


def test_another_scenario_has_other_noise() -> None:
    class Other(Greeting):
        name = "bridge__other"
        noise_config = WHITE

    other = hold(user_bot(), agent_bot(), Other())
    assert other.recording.pcm != noisy_call(WHITE).recording.pcm
    assert other.noise is not None


def test_a_dict_of_fields_serves_as_well() -> None:
    fields = {"random_white_noise": True, "white_noise_db": -40.0}
    assert noisy_call(fields).recording.pcm == noisy_call(WHITE).recording.pcm


def test_a_file_is_read_as_one_channel_at_the_rate_of_the_call_and_looped(tmp_path: Path) -> None:
    left = steps(1.5, 44_100)
    path = sound_file(tmp_path / "cafe.wav", np.stack([left, -left / 2], axis=1), 44_100)
    conversation = noisy_call(NoiseConfig(noise_files=path, random_offset=False), agent=FakeBot("agent"))
    found, _ = channels(conversation)
    expected = steps(1.5) / 4 * 32768
    inside = slice(400, 23_600)
    for turn_of_the_loop in range(2):
        part = found[24_000 * turn_of_the_loop :][inside]
        np.testing.assert_allclose(part, expected[inside], atol=12)


def test_only_the_wanted_seconds_of_a_file_are_taken_at_a_place_that_the_seed_chooses(tmp_path: Path) -> None:
    path = sound_file(tmp_path / "long.wav", np.linspace(0.01, 0.9, 10 * RATE_HZ), subtype="FLOAT")
    begins = set()
    for seed in (1, 2, 3):
        noise = NoiseConfig(noise_files=[path], max_noise_duration=0.5, gain_db=-20, seed=seed)
        found, _ = channels(noisy_call(noise, agent=FakeBot("agent")))
        period = found[:8000]
        assert (period == found[8000:16_000]).all()
        assert np.ptp(period) < 0.9 * 0.1 * 32768 * 0.06
        begins.add(period.min())
    assert len(begins) == 3


def test_files_follow_one_another(tmp_path: Path) -> None:
    one = sound_file(tmp_path / "a.wav", np.full(RATE_HZ, 0.25))
    two = sound_file(tmp_path / "b.wav", np.full(RATE_HZ // 2, -0.25))
    noise = NoiseConfig(noise_files=f"{one}, {two}", random_offset=False, gain_db=-20)
    found, _ = channels(noisy_call(noise, agent=FakeBot("agent")))
    assert [round(found[at] / 32768, 3) for at in (100, 15_900, 16_100, 23_900, 24_100)] == [
        *(0.025, 0.025),
        *(-0.025, -0.025),
        0.025,
    ]


def test_the_ratio_is_told_as_it_was_and_comes_near_what_was_asked_for() -> None:
    user = user_bot(lines=[Utterance("Hello there.", 8.0, 500), Utterance("And so on.", 8.0, 500)])
    agent = agent_bot(lines=[*agent_bot().lines[:1], Utterance("Hm.", 0.5), *agent_bot().lines[1:]])
    noise = noisy_call(NoiseConfig(random_white_noise=True, snr_db=20.0), user=user, agent=agent).noise
    assert noise is not None
    assert noise.speech_db == pytest.approx(20 * math.log10(16_000 / 32768) - 3.01, abs=0.2)
    assert noise.snr_db == pytest.approx(20.0, abs=2.0)


def test_a_call_without_noise_has_no_levels_and_silence_is_silence() -> None:
    agent = agent_bot()
    assert hold(user_bot(), agent).noise is None
    assert not any(agent.heard[0][1])


def refused(noise: Any) -> str:
    user, agent = user_bot(), agent_bot()
    with pytest.raises(DefinitionError) as caught:
        noisy_call(noise, user=user, agent=agent)
    assert user.connections == agent.connections == 0
    return str(caught.value)


def test_what_cannot_be_used_is_told_before_the_call_with_file_and_line(tmp_path: Path) -> None:
    empty = sound_file(tmp_path / "empty.wav", np.zeros(0))
    silent = sound_file(tmp_path / "silent.wav", np.zeros(100))
    (tmp_path / "text.wav").write_text("no sound", encoding="utf-8")
    cut = sound_file(tmp_path / "cut.wav", 0.1 * np.sin(steps(1.0)))
    Path(cut).write_bytes(Path(cut).read_bytes()[:8000])
    odd = sound_file(tmp_path / "odd.wav", np.array([0.1, np.nan]), subtype="FLOAT")
    told = {
        str(tmp_path / "gone.wav"): f"no file {tmp_path / 'gone.wav'}",
        str(tmp_path): f"no file {tmp_path}",
        empty: f"{empty} has no samples",
        silent: "silent throughout",
        str(tmp_path / "text.wav"): "cannot be read as sound",
        odd: "samples that are no numbers",
        cut: f"{cut} ends before it says that it does; fetch or save it again",
    }
    for path, text in told.items():
        message = refused(NoiseConfig(noise_files=path))
        assert "scripted_calls.py:" in message.split(": noise_config of scenario 'bridge__greeting': ")[0]
        assert text in message
        assert message.count("\n") == 0


def test_noise_that_does_not_say_what_it_is_is_refused() -> None:
    assert "name noise_files, or set random_white_noise=True" in refused(NoiseConfig())
    assert "gain_db is 'loud'; write a number of dB" in refused(
        {"gain_db": "loud", "random_white_noise": True}
    )
