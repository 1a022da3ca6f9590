"""A jitter buffer: chunks in as they come, frames out at a steady pace."""

from __future__ import annotations

import math
from collections import deque
from dataclasses import dataclass

import numpy as np

from pytest_voiceeval.audio.pcm import Int16s, mono, rounded
from pytest_voiceeval.audio.resampling import MARGIN_SECONDS, StreamResampler, largest_lag

DEPTH_SECONDS = 0.08
"""How long the first chunk of an utterance is held back, so that late ones do not leave a gap."""

LATENESS_SECONDS = 0.04
"""How late a chunk may come without leaving a gap, whatever the resampler holds back."""

LARGEST_DEPTH_SECONDS = 0.64
"""Depth beyond which a buffer does not grow for a sender that is too slow."""

SAME_UTTERANCE_SECONDS = 0.15
"""A chunk that comes so soon after the buffer ran dry was late; one that comes later begins something new."""

SAME_STREAM_SECONDS = 0.001
"""A chunk that comes no later than that is resampled, and dated, together with those before it."""


@dataclass(frozen=True)
class PlayedFrame:
    """One frame of the listener's stream.

    Attributes:
        samples: int16, shape (n,): silence where nothing was to be played.
        delays: for each stretch of sound in it ``(first sample, seconds since that sample came in)``;
            empty for silence.
    """

    samples: Int16s
    delays: tuple[tuple[int, float], ...] = ()


class JitterBuffer:
    """Turns chunks of any size and rate into frames of ``frame_samples`` at ``out_hz``.

    An utterance starts to play ``depth`` seconds after its first chunk came in, at the nearest frame.
    When it runs dry, the resampler is flushed, so that nothing of an utterance's end stays behind to be
    played before the next one, however short it is.

    Where chunks come late in the midst of an utterance, the buffer holds back more of what follows: a
    sender that cannot keep up is then heard in a few pieces, not in crumbs.

    Args:
        out_hz: rate of the frames.
        frame_samples: samples a frame.
        depth: seconds.
    """

    def __init__(self, out_hz: int, frame_samples: int, *, depth: float = DEPTH_SECONDS) -> None:
        self._out_hz = out_hz
        self._frame_samples = frame_samples
        self._depth = depth
        self._resampler: StreamResampler | None = None
        self._to_resample: list[Int16s] = []
        self._to_resample_seconds = 0.0
        self._silence = PlayedFrame(np.zeros(frame_samples, dtype=np.int16))
        self._queue: deque[_Stretch] = deque()
        self._queued = 0
        self._starts_at: float | None = None
        self._heard_until = -math.inf
        self._dry_since = -math.inf
        self._held_back = depth
        self._flushed = True

    def push(self, pcm: bytes, rate_hz: int, channels: int, now: float) -> None:
        """Take a chunk that came in at ``now`` (seconds on any steady clock)."""
        if not pcm:
            return
        if self._starts_at is None:
            late = now - self._dry_since < SAME_UTTERANCE_SECONDS
            self._held_back = self._held_back * 2 if late else self._least(rate_hz)
            self._held_back = min(self._held_back, max(LARGEST_DEPTH_SECONDS, self._least(rate_hz)))
            self._starts_at = now + self._held_back
        if now > self._heard_until + SAME_STREAM_SECONDS:
            self._resample()
        if self._resampler is not None and self._resampler.in_hz != rate_hz:
            self._flush()
            self._resampler = None
        samples = mono(pcm, channels)
        self._flushed = False
        self._heard_until = max(self._heard_until, now) + len(samples) / rate_hz
        if rate_hz == self._out_hz:
            self._append(samples, self._heard_until)
            return
        self._resampler = self._resampler or StreamResampler(rate_hz, self._out_hz)
        self._to_resample.append(samples)
        self._to_resample_seconds += len(samples) / rate_hz

    def pop(self, now: float) -> PlayedFrame:
        """Return the frame to be played at ``now``."""
        half_a_frame = self._frame_samples / self._out_hz / 2
        if self._starts_at is None or now < self._starts_at - half_a_frame:
            return self._silence
        if self._queued < self._frame_samples:
            self._resample()
        if self._queued < self._frame_samples:
            self._flush()
        frame = self._take(now)
        if self._flushed and not self._queued:
            self._starts_at = None
            self._dry_since = now
        return frame

    def clear(self) -> float:
        """Drop what was not played yet; return how many seconds of sound that was."""
        dropped = self.queued_seconds
        self._queue.clear()
        self._queued = 0
        self._to_resample.clear()
        self._to_resample_seconds = 0.0
        self._resampler = None
        self._starts_at = None
        self._flushed = True
        return dropped

    @property
    def queued_seconds(self) -> float:
        """How much is to be played yet."""
        return self._queued / self._out_hz + self._to_resample_seconds

    @property
    def empty(self) -> bool:
        """True if there is nothing to be played."""
        return self._starts_at is None

    def seconds_left(self, now: float) -> float:
        """Return in how many seconds all that has come will have been played, if nothing more comes."""
        if self._starts_at is None:
            return 0.0
        inside = 0.0 if self._flushed or self._resampler is None else self._resampler.lag_seconds
        return max(self._starts_at - now, 0.0) + self.queued_seconds + inside

    def _least(self, rate_hz: int) -> float:
        """Return how long a chunk must be held back for others to come ``LATENESS_SECONDS`` late."""
        frame_seconds = self._frame_samples / self._out_hz
        return max(self._depth, largest_lag(rate_hz, self._out_hz) + LATENESS_SECONDS + frame_seconds)

    def _resample(self) -> None:
        """Resample all that has come since this was done last: many chunks cost little more than one."""
        if self._resampler is None or not self._to_resample:
            return
        ready = self._resampler.push(np.concatenate(self._to_resample, dtype=np.float32))
        self._to_resample.clear()
        self._to_resample_seconds = 0.0
        self._append(rounded(ready), self._heard_until - self._resampler.lag_seconds)

    def _flush(self) -> None:
        self._resample()
        if not self._flushed and self._resampler is not None:
            self._append(rounded(self._resampler.flush()), self._heard_until + MARGIN_SECONDS)
        self._flushed = True

    def _append(self, samples: Int16s, ends_at: float) -> None:
        if len(samples):
            begins_at = ends_at - len(samples) / self._out_hz
            self._queue.append(_Stretch(samples, begins_at))
            self._queued += len(samples)

    def _take(self, now: float) -> PlayedFrame:
        first = self._queue[0] if self._queue else None
        if first is not None and len(first.samples) == self._frame_samples:
            self._queue.popleft()
            self._queued -= self._frame_samples
            return PlayedFrame(first.samples, ((0, now - first.begins_at),))
        frame = np.zeros(self._frame_samples, dtype=np.int16)
        delays = []
        filled = 0
        while self._queue and filled < self._frame_samples:
            stretch = self._queue.popleft()
            taken = stretch.samples[: self._frame_samples - filled]
            frame[filled : filled + len(taken)] = taken
            delays.append((filled, now + filled / self._out_hz - stretch.begins_at))
            filled += len(taken)
            if len(taken) < len(stretch.samples):
                begins_at = stretch.begins_at + len(taken) / self._out_hz
                self._queue.appendleft(_Stretch(stretch.samples[len(taken) :], begins_at))
        self._queued -= filled
        return PlayedFrame(frame, tuple(delays))


@dataclass(frozen=True)
class _Stretch:
    samples: Int16s
    begins_at: float
