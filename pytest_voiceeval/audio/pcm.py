"""Between int16 PCM and float samples."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]
Int16s = NDArray[np.int16]


def to_float(pcm: bytes, channels: int = 1) -> Floats:
    """Return samples in [-1, 1), shape (n,): the mean of the channels.

    Args:
        pcm: int16 little-endian, ``channels`` interleaved.
        channels: how many.
    """
    samples = np.frombuffer(pcm, dtype="<i2").astype(np.float32) / np.float32(32768)
    if channels == 1:
        return samples
    mixed: Floats = samples.reshape(-1, channels).mean(axis=1, dtype=np.float32)
    return mixed


def mono(pcm: bytes, channels: int = 1) -> Int16s:
    """Return samples as int16, shape (n,): the mean of the channels.

    Args:
        pcm: int16 little-endian, ``channels`` interleaved.
        channels: how many.
    """
    return np.frombuffer(pcm, dtype="<i2") if channels == 1 else to_int16(to_float(pcm, channels))


def to_int16(samples: Floats) -> Int16s:
    """Return ``samples`` as int16, rounded to nearest and clipped, without dither."""
    return rounded(samples * np.float32(32768))


def rounded(scaled: Floats) -> Int16s:
    """Return samples in [-32768, 32767] as int16, rounded to nearest and clipped; ``scaled`` is used up."""
    np.rint(scaled, out=scaled)
    np.minimum(scaled, 32767, out=scaled)
    np.maximum(scaled, -32768, out=scaled)
    return scaled.astype(np.int16)


def interleave(left: Int16s, right: Int16s) -> bytes:
    """Return two channels as interleaved PCM, the shorter one filled up with silence."""
    stereo = np.zeros((max(len(left), len(right)), 2), dtype="<i2")
    stereo[: len(left), 0] = left
    stereo[: len(right), 1] = right
    return stereo.tobytes()
