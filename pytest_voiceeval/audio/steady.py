"""A resampler that holds nothing back: for sound that somebody waits for."""

from __future__ import annotations

import math

import numpy as np

from pytest_voiceeval.audio.pcm import Floats

HALF_WIDTH = 32
"""Samples of the lower rate on either side of the one that is made: the filter's delay."""

PASSED = 0.92
"""Share of the lower rate's band that passes; above it the filter falls off."""

KAISER_BETA = 8.0
"""Shape of the window: what is aliased stays 80 dB down."""


class SteadyResampler:
    """Resamples a stream chunk by chunk; of each chunk all comes out at once, but for a delay of 2 ms or so.

    soxr's streams work in blocks, of which one at 8 kHz lasts 0.1 s: a listener would hear everything late.

    Args:
        in_hz: rate of the chunks.
        out_hz: rate of what comes out.
    """

    def __init__(self, in_hz: int, out_hz: int) -> None:
        divisor = math.gcd(in_hz, out_hz)
        self._up, self._down = out_hz // divisor, in_hz // divisor
        narrowing = min(1.0, out_hz / in_hz)
        half = math.ceil(HALF_WIDTH / narrowing)
        self._phases = _filters(self._up, half, PASSED * narrowing)
        self._taps = np.arange(2 * half)
        self._rest = np.zeros(2 * half - 1, np.float32)
        self._place = 0
        self.delay_seconds = half / in_hz

    def push(self, samples: Floats) -> Floats:
        """Feed a chunk, shape (n,), and return what it comes to, shape (m,)."""
        heard = np.concatenate((self._rest, samples))
        spare = len(heard) - len(self._taps)
        count = (spare * self._up - self._place) // self._down + 1 if spare >= 0 else 0
        places = self._place + self._down * np.arange(max(count, 0))
        if heard.any():
            windows = heard[(places // self._up)[:, None] + self._taps]
            out: Floats = np.einsum("ij,ij->i", windows, self._phases[places % self._up])
        else:  # as most of a call is
            out = np.zeros(len(places), np.float32)
        place = self._place + self._down * len(places)
        dropped = min(place // self._up, len(heard))
        self._rest = heard[dropped:]
        self._place = place - dropped * self._up
        return out


def _filters(phases: int, half: int, passed: float) -> Floats:
    """Return one filter for each place between two samples, shape (phases, 2 * half), each with sum 1."""
    offsets = np.arange(2 * half) - (half - 1) - (np.arange(phases) / phases)[:, None]
    window = np.i0(KAISER_BETA * np.sqrt(np.clip(1 - (offsets / half) ** 2, 0, None)))
    weights = np.sinc(passed * offsets) * window
    filters: Floats = (weights / weights.sum(axis=1, keepdims=True)).astype(np.float32)
    return filters
