from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_voiceeval.audio.levels import factor
from pytest_voiceeval.audio.noise import (
    NOMINAL_SECONDS,
    NOMINAL_SPEECH_DB,
    LoopedNoise,
    NoisyChannel,
    WhiteNoise,
    looped,
    mono,
    window,
)
from pytest_voiceeval.audio.pcm import Floats, Int16s

RATE_HZ = 16_000
FRAME = 320


def rng(seed: int = 1) -> np.random.Generator:
    return np.random.default_rng(seed)


def tone(seconds: float, peak: float) -> Int16s:
    times = np.arange(round(seconds * RATE_HZ)) / RATE_HZ
    return np.rint(peak * 32768 * np.sin(2 * np.pi * 440 * times)).astype(np.int16)


def through(channel: NoisyChannel, speech: Int16s) -> Int16s:
    return np.concatenate([channel.mix(speech[at : at + FRAME]) for at in range(0, len(speech), FRAME)])


def rms(samples: Int16s | Floats) -> float:
    return math.sqrt(float(np.mean(np.square(samples, dtype=np.float64))))


def test_white_noise_has_the_level_that_the_reference_gives_it() -> None:
    """At -20 dB: peak 3276, RMS about 1892 of 32767."""
    noise = through(NoisyChannel(WhiteNoise(rng(), factor(-20)), RATE_HZ), np.zeros(160_000, np.int16))
    assert np.abs(noise.astype(int)).max() in (3276, 3277)
    assert rms(noise) == pytest.approx(1892, rel=0.01)


def test_the_same_generator_gives_the_same_noise_and_another_one_does_not() -> None:
    one, same, other = (WhiteNoise(rng(seed), 1.0).take(1000) for seed in (7, 7, 8))
    assert (one == same).all()
    assert (one != other).any()


@given(sizes=st.lists(st.integers(0, 12), max_size=12), start=st.integers(0, 6))
def test_a_loop_goes_round_whatever_is_taken_at_once(sizes: list[int], start: int) -> None:
    samples = np.arange(7, dtype=np.float32)
    noise = LoopedNoise(samples, start)
    taken = [value for size in sizes for value in noise.take(size)]
    assert taken == [(start + n) % 7 for n in range(sum(sizes))]


def test_pieces_follow_one_another_and_are_entered_anywhere() -> None:
    pieces = [np.array([1, 2], np.float32), np.array([3], np.float32)]
    assert list(looped(pieces, None).take(4)) == [1, 2, 3, 1]
    firsts = {float(looped(pieces, rng(seed)).take(1)[0]) for seed in range(30)}
    assert firsts == {1, 2, 3}


@given(length=st.integers(0, 50), wanted=st.none() | st.integers(1, 60), seed=st.none() | st.integers(0, 9))
def test_a_window_lies_within_and_is_as_long_as_wanted(
    length: int, wanted: int | None, seed: int | None
) -> None:
    start, end = window(length, wanted, None if seed is None else rng(seed))
    assert 0 <= start <= end <= length
    assert end - start == (length if wanted is None else min(length, wanted))
    if seed is None:
        assert start == 0


def test_channels_are_averaged_and_the_rate_is_changed() -> None:
    stereo = np.stack([np.full(48_000, 0.5, np.float32), np.full(48_000, -0.1, np.float32)], axis=1)
    mixed = mono(stereo, 48_000, RATE_HZ)
    assert mixed.shape == (16_000,)
    assert mixed[8000] == pytest.approx(0.2, abs=1e-3)
    assert mono(stereo, 48_000, 48_000).shape == (48_000,)


def test_noise_is_added_with_its_gain_and_clipped_at_full_scale() -> None:
    source = LoopedNoise(np.array([0.5, -0.5], np.float32))
    speech = np.array([0, 0, 32767, -32768], np.int16)
    mixed = NoisyChannel(source, RATE_HZ, gain_db=-20).mix(speech)
    assert list(mixed) == [1638, -1638, 32767, -32768]


def test_speech_is_only_added_to() -> None:
    speech = tone(1.0, 0.3)
    noisy = through(NoisyChannel(WhiteNoise(rng(), factor(-40)), RATE_HZ), speech)
    alone = through(NoisyChannel(WhiteNoise(rng(), factor(-40)), RATE_HZ), np.zeros_like(speech))
    assert np.abs((noisy.astype(int) - speech) - alone).max() <= 1


@pytest.mark.parametrize("peak", [0.02, 0.06, 0.3, 0.9])
@pytest.mark.parametrize("snr_db", [0.0, 10.0, 25.0])
def test_the_ratio_is_kept_after_some_seconds_of_speech(peak: float, snr_db: float) -> None:
    """Measured from outside: the noise in the last pause against the tone."""
    speech = np.concatenate([tone(2.0, peak), np.zeros(RATE_HZ, np.int16)] * 5)
    channel = NoisyChannel(WhiteNoise(rng(), 1.0), RATE_HZ, snr_db=snr_db)
    noisy = through(channel, speech)
    pause = noisy[-RATE_HZ // 2 :]
    found = 20 * math.log10(rms(tone(2.0, peak)) / rms(pause))
    level = 20 * math.log10(peak) - 3.01
    nominal_share = NOMINAL_SECONDS / (NOMINAL_SECONDS + 10)
    assert found == pytest.approx(snr_db, abs=0.6 + nominal_share * abs(level - NOMINAL_SPEECH_DB))
    assert channel.speech_db == pytest.approx(level, abs=0.6)


def test_before_the_first_word_speech_is_taken_to_be_nominal_whatever_the_sources_level() -> None:
    for peak in (1.0, 0.01):
        channel = NoisyChannel(WhiteNoise(rng(), peak), RATE_HZ, snr_db=20.0)
        noise = through(channel, np.zeros(RATE_HZ, np.int16))
        assert 20 * math.log10(rms(noise) / 32768) == pytest.approx(-46, abs=0.1)
        assert channel.speech_db is None
        assert channel.noise_db is None


def test_a_channel_on_which_nothing_was_carried_has_no_levels() -> None:
    channel = NoisyChannel(WhiteNoise(rng(), 1.0), RATE_HZ)
    assert (channel.speech_db, channel.noise_db) == (None, None)
