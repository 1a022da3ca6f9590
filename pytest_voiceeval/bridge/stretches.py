"""Stretches of speech: sound without a silence in it that could part two utterances."""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from pytest_voiceeval.bridge.tape import Sound

SILENCE_SECONDS = 0.2
"""Silence that parts two stretches; less of it lies within words."""


@dataclass(frozen=True)
class Stretch:
    """Sounds of one side that follow each other closely.

    Attributes:
        sounds: in order, at least one.
    """

    sounds: Sequence[Sound]

    @property
    def start(self) -> float:
        """First audible sample, as the listener got it, in seconds of the tape."""
        return self.sounds[0].start

    @property
    def end(self) -> float:
        """Behind the last one."""
        return self.sounds[-1].end

    @property
    def spoken_at(self) -> float:
        """When the first one reached the bridge."""
        return self.sounds[0].spoken_at

    @property
    def spoken_until(self) -> float:
        """When the end of the last one reached the bridge."""
        return self.sounds[-1].spoken_at + self.sounds[-1].end - self.sounds[-1].start

    def parted(self, at: Iterable[float]) -> Iterator[Stretch]:
        """Yield its pieces; at each of these times, in order, one begins, with the first sound since."""
        begin = 0
        for moment in at:
            end = bisect_left(self.sounds, moment, key=lambda sound: sound.spoken_at)
            if begin < end:
                yield Stretch(self.sounds[begin:end])
                begin = end
        if begin < len(self.sounds):
            yield Stretch(self.sounds[begin:])


def stretches_of(sounds: Sequence[Sound]) -> list[Stretch]:
    """Return one side's sounds as stretches, parted where nothing audible came in for ``SILENCE_SECONDS``."""
    bounds = [0]
    silent_since = math.inf
    for number, sound in enumerate(sounds):
        spoken_at = sound.spoken_at
        if spoken_at - silent_since >= SILENCE_SECONDS:
            bounds.append(number)
        silent_since = spoken_at + sound.end - sound.start
    bounds.append(len(sounds))
    return [Stretch(sounds[a:b]) for a, b in pairwise(bounds) if a < b]


def is_answered(stretches: Sequence[Stretch], start: float, end: float) -> bool:
    """Tell whether a side, of which all stretches are given, speaks up in a pause of the other one.

    It does if more of what it says is heard in the pause than before: what it says over the other's speech
    does not count, nor does an echo of that.

    Args:
        stretches: in order.
        start: when the pause begins, as it is heard, in seconds of the tape.
        end: when it ends.
    """
    following = bisect_right(stretches, start, key=lambda stretch: stretch.start)
    for stretch in stretches[max(following - 1, 0) : following + 1]:
        in_pause = min(stretch.end, end) - max(stretch.start, start)
        if in_pause > max(start - stretch.start, 0.0):
            return True
    return False
