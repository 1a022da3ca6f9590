"""A resampler for a stream of chunks, with pauses between them."""

from __future__ import annotations

import functools
import math

import numpy as np
import soxr

from pytest_voiceeval.audio.pcm import Floats

MARGIN_SECONDS = 0.01
"""Silence kept around each utterance for the filter's ringing: more than half its length."""


class StreamResampler:
    """Resamples chunks to ``out_hz`` as one stream for a whole call.

    The filter works in blocks, so that output lags behind input; ``flush`` brings the rest of an
    utterance out by feeding silence, which is what a pause is.

    Args:
        in_hz: rate of the chunks.
        out_hz: rate of what comes out.
    """

    def __init__(self, in_hz: int, out_hz: int) -> None:
        self.in_hz = in_hz
        self.out_hz = out_hz
        self._stream = soxr.ResampleStream(in_hz, out_hz, 1, dtype="float32", quality="HQ")
        self._fed = 0
        self._given = 0
        self._surplus = 0

    def push(self, samples: Floats) -> Floats:
        """Feed a chunk, shape (n,), and return what is ready, shape (m,), m >= 0, on the same scale.

        What comes out does not depend on how the stream was cut.

        Silence that an earlier ``flush`` has left inside the filter is dropped, but for a margin.
        """
        out = self._feed(samples)
        dropped = min(self._surplus, len(out))
        self._surplus -= dropped
        return out[dropped:]

    def flush(self) -> Floats:
        """Return the rest of all chunks so far, and a margin of silence behind it."""
        margin = math.ceil(MARGIN_SECONDS * self.out_hz)
        goal = math.ceil(self._fed * self.out_hz / self.in_hz) + margin
        silence = np.zeros(max(self.in_hz // 100, 1), dtype=np.float32)
        parts = []
        while self._given < goal:
            parts.append(self._feed(silence))
        rest = np.concatenate(parts) if parts else np.zeros(0, dtype=np.float32)
        dropped = min(self._surplus, len(rest))
        excess = self._given - goal
        kept = rest[dropped : len(rest) - excess] if excess else rest[dropped:]
        inside = math.floor(self._fed * self.out_hz / self.in_hz) - self._given
        self._surplus = max(inside - margin, 0)
        return kept

    @property
    def lag_seconds(self) -> float:
        """How far the output is behind the input now; below 0 after a flush."""
        return self._fed / self.in_hz - self._given / self.out_hz

    def _feed(self, samples: Floats) -> Floats:
        out: Floats = self._stream.resample_chunk(samples[:, np.newaxis])[:, 0]
        self._fed += len(samples)
        self._given += len(out)
        return out


@functools.cache
def largest_lag(in_hz: int, out_hz: int) -> float:
    """Return by how many seconds output falls behind input at most, in a steady stream of 10 ms chunks."""
    probe = StreamResampler(in_hz, out_hz)
    chunk = np.zeros(max(in_hz // 100, 1), dtype=np.float32)
    lags = []
    for _ in range(100):
        probe.push(chunk)
        lags.append(probe.lag_seconds)
    return max(lags)


def resampled(pcm: bytes, in_hz: int, out_hz: int, *, channels: int) -> bytes:
    """Return sound as a whole (int16 little-endian, interleaved) at another rate."""
    if in_hz == out_hz or not pcm:
        return pcm
    frames = np.frombuffer(pcm, "<i2").reshape(-1, channels)
    out: bytes = soxr.resample(frames, in_hz, out_hz, quality="VHQ").astype("<i2").tobytes()
    return out
