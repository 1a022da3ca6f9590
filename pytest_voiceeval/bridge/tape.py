"""The recorder: every sample and every event of a call on one time line."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from pytest_voiceeval.audio.jitter import PlayedFrame
from pytest_voiceeval.audio.onsets import audible_spans
from pytest_voiceeval.audio.pcm import Int16s, interleave
from pytest_voiceeval.model.conversation import Recording
from pytest_voiceeval.model.turns import AGENT, SIDES, USER, WorkShare


@dataclass(frozen=True)
class Sound:
    """A stretch of audible sound within one frame, in seconds of the tape.

    Attributes:
        start: first audible sample, as the listener got it.
        end: behind the last one.
        spoken_at: when the first one reached the bridge.
    """

    start: float
    end: float
    spoken_at: float


MarkKind = Literal["started", "stopped", "text", "interrupted"]


@dataclass(frozen=True)
class Mark:
    """Something a bot said about its own speech, at a time of the tape."""

    kind: MarkKind
    at: float
    text: str = ""


@dataclass(frozen=True)
class Measure:
    """Seconds of work that a bot reports, at a time of the tape."""

    share: WorkShare
    at: float
    seconds: float


@dataclass
class Track:
    """What one side said: what could be heard of it, its marks, and the work that it reports.

    Attributes:
        rate_hz: samples a second.
        understood: what its recogniser made of the other side.
    """

    rate_hz: int
    marks: list[Mark] = field(default_factory=list)
    measures: list[Measure] = field(default_factory=list)
    understood: list[Mark] = field(default_factory=list)
    _sounds: list[Sound] = field(default_factory=list)
    _not_searched: list[tuple[float, PlayedFrame]] = field(default_factory=list)

    def put(self, frame: PlayedFrame, at: float) -> None:
        """Add a frame that was played at ``at`` seconds."""
        if frame.delays:
            self._not_searched.append((at, frame))

    @property
    def sounds(self) -> Sequence[Sound]:
        """What could be heard, in order. Frames are searched when somebody asks, many at once."""
        if self._not_searched:
            played, self._not_searched = self._not_searched, []
            spans = audible_spans(np.stack([frame.samples for _, frame in played]))
            for (at, frame), span in zip(played, spans, strict=True):
                if span is not None:
                    self._sounds.append(self._sound(at, frame, *span))
        return self._sounds

    @property
    def heard_until(self) -> float:
        """When something could be heard for the last time; 0 if nothing could."""
        return self.sounds[-1].end if self.sounds else 0.0

    def _sound(self, at: float, frame: PlayedFrame, begin: int, end: int) -> Sound:
        delay = next(delay for offset, delay in reversed(frame.delays) if offset <= begin)
        start = at + begin / self.rate_hz
        return Sound(start, at + end / self.rate_hz, start - delay)


FRAMES_AT_ONCE = 50
"""How many frames are put together at once."""


class Tape:
    """Records both sides of a call, frame by frame, so that they stay aligned.

    Their sound is put together once a second: at the end of a long call that would keep the calls beside it
    waiting for a tenth of a second.

    Args:
        rate_hz: samples a second.
        frame_samples: samples a frame.
    """

    def __init__(self, rate_hz: int, frame_samples: int) -> None:
        self._rate_hz = rate_hz
        self._frame_samples = frame_samples
        self._tracks = {side: Track(rate_hz) for side in SIDES}
        self._frames = 0
        self._apart: tuple[list[Int16s], list[Int16s]] = ([], [])
        self._stereo: list[bytes] = []

    def track(self, side: str) -> Track:
        """Return what ``side`` said."""
        return self._tracks[USER if side == USER else AGENT]

    @property
    def seconds(self) -> float:
        """Length so far."""
        return self._frames * self._frame_samples / self._rate_hz

    def record(self, user: PlayedFrame, agent: PlayedFrame, *, user_heard: Int16s | None = None) -> None:
        """Put the next frame of both sides on the tape.

        ``user_heard`` is what the agent got in place of the user's frame, with noise: it is recorded, while
        when somebody spoke is taken from the frames.
        """
        at = self.seconds
        self._tracks[USER].put(user, at)
        self._tracks[AGENT].put(agent, at)
        left, right = self._apart
        left.append(user.samples if user_heard is None else user_heard)
        right.append(agent.samples)
        self._frames += 1
        if len(left) == FRAMES_AT_ONCE:
            self._put_together()

    @property
    def heard_until(self) -> float:
        """When one of both could be heard for the last time; 0 if nobody could."""
        return max(track.heard_until for track in self._tracks.values())

    def recording(self) -> Recording:
        """Return the sound so far: user left, agent right."""
        self._put_together()
        return Recording(b"".join(self._stereo), self._rate_hz)

    def _put_together(self) -> None:
        left, right = self._apart
        if left:
            self._stereo.append(interleave(np.concatenate(left), np.concatenate(right)))
            self._apart = ([], [])
