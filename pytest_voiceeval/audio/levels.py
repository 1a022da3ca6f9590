"""How loud sound is: decibels, and the active level of speech."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from pytest_voiceeval.audio.pcm import Floats

SMOOTHING_SECONDS = 0.03
HANGOVER_SECONDS = 0.2
MARGIN_DB = 15.9
THRESHOLDS = 2.0 ** -np.arange(15, 0, -1)
"""Constants of ITU-T P.56 (12/2011), method B; thresholds are levels of the envelope, the lowest first."""

BLOCK_SECONDS = 0.1
"""How much is worked on at once."""

Doubles = NDArray[np.float64]


def decibels(power: float) -> float:
    """Return the level of a mean square in dBov: 0 for full scale, -3.01 for a sine of full scale."""
    return 10 * math.log10(power) if power > 0 else -math.inf


def factor(gain_db: float) -> float:
    """Return what an amplitude is multiplied by for a gain."""
    return float(10.0 ** (gain_db / 20))


class ActiveSpeechLevel:
    """The level of speech while there is speech, of all that was added so far.

    For each threshold it counts how long the envelope was above it, or had been no longer ago than the
    hangover. The active level is the one that lies 15.9 dB above the threshold that it follows from.

    Source: ITU-T Recommendation P.56 (12/2011), method B.
    """

    def __init__(self, rate_hz: int) -> None:
        self._rate_hz = rate_hz
        self._decay = math.exp(-1 / (rate_hz * SMOOTHING_SECONDS))
        self._hangover = math.ceil(rate_hz * HANGOVER_SECONDS)
        self._block = max(round(BLOCK_SECONDS * rate_hz), 1)
        self._powers = self._decay ** np.arange(1, self._block + 1)
        self._energy = 0.0
        self._smooth_once = self._smooth_twice = 0.0
        self._active = np.zeros(len(THRESHOLDS), dtype=np.int64)
        self._since = np.full(len(THRESHOLDS), self._hangover, dtype=np.int64)

    def add(self, samples: Floats) -> None:
        """Take the next samples, float in [-1, 1], shape (n,)."""
        for at in range(0, len(samples), self._block):
            self._add_block(samples[at : at + self._block].astype(np.float64))

    @property
    def level_db(self) -> float | None:
        """Active level in dBov; ``None`` if there was no speech."""
        below: tuple[float, float] | None = None
        for threshold, count in zip(THRESHOLDS, self._active, strict=True):
            if not count:
                return None
            level = decibels(self._energy / count)
            excess = level - decibels(threshold**2) - MARGIN_DB
            if excess <= 0:
                if below is None:
                    return None
                share = excess / (excess - below[1])
                return level + share * (below[0] - level)
            below = level, excess
        return None

    @property
    def active_seconds(self) -> float:
        """How long there was speech."""
        level = self.level_db
        return 0.0 if level is None else float(self._energy / 10 ** (level / 10) / self._rate_hz)

    def _add_block(self, block: Doubles) -> None:
        is_silent = not block.any()
        if is_silent and self._smooth_twice < THRESHOLDS[0] and (self._since >= self._hangover).all():
            self._smooth_once = self._smooth_twice = 0.0
            return
        self._energy += float(np.sum(np.square(block)))
        once = self._smoothed(np.abs(block), self._smooth_once)
        envelope = self._smoothed(once, self._smooth_twice)
        self._smooth_once, self._smooth_twice = float(once[-1]), float(envelope[-1])
        places = np.arange(len(block))
        above = np.where(envelope >= THRESHOLDS[:, None], places, -1 - self._since[:, None])
        since = places - np.maximum.accumulate(above, axis=1)
        self._active += np.count_nonzero(since <= self._hangover, axis=1)
        self._since = np.minimum(since[:, -1], self._hangover)

    def _smoothed(self, values: Doubles, before: float) -> Doubles:
        """Return the exponential average of ``values``, continued from ``before``."""
        powers = self._powers[: len(values)]
        smoothed: Doubles = powers * (before + (1 - self._decay) * np.cumsum(values / powers))
        return smoothed
