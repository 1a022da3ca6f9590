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

GAP_SECONDS = 0.02
"""How much later than it was due a chunk comes at least where its sender has paused."""

SAME_UTTERANCE_SECONDS = 0.15
CRUMB_SECONDS = 0.12
"""Less sound than the latter between gaps that are shorter than the former is a crumb."""

MOST_CRUMBS = 2
"""Crumbs in a row that are short words; more are of a sender that cannot keep up."""

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

    A sender's pause is played as long as it was, so that all utterances are heard ``depth`` after they
    came. A chunk that comes ``LATENESS_SECONDS`` late or less is no pause, nor is one behind which the
    sender catches up.

    Where nothing but crumbs comes between gaps, the buffer holds back more of what follows: a sender that
    cannot keep up is then heard in a few pieces.

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
        self._to_resample: list[_Stretch] = []
        self._to_resample_seconds = 0.0
        self._silence = PlayedFrame(np.zeros(frame_samples, dtype=np.int16))
        self._queue: deque[_Stretch] = deque()
        self._queued = 0
        self._starts_at: float | None = None
        self._heard_until = -math.inf
        self._next_frame_at = -math.inf
        self._held_back = depth
        self._run_seconds = 0.0
        self._crumbs = 0
        self._lead_seconds = 0.0
        self._caught_up_seconds = math.inf
        self._flushed = True

    def push(self, pcm: bytes, rate_hz: int, channels: int, now: float) -> None:
        """Take a chunk that came in at ``now`` (seconds on any steady clock)."""
        if not pcm:
            return
        samples = mono(pcm, channels)
        gap = now - self._heard_until
        if gap > GAP_SECONDS:
            self._note_gap(gap)
        if self._starts_at is None:
            self._begin(rate_hz, now)
            self._lead_seconds = 0.0
        elif gap > SAME_STREAM_SECONDS:
            self._resample()
            if gap > GAP_SECONDS and self._crumbs <= MOST_CRUMBS:
                self._keep_pause(rate_hz, now)
        elif -gap > self._caught_up_seconds:
            self._catch_up(-gap)
        self._lead_seconds = max(self._lead_seconds, -gap)
        seconds = len(samples) / rate_hz
        self._heard_until = max(self._heard_until, now) + seconds
        self._run_seconds += seconds
        self._put(_Stretch(samples, rate_hz, self._heard_until - seconds))

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
        self._next_frame_at = now + self._frame_samples / self._out_hz
        if self._flushed and not self._queued:
            self._starts_at = None
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
        self._heard_until = -math.inf
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
        until_next = max(self._starts_at, self._next_frame_at) - now
        return max(until_next, 0.0) + self.queued_seconds + inside

    def _note_gap(self, seconds: float) -> None:
        is_crumb = self._run_seconds < CRUMB_SECONDS and seconds < SAME_UTTERANCE_SECONDS
        self._crumbs = self._crumbs + 1 if is_crumb else 0
        self._run_seconds = 0.0

    def _begin(self, rate_hz: int, now: float) -> None:
        """Set when the sound that comes next starts to play."""
        if now >= self._heard_until + SAME_UTTERANCE_SECONDS:
            self._held_back = 0.0
        elif self._crumbs > MOST_CRUMBS:
            self._held_back = min(2 * self._held_back, LARGEST_DEPTH_SECONDS)
        self._held_back = max(self._held_back, self._least(rate_hz))
        self._starts_at = now + self._held_back

    def _least(self, rate_hz: int) -> float:
        """Return how long a chunk must be held back for others to come ``LATENESS_SECONDS`` late."""
        frame_seconds = self._frame_samples / self._out_hz
        return max(self._depth, largest_lag(rate_hz, self._out_hz) + LATENESS_SECONDS + frame_seconds)

    def _keep_pause(self, rate_hz: int, now: float) -> None:
        """Put in as much silence as keeps what comes next as far behind its sender as what came before."""
        lacking = self._held_back - self.seconds_left(now)
        if lacking > LATENESS_SECONDS:
            self._put(_Stretch(np.zeros(round(lacking * rate_hz), np.int16), rate_hz, now, is_pause=True))
            self._caught_up_seconds = self._lead_seconds  # what it sends at once, as ever, is no catching up

    def _catch_up(self, ahead_seconds: float) -> None:
        """Shorten the last pause, as far as it is not on its way, by what its sender has caught up."""
        seconds, self._caught_up_seconds = ahead_seconds - self._caught_up_seconds, ahead_seconds
        for place, stretch in enumerate(self._queue):
            if stretch.is_pause:
                self._queue[place] = shorter = stretch.without(seconds)
                self._queued -= len(stretch.samples) - len(shorter.samples)
        for place, stretch in enumerate(self._to_resample):
            if stretch.is_pause:
                self._to_resample[place] = shorter = stretch.without(seconds)
                self._to_resample_seconds -= stretch.seconds - shorter.seconds

    def _put(self, stretch: _Stretch) -> None:
        """Put a stretch behind what has come."""
        if self._resampler is not None and self._resampler.in_hz != stretch.rate_hz:
            self._flush(margin_seconds=0.0)
            self._resampler = None
        self._flushed = False
        if stretch.rate_hz == self._out_hz:
            self._queue.append(stretch)
            self._queued += len(stretch.samples)
            return
        self._resampler = self._resampler or StreamResampler(stretch.rate_hz, self._out_hz)
        self._to_resample.append(stretch)
        self._to_resample_seconds += stretch.seconds

    def _resample(self) -> None:
        """Resample all that has come since this was done last: many chunks cost little more than one."""
        if self._resampler is None or not self._to_resample:
            return
        chunks = [stretch.samples for stretch in self._to_resample]
        self._to_resample.clear()
        self._to_resample_seconds = 0.0
        ready = self._resampler.push(np.concatenate(chunks, dtype=np.float32))
        self._append(rounded(ready), self._heard_until - self._resampler.lag_seconds)

    def _flush(self, *, margin_seconds: float = MARGIN_SECONDS) -> None:
        """Bring out what is inside the resampler, and the silence that rings out of it behind that."""
        self._resample()
        if not self._flushed and self._resampler is not None:
            rest = rounded(self._resampler.flush())
            cut = round((MARGIN_SECONDS - margin_seconds) * self._out_hz)
            self._append(rest[: len(rest) - cut], self._heard_until + margin_seconds)
        self._flushed = True

    def _append(self, samples: Int16s, ends_at: float) -> None:
        if len(samples):
            self._queue.append(_Stretch(samples, self._out_hz, ends_at - len(samples) / self._out_hz))
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
                self._queue.appendleft(stretch.without(len(taken) / self._out_hz))
        self._queued -= filled
        return PlayedFrame(frame, tuple(delays))


@dataclass(frozen=True)
class _Stretch:
    """Samples at a rate, and when the first of them came."""

    samples: Int16s
    rate_hz: int
    begins_at: float
    is_pause: bool = False

    @property
    def seconds(self) -> float:
        return len(self.samples) / self.rate_hz

    def without(self, seconds: float) -> _Stretch:
        """Return what is left without the first ``seconds``."""
        dropped = min(round(seconds * self.rate_hz), len(self.samples))
        begins_at = self.begins_at + dropped / self.rate_hz
        return _Stretch(self.samples[dropped:], self.rate_hz, begins_at, self.is_pause)
