"""Noise on a channel: where it comes from, how loud it is, and how it is mixed with speech."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Protocol

import numpy as np
import soxr

from pytest_voiceeval.audio.levels import ActiveSpeechLevel, decibels, factor
from pytest_voiceeval.audio.pcm import Floats, Int16s, to_int16

NOMINAL_SPEECH_DB = -26.0
"""Level that speech is taken to have before any was heard, in dBov: the nominal one of ITU-T G.191."""

NOMINAL_SECONDS = 0.25
"""As much active speech as the nominal level counts for, beside what was measured."""


class NoiseSource(Protocol):
    """An endless stream of noise."""

    @property
    def rms(self) -> float:
        """Its root mean square, 1.0 being full scale."""

    def take(self, count: int) -> Floats:
        """Return the next ``count`` samples."""


class WhiteNoise:
    """Uniform white noise that never repeats.

    Args:
        generator: where the samples come from.
        peak: its peak; the root mean square is ``peak / sqrt(3)``.
    """

    def __init__(self, generator: np.random.Generator, peak: float) -> None:
        self._generator = generator
        self._peak = np.float32(peak)
        self.rms = float(peak) / math.sqrt(3)

    def take(self, count: int) -> Floats:
        """Return the next ``count`` samples, float32 in [-peak, peak)."""
        samples: Floats = (self._generator.random(count, dtype=np.float32) * 2 - 1) * self._peak
        return samples


class LoopedNoise:
    """Recorded noise, read round and round.

    Args:
        samples: shape (n,), n > 0.
        start: index of the first sample that is read.
    """

    def __init__(self, samples: Floats, start: int = 0) -> None:
        self._samples = samples
        self._next = start
        self.rms = math.sqrt(float(np.mean(np.square(samples, dtype=np.float64))))

    def take(self, count: int) -> Floats:
        """Return the next ``count`` samples."""
        places = np.arange(self._next, self._next + count) % len(self._samples)
        self._next = (self._next + count) % len(self._samples)
        return self._samples[places]


class NoisyChannel:
    """Adds noise to one direction of a call, frame by frame, and measures both.

    With ``snr_db`` the noise is that much below the *active speech level* of the clean speech so far (ITU-T
    P.56, method B: pauses do not count). Nothing is known of it before the first word, so that it begins at
    ``NOMINAL_SPEECH_DB``, which counts as much as ``NOMINAL_SECONDS`` of speech: where that is 10 dB off, the
    noise is 2 dB off after one second of speech, and half a dB after five.

    Args:
        source: the noise.
        rate_hz: of the speech, and of the noise.
        gain_db: gain on the noise; with ``snr_db`` it is not used.
        snr_db: the level of the speech less that of the noise, in dB.
    """

    def __init__(
        self, source: NoiseSource, rate_hz: int, *, gain_db: float = 0.0, snr_db: float | None = None
    ) -> None:
        self._source = source
        self._gain_db = gain_db
        self._snr_db = snr_db
        self._speech = ActiveSpeechLevel(rate_hz)
        self._noise_energy = 0.0
        self._count = 0

    def mix(self, speech: Int16s) -> Int16s:
        """Return the next frame of the channel: ``speech`` and the noise, clipped at full scale.

        Args:
            speech: clean, int16, shape (n,).
        """
        clean: Floats = speech.astype(np.float32) / np.float32(32768)
        self._speech.add(clean)
        noise = self._source.take(len(speech)) * np.float32(factor(self._gain()))
        if speech.any():
            self._noise_energy += float(np.sum(np.square(noise, dtype=np.float64)))
            self._count += len(speech)
        return to_int16(clean + noise)

    @property
    def speech_db(self) -> float | None:
        """Active level of the clean speech so far, in dBov; ``None`` if there was none."""
        return self._speech.level_db

    @property
    def noise_db(self) -> float | None:
        """Level of the noise under the speech so far, in dBov; ``None`` if there was none."""
        return decibels(self._noise_energy / self._count) if self._noise_energy else None

    def _gain(self) -> float:
        if self._snr_db is None:
            return self._gain_db
        return self._assumed_speech_db() - self._snr_db - decibels(self._source.rms**2)

    def _assumed_speech_db(self) -> float:
        measured, seconds = self._speech.level_db, self._speech.active_seconds
        if measured is None:
            return NOMINAL_SPEECH_DB
        return (NOMINAL_SPEECH_DB * NOMINAL_SECONDS + measured * seconds) / (NOMINAL_SECONDS + seconds)


def window(length: int, wanted: int | None, generator: np.random.Generator | None) -> tuple[int, int]:
    """Return which part of ``length`` samples is taken if only ``wanted`` may be, as a slice.

    It lies at a random place, or at the beginning if there is no ``generator``; ``None`` wants all.
    """
    if wanted is None or wanted >= length:
        return 0, length
    start = int(generator.integers(0, length - wanted + 1)) if generator is not None else 0
    return start, start + wanted


def looped(pieces: Sequence[Floats], generator: np.random.Generator | None) -> LoopedNoise:
    """Return ``pieces`` one after the other as a loop, entered at a random place if there is a generator."""
    samples = np.concatenate(pieces)
    start = int(generator.integers(0, len(samples))) if generator is not None else 0
    return LoopedNoise(samples, start)


def mono(samples: Floats, in_hz: int, out_hz: int) -> Floats:
    """Return ``samples``, shape (n, channels), as the mean of the channels at ``out_hz``, shape (m,)."""
    mixed: Floats = samples.mean(axis=1, dtype=np.float32)
    if in_hz == out_hz:
        return mixed
    return np.asarray(soxr.resample(mixed, in_hz, out_hz, quality="HQ"), dtype=np.float32)
