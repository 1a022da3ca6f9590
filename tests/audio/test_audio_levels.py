from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_voiceeval.audio.levels import ActiveSpeechLevel, decibels, factor
from pytest_voiceeval.audio.pcm import Floats

RATE_HZ = 16_000


def tone(seconds: float, peak: float) -> Floats:
    times = np.arange(round(seconds * RATE_HZ)) / RATE_HZ
    return (peak * np.sin(2 * np.pi * 440 * times)).astype(np.float32)


def silence(seconds: float) -> Floats:
    return np.zeros(round(seconds * RATE_HZ), dtype=np.float32)


def level_of(*pieces: Floats, frame: int = 320) -> ActiveSpeechLevel:
    meter = ActiveSpeechLevel(RATE_HZ)
    samples = np.concatenate(pieces)
    for at in range(0, len(samples), frame):
        meter.add(samples[at : at + frame])
    return meter


def test_full_scale_is_0_dbov_and_a_sine_3_below() -> None:
    assert decibels(1.0) == 0.0
    assert decibels(0.5) == pytest.approx(-3.01, abs=0.01)
    assert decibels(0.0) == -math.inf
    assert factor(-20) == pytest.approx(0.1)


@pytest.mark.parametrize("peak", [1.0, 0.1, 0.01, 0.001])
def test_a_steady_tone_has_its_own_level(peak: float) -> None:
    meter = level_of(tone(10, peak))
    assert meter.level_db == pytest.approx(20 * math.log10(peak) - 3.01, abs=0.1)
    assert meter.active_seconds == pytest.approx(10, abs=0.1)


def test_pauses_do_not_count_but_for_the_hangover() -> None:
    meter = level_of(*[tone(2, 0.5), silence(4)] * 4)
    assert meter.level_db == pytest.approx(20 * math.log10(0.5) - 3.01, abs=0.6)
    assert meter.active_seconds == pytest.approx(4 * 2.25, abs=0.3)  # the envelope takes a while to fall
    assert decibels(0.125 / 3) < (meter.level_db or 0.0) - 4  # the level over all of it


def test_faint_noise_under_speech_is_no_speech() -> None:
    noise = (np.random.default_rng(1).random(60 * RATE_HZ) * 2 - 1) * factor(-60)
    noisy = noise.astype(np.float32)
    noisy[: 5 * RATE_HZ] += tone(5, 0.3)
    meter = level_of(noisy)
    assert meter.level_db == pytest.approx(20 * math.log10(0.3) - 3.01, abs=0.4)


def test_silence_has_no_level() -> None:
    meter = level_of(silence(3))
    assert meter.level_db is None
    assert meter.active_seconds == 0.0
    assert ActiveSpeechLevel(RATE_HZ).level_db is None


@given(frame=st.integers(100, 4000))
def test_the_level_does_not_depend_on_how_the_samples_come(frame: int) -> None:
    pieces = (silence(0.3), tone(0.7, 0.2), silence(0.5), tone(0.2, 0.4))
    assert level_of(*pieces, frame=frame).level_db == pytest.approx(level_of(*pieces).level_db, abs=1e-6)
