from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_voiceeval.audio.samples import Encoding, SampleReader, encoded
from pytest_voiceeval.audio.steady import SteadyResampler

ENCODINGS = ["s16le", "f32le", "mulaw", "alaw"]


@given(
    st.sampled_from(ENCODINGS),
    st.lists(st.integers(-32768, 32767), max_size=60),
    st.lists(st.integers(1, 9), min_size=1, max_size=20),
)
def test_however_a_stream_is_cut_its_samples_are_the_same(
    encoding: Encoding, values: list[int], sizes: list[int]
) -> None:
    content = encoded(np.array(values, np.int16), encoding)
    whole = SampleReader(encoding).read(content).tolist()
    reader, parts, at = SampleReader(encoding), [], 0
    for number in range(len(content)):
        size = sizes[number % len(sizes)]
        parts += reader.read(content[at : at + size]).tolist()
        at += size
    assert parts == whole
    assert len(whole) == len(values)


@given(st.sampled_from(["s16le", "f32le"]), st.lists(st.integers(-32768, 32767), max_size=60))
def test_linear_samples_come_through_as_they_are(encoding: Encoding, values: list[int]) -> None:
    assert SampleReader(encoding).read(encoded(np.array(values, np.int16), encoding)).tolist() == values


def test_floats_beyond_full_scale_are_clipped_and_what_is_no_number_is_silence() -> None:
    floats = np.array([2.0, -2.0, np.nan, np.inf, -np.inf, 0.5, 1e38], "<f4")
    found = SampleReader("f32le").read(floats.tobytes()).tolist()
    assert found == [32767, -32768, 0, 32767, -32768, 16384, 32767]


@pytest.mark.parametrize("out_hz", [8_000, 11_025, 22_050, 24_000, 44_100, 48_000])
@pytest.mark.parametrize("hz", [300, 1_000, 3_000])
def test_a_tone_is_the_same_at_another_rate(out_hz: int, hz: int) -> None:
    resampler = SteadyResampler(16_000, out_hz)
    tone = (0.5 * np.sin(2 * np.pi * hz * np.arange(8_000) / 16_000)).astype(np.float32)
    out = np.concatenate([resampler.push(tone[at : at + 320]) for at in range(0, 8_000, 320)])
    times = np.arange(len(out)) / out_hz - resampler.delay_seconds
    settled = slice(len(out) // 10, None)
    wanted = 0.5 * np.sin(2 * np.pi * hz * times)
    np.testing.assert_allclose(out[settled], wanted[settled], atol=1e-3)


def test_what_the_lower_rate_cannot_hold_is_gone() -> None:
    resampler = SteadyResampler(16_000, 8_000)
    tone = np.sin(2 * np.pi * 5_000 * np.arange(16_000) / 16_000).astype(np.float32)
    out = np.concatenate([resampler.push(tone[at : at + 320]) for at in range(0, 16_000, 320)])
    assert np.abs(out[400:]).max() < 1e-3


@given(st.lists(st.integers(0, 700), max_size=20), st.sampled_from([8_000, 22_050, 24_000]))
def test_how_the_chunks_are_cut_makes_no_difference(sizes: list[int], out_hz: int) -> None:
    sound = np.random.default_rng(1).normal(size=sum(sizes)).astype(np.float32)
    at_once = SteadyResampler(16_000, out_hz).push(sound)
    resampler, parts, at = SteadyResampler(16_000, out_hz), [np.zeros(0, np.float32)], 0
    for size in sizes:
        parts.append(resampler.push(sound[at : at + size]))
        at += size
    np.testing.assert_allclose(np.concatenate(parts), at_once, atol=1e-6)


def test_all_of_each_chunk_comes_out_at_once() -> None:
    resampler = SteadyResampler(16_000, 8_000)
    loud, silent = np.ones(320, np.float32), np.zeros(320, np.float32)
    assert [len(resampler.push(chunk)) for chunk in (silent, loud, silent, silent, loud)] == [160] * 5
    assert resampler.delay_seconds < 0.005
