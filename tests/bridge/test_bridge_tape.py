"""The recording of a call: what each side's listener got, frame beside frame."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from pytest_voiceeval.audio.jitter import PlayedFrame
from pytest_voiceeval.bridge.tape import Tape
from pytest_voiceeval.model.turns import AGENT, USER

FRAME_SAMPLES = 4
LEVELS = st.integers(-32768, 32767)
FRAMES = st.lists(st.tuples(LEVELS, LEVELS, st.none() | LEVELS), max_size=600)


def frame(level: int) -> np.ndarray[tuple[int], np.dtype[np.int16]]:
    return np.full(FRAME_SAMPLES, level, np.int16)


@given(FRAMES)
def test_a_recording_is_the_users_frames_left_and_the_agents_right(
    frames: list[tuple[int, int, int | None]],
) -> None:
    tape = Tape(16_000, FRAME_SAMPLES)
    expected: list[tuple[int, int]] = []
    for user, agent, noisy in frames:
        heard = None if noisy is None else frame(noisy)
        tape.record(PlayedFrame(frame(user)), PlayedFrame(frame(agent)), user_heard=heard)
        expected += [(user if noisy is None else noisy, agent)] * FRAME_SAMPLES
    recording = tape.recording()
    stereo = np.frombuffer(recording.pcm, "<i2").reshape(-1, 2)
    assert [tuple(pair) for pair in stereo.tolist()] == expected
    assert tape.seconds == recording.seconds == len(expected) / 16_000


def test_a_recording_may_be_had_more_than_once_and_grows_with_the_call() -> None:
    tape = Tape(16_000, FRAME_SAMPLES)
    lengths = []
    for level in (1, 2, 3):
        tape.record(PlayedFrame(frame(level)), PlayedFrame(frame(-level)))
        lengths.append((len(tape.recording().pcm), len(tape.recording().pcm)))
    assert lengths == [(16, 16), (32, 32), (48, 48)]


def test_noise_that_the_agent_hears_is_nothing_that_the_user_said() -> None:
    tape = Tape(16_000, FRAME_SAMPLES)
    tape.record(PlayedFrame(frame(0)), PlayedFrame(frame(9000), ((0, 0.0),)), user_heard=frame(9000))
    assert not tape.track(USER).sounds
    assert len(tape.track(AGENT).sounds) == 1
