from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_voiceeval.audio.g711 import Law, decoded, encoded

samples_of = st.lists(st.integers(-32768, 32767), max_size=50).map(lambda v: np.array(v, np.int16))

MU_LAW = {0x00: -32124, 0x80: 32124, 0xFF: 0, 0x7F: 0, 0xFE: 8, 0xF0: 120, 0xEF: 132, 0x8F: 16764, 0x9F: 8316}
"""Levels of ITU-T G.711, table 2a (14 bits), times 4."""

A_LAW = {0xD5: 8, 0x55: -8, 0xD4: 24, 0xAA: 32256, 0x2A: -32256, 0xC5: 264, 0xF5: 528, 0xE5: 1056, 0x80: 5504}
"""Levels of ITU-T G.711, table 1a (13 bits, every other bit of a code inverted), times 8."""


@pytest.mark.parametrize(("law", "levels"), [("mulaw", MU_LAW), ("alaw", A_LAW)])
def test_codes_have_the_levels_of_the_recommendation(law: Law, levels: dict[int, int]) -> None:
    assert dict(zip(levels, decoded(bytes(levels), law).tolist(), strict=True)) == levels


@pytest.mark.parametrize("law", ["mulaw", "alaw"])
def test_each_level_is_encoded_as_its_own_code(law: Law) -> None:
    codes = bytes(range(256))
    levels = decoded(codes, law)
    assert decoded(encoded(levels, law), law).tolist() == levels.tolist()
    assert len(set(levels.tolist())) == (255 if law == "mulaw" else 256)  # mu-law has a zero of each sign


@pytest.mark.parametrize(("law", "silence"), [("mulaw", 0xFF), ("alaw", 0xD5)])
def test_silence_has_the_code_of_silence(law: Law, silence: int) -> None:
    assert encoded(np.zeros(3, np.int16), law) == bytes([silence] * 3)


@given(samples_of)
def test_mu_law_is_within_half_a_step_of_what_it_codes(samples: np.ndarray) -> None:
    clipped = np.clip(samples.astype(int), -32124, 32124)
    error = np.abs(decoded(encoded(samples, "mulaw"), "mulaw").astype(int) - clipped)
    step = 2 ** (np.floor(np.log2(np.abs(clipped) + 132)) - 4)  # sixteen steps a chord
    assert (error <= step / 2 + 4).all()


@given(samples_of)
def test_a_law_is_within_half_a_step_of_what_it_codes(samples: np.ndarray) -> None:
    clipped = np.clip(samples.astype(int), -32256, 32256)
    error = np.abs(decoded(encoded(samples, "alaw"), "alaw").astype(int) - clipped)
    step = 2 ** np.maximum(np.floor(np.log2(np.abs(clipped) + 1)) - 4, 4)
    assert (error <= step / 2 + 8).all()


@given(samples_of, st.sampled_from(["mulaw", "alaw"]))
def test_louder_is_never_softer(samples: np.ndarray, law: Law) -> None:
    levels = decoded(encoded(np.sort(samples), law), law).astype(int)
    assert (np.diff(levels) >= 0).all()
