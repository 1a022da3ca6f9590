from __future__ import annotations

import numpy as np
import pytest

from pytest_voiceeval.audio.jitter import PlayedFrame
from pytest_voiceeval.bridge.outgoing import Outgoing
from pytest_voiceeval.wire.frames import Audio, decode

SILENCE = PlayedFrame(np.zeros(320, np.int16))


def sound(level: int) -> PlayedFrame:
    return PlayedFrame(np.full(320, level, np.int16), ((0, 0.1),))


def played(frames: list[PlayedFrame], *, in_pieces: bool) -> list[np.ndarray]:
    sent: list[bytes] = []
    outgoing = Outgoing(16_000, sent.append, in_pieces=in_pieces)
    for frame in frames:
        outgoing.play(frame)
    decoded = [decode(content) for content in sent]
    assert all(isinstance(frame, Audio) and frame.rate_hz == 16_000 for frame in decoded)
    return [np.frombuffer(frame.pcm, "<i2") for frame in decoded if isinstance(frame, Audio)]


STREAM = [sound(5), sound(6), *[SILENCE] * 75, sound(7), sound(8), sound(9)]


@pytest.mark.parametrize("in_pieces", [False, True])
def test_a_bot_gets_every_sample(in_pieces: bool) -> None:
    sent = np.concatenate(played(STREAM, in_pieces=in_pieces))
    given = np.concatenate([frame.samples for frame in STREAM])
    assert (sent == given[: len(sent)]).all()
    assert len(given) - len(sent) < 640


def test_a_bot_that_knows_only_the_wire_gets_steady_frames() -> None:
    assert {len(samples) for samples in played(STREAM, in_pieces=False)} == {320}


def test_a_bot_that_takes_pieces_gets_less_of_them() -> None:
    lengths = [len(samples) for samples in played(STREAM, in_pieces=True)]
    assert lengths == [640] * 26 + [3200, 3200, 6 * 320, 640]


def test_noise_goes_out_in_place_of_what_was_played() -> None:
    sent: list[bytes] = []
    outgoing = Outgoing(16_000, sent.append, in_pieces=False)
    outgoing.play(SILENCE, np.full(320, 3, np.int16))
    (frame,) = [decode(content) for content in sent]
    assert isinstance(frame, Audio)
    assert set(np.frombuffer(frame.pcm, "<i2")) == {3}
