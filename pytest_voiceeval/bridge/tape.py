"""The recorder: every sample and every event of a call on one time line."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from pytest_voiceeval.audio.jitter import PlayedFrame
from pytest_voiceeval.audio.onsets import audible_span
from pytest_voiceeval.audio.pcm import Int16s, interleave
from pytest_voiceeval.model.conversation import Recording
from pytest_voiceeval.model.turns import AGENT, USER, WorkShare


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
    """What one side said: the frames its listener got, its marks, and the work that it reports.

    Attributes:
        understood: what its recogniser made of the other side.
    """

    frames: list[Int16s] = field(default_factory=list)
    sounds: list[Sound] = field(default_factory=list)
    marks: list[Mark] = field(default_factory=list)
    measures: list[Measure] = field(default_factory=list)
    understood: list[Mark] = field(default_factory=list)


class Tape:
    """Records both sides of a call, frame by frame, so that they stay aligned.

    Args:
        rate_hz: samples a second.
        frame_samples: samples a frame.
    """

    def __init__(self, rate_hz: int, frame_samples: int) -> None:
        self._rate_hz = rate_hz
        self._frame_samples = frame_samples
        self._tracks = {USER: Track(), AGENT: Track()}

    def track(self, side: str) -> Track:
        """Return what ``side`` said."""
        return self._tracks[USER if side == USER else AGENT]

    @property
    def seconds(self) -> float:
        """Length so far."""
        return len(self._tracks[USER].frames) * self._frame_samples / self._rate_hz

    def record(self, user: PlayedFrame, agent: PlayedFrame, *, user_heard: Int16s | None = None) -> bool:
        """Put the next frame of both sides on the tape; ``True`` if anything was said in it.

        ``user_heard`` is what the agent got in place of the user's frame, with noise: it is recorded, while
        when somebody spoke is taken from the frames.
        """
        at = self.seconds
        noisy = user.samples if user_heard is None else user_heard
        said = [
            self._put(self._tracks[USER], user, at, noisy),
            self._put(self._tracks[AGENT], agent, at, agent.samples),
        ]
        return any(said)

    def recording(self) -> Recording:
        """Return the sound so far: user left, agent right."""
        left, right = (
            np.concatenate(track.frames) if track.frames else np.zeros(0, np.int16)
            for track in (self._tracks[USER], self._tracks[AGENT])
        )
        return Recording(interleave(left, right), self._rate_hz)

    def _put(self, track: Track, frame: PlayedFrame, at: float, heard: Int16s) -> bool:
        track.frames.append(heard)
        span = audible_span(frame.samples) if frame.delays else None
        if span is None:
            return False
        begin, end = span
        delay = next(delay for offset, delay in reversed(frame.delays) if offset <= begin)
        start = at + begin / self._rate_hz
        track.sounds.append(Sound(start, at + end / self._rate_hz, start - delay))
        return True
