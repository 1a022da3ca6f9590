"""G.711: mu-law and A-law samples of telephony.

Source: ITU-T Recommendation G.711 (1988), tables 1 and 2; a sample of 14 (mu-law) or 13 bits (A-law) stands
in the upper bits of an int16.
"""

from __future__ import annotations

from functools import cache
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from pytest_voiceeval.audio.pcm import Int16s

Law = Literal["mulaw", "alaw"]

BIAS = 132
"""What mu-law adds to a magnitude, so that each of its eight chords begins at a power of two."""

CLIP = 32_635
"""Largest magnitude that mu-law can hold."""


def decoded(content: bytes, law: Law) -> Int16s:
    """Return the samples that ``content`` holds, one a byte: int16, shape (n,)."""
    samples: Int16s = _levels(law)[np.frombuffer(content, np.uint8)]
    return samples


def encoded(samples: Int16s, law: Law) -> bytes:
    """Return ``samples`` (int16, shape (n,)), one a byte: the level of the interval that each lies in."""
    return _codes(law)[samples.view(np.uint16)].tobytes()


@cache
def _levels(law: Law) -> Int16s:
    """Return the level of each of the 256 codes."""
    codes = np.arange(256)
    if law == "mulaw":
        bits = ~codes & 0xFF
        chord, step = bits >> 4 & 7, bits & 15
        magnitude = (((step << 3) + BIAS) << chord) - BIAS
        return np.where(bits & 0x80, -magnitude, magnitude).astype(np.int16)
    bits = codes ^ 0x55
    chord, step = bits >> 4 & 7, bits & 15
    magnitude = np.where(chord == 0, (step << 4) + 8, ((step << 4) + 0x108) << np.maximum(chord - 1, 0))
    return np.where(bits & 0x80, magnitude, -magnitude).astype(np.int16)


@cache
def _codes(law: Law) -> NDArray[np.uint8]:
    """Return the code of each int16, in the order of its bits read as uint16."""
    samples = np.arange(1 << 16, dtype=np.uint16).view(np.int16).astype(np.int32)
    negative = samples < 0
    if law == "mulaw":
        biased = np.minimum(np.abs(samples), CLIP) + BIAS
        chord = _exponent(biased) - 7
        bits = np.where(negative, 0x80, 0) | chord << 4 | biased >> (chord + 3) & 15
        return np.asarray(~bits & 0xFF, np.uint8)
    magnitude = np.where(negative, ~samples, samples)
    chord = np.maximum(_exponent(np.maximum(magnitude, 1)) - 7, 0)
    step = magnitude >> np.maximum(chord + 3, 4) & 15
    bits = np.where(negative, 0, 0x80) | chord << 4 | step
    return np.asarray(bits ^ 0x55, np.uint8)


def _exponent(values: NDArray[np.int32]) -> NDArray[np.int32]:
    """Return the largest power of two in each of ``values``, which are above 0."""
    return (np.frexp(values.astype(np.float64))[1] - 1).astype(np.int32)
