from __future__ import annotations

import numpy as np
import pytest
import soxr

from pytest_voiceeval.bots.profile import Profile
from pytest_voiceeval.bots.profile_local import Timbre
from pytest_voiceeval.bots.recogniser import heard, shared_recogniser, without_loops
from pytest_voiceeval.bots.speech import shared_voice, spoken

LINES = {
    "I would like to order a pepperoni pizza please.": "i would like to order a pepperoni pizza please",
    "Welcome to the shop. What would you like?": "welcome to the shop what would you like",
    "Thank you very much and goodbye.": "thank you very much and goodbye",
}


def said(profile: Profile, text: str, timbre: Timbre, rate_hz: int = 16_000) -> bytes:
    return b"".join(spoken(text, shared_voice(profile.tts.voice_path), timbre, rate_hz))


def understood(profile: Profile, pcm: bytes) -> str:
    stt = profile.stt
    return heard(
        shared_recogniser(stt.model_path, stt.device, stt.compute_type), pcm + bytes(16_000), stt.language
    )


def words(text: str) -> str:
    return " ".join("".join(c for c in text.casefold() if c.isalnum() or c == " ").split())


def pitch_hz(pcm: bytes, rate_hz: int) -> float:
    """The median pitch of the voiced parts, by autocorrelation."""
    samples = np.frombuffer(pcm, dtype="<i2").astype(float)
    found = []
    for start in range(0, len(samples) - 2048, 512):
        frame = samples[start : start + 2048]
        if np.abs(frame).max() < 3000:
            continue
        frame = frame - frame.mean()
        correlation = np.correlate(frame, frame, "full")[2047:]
        low, high = rate_hz // 300, rate_hz // 60
        lag = low + int(np.argmax(correlation[low:high]))
        if correlation[lag] > 0.5 * correlation[0]:
            found.append(rate_hz / lag)
    return float(np.median(found))


@pytest.mark.parametrize("side", ["user", "agent"])
@pytest.mark.parametrize("text", LINES)
def test_what_a_side_says_is_understood(profile: Profile, side: str, text: str) -> None:
    timbre = profile.tts.user if side == "user" else profile.tts.agent
    assert words(understood(profile, said(profile, text, timbre))) == LINES[text]


def test_the_same_text_gives_the_same_samples(profile: Profile) -> None:
    text, timbre = next(iter(LINES)), profile.tts.user
    assert said(profile, text, timbre, 24_000) == said(profile, text, timbre, 24_000)


def test_the_user_speaks_about_three_semitones_above_the_agent_and_as_fast(profile: Profile) -> None:
    text = next(iter(LINES))
    user, agent = (said(profile, text, t, 24_000) for t in (profile.tts.user, profile.tts.agent))
    semitones = 12 * np.log2(pitch_hz(user, 24_000) / pitch_hz(agent, 24_000))
    assert 2 < semitones < 4
    assert 0.9 < len(user) / len(agent) < 1.1


def test_tempo_changes_length_and_not_pitch(profile: Profile) -> None:
    text = next(iter(LINES))
    slow, fast = (said(profile, text, Timbre(tempo=tempo), 24_000) for tempo in (1.0, 1.3))
    assert 1.15 < len(slow) / len(fast) < 1.45
    assert pitch_hz(fast, 24_000) == pytest.approx(pitch_hz(slow, 24_000), rel=0.06)


@pytest.mark.parametrize("level", [0.0, 0.01, 0.2])
def test_nothing_is_heard_where_nothing_was_said(profile: Profile, level: float) -> None:
    noise = np.random.default_rng(1).normal(0, level, 32_000)
    assert understood(profile, (noise.clip(-1, 1) * 32767).astype("<i2").tobytes()) == ""


def test_no_sound_at_all_is_no_words(profile: Profile) -> None:
    stt = profile.stt
    assert heard(shared_recogniser(stt.model_path, stt.device, stt.compute_type), b"", "en") == ""


@pytest.mark.parametrize("side", ["user", "agent"])
@pytest.mark.parametrize("word", ["Yes.", "Hi.", "Goodbye.", "Okay.", "No."])
def test_a_short_word_does_not_loop(profile: Profile, side: str, word: str) -> None:
    timbre = profile.tts.user if side == "user" else profile.tts.agent
    assert len(understood(profile, said(profile, word, timbre)).split()) <= 3


def test_models_are_loaded_once(profile: Profile) -> None:
    stt = profile.stt
    assert shared_voice(profile.tts.voice_path) is shared_voice(profile.tts.voice_path)
    first, second = (shared_recogniser(stt.model_path, stt.device, stt.compute_type) for _ in range(2))
    assert first is second


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Yes. Yes. Yes. Yes.", "Yes."),
        ("Hi. Hi. Hi. Hi. Hi", "Hi."),
        ("No. No.", "No. No."),
        ("Goodbye! goodbye. Goodbye", "Goodbye!"),
        ("I want one. Yes. Yes. Yes. Thanks.", "I want one. Yes. Thanks."),
        ("It costs $11.49. Is that right?", "It costs $11.49. Is that right?"),
        ("Bye Bye Bye Bye Bye", "Bye"),
        ("Thank you, thank you, thank you, thank you. Bye.", "Thank you, Bye."),
        ("No no no, I said a pizza.", "No no no, I said a pizza."),
        ("My number is 5 5 5 5, five five five five.", "My number is 5 5 5 5, five five five five."),
        ("I'd like 12 12 12.", "I'd like 12 12 12."),
        ("", ""),
    ],
)
def test_a_loop_is_cut_to_one(text: str, expected: str) -> None:
    assert without_loops(text) == expected


def test_a_rate_change_is_clean(profile: Profile) -> None:
    """Resampling to 24 kHz and back loses nothing that one resampling to 16 kHz would keep."""
    text, timbre = next(iter(LINES)), Timbre()
    direct = np.frombuffer(said(profile, text, timbre, 16_000), dtype="<i2").astype(np.float32)
    via = np.frombuffer(said(profile, text, timbre, 24_000), dtype="<i2").astype(np.float32)
    again = soxr.resample(via, 24_000, 16_000)
    size = min(len(direct), len(again))
    error = np.abs(direct[:size] - again[:size]).max()
    assert error < 0.02 * np.abs(direct).max()
