"""Pieces: nothing is lost or moved, and who joins the frames makes no difference."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from pytest_voiceeval.audio.pieces import Pieces

RATE_HZ = 1000
FRAME = 2 * 20
"""Bytes of 20 ms."""

streams = st.lists(
    st.tuples(
        st.sampled_from([bytes(FRAME), b"\1\0" * (FRAME // 2), bytes(FRAME - 2) + b"\1\0"]),
        st.integers(1, 90),
    ),
    max_size=8,
).map(lambda runs: [frame for frame, count in runs for _ in range(count)])


def pieces_of(frames: list[bytes]) -> list[tuple[int, bytes]]:
    """Return the pieces of a stream, each with the number of the frame that completed it."""
    pieces = Pieces(RATE_HZ)
    found = [(number, pieces.push(frame)) for number, frame in enumerate(frames)]
    return [(number, piece) for number, piece in found if piece is not None]


@given(streams)
def test_nothing_is_lost_but_what_is_no_piece_yet(frames: list[bytes]) -> None:
    joined = b"".join(piece for _, piece in pieces_of(frames))
    assert b"".join(frames).startswith(joined)
    assert len(joined) > FRAME * len(frames) - FRAME * 10


@given(streams)
def test_pieces_of_pieces_are_the_same_at_the_same_time(frames: list[bytes]) -> None:
    """A bot that joins what it gets makes no difference of whether the bridge has joined it before."""
    near, far = Pieces(RATE_HZ), Pieces(RATE_HZ)
    again = []
    for number, frame in enumerate(frames):
        piece = near.push(frame)
        piece = None if piece is None else far.push(piece)
        if piece is not None:
            again.append((number, piece))
    assert again == pieces_of(frames)


@given(streams)
def test_who_knows_that_a_frame_is_silent_may_say_so(frames: list[bytes]) -> None:
    pieces = Pieces(RATE_HZ)
    told = [pieces.push(frame, silent=not any(frame)) for frame in frames]
    assert [piece for piece in told if piece is not None] == [piece for _, piece in pieces_of(frames)]


def test_a_lasting_silence_comes_in_long_pieces_until_the_first_sound() -> None:
    sound = b"\1\0" * (FRAME // 2)
    found = pieces_of([sound] * 4 + [bytes(FRAME)] * 73 + [sound] * 3)
    lengths = [len(piece) // FRAME for _, piece in found]
    assert lengths == [2, 2, *[2] * 25, 10, 10, 4, 2]
    assert [number for number, _ in found][-2:] == [77, 79]


def test_what_was_forgotten_is_in_no_piece() -> None:
    pieces = Pieces(RATE_HZ)
    assert pieces.push(b"\1\0" * 20) is None
    pieces.forget()
    assert pieces.push(b"\2\0" * 20) is None
    assert pieces.push(b"\2\0" * 20) == b"\2\0" * 40
