"""The sound that a bot gets from the bridge."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

from pytest_voiceeval.audio.jitter import PlayedFrame
from pytest_voiceeval.audio.pcm import Int16s
from pytest_voiceeval.audio.pieces import Pieces
from pytest_voiceeval.wire.frames import encode_audio


class Outgoing:
    """Sends one bot the other side's sound, frame by frame, or in pieces to a bot that takes it so.

    Args:
        rate_hz: samples a second.
        send: takes an encoded frame.
        in_pieces: whether the bot joins frames itself, and so may as well get them joined.
    """

    def __init__(self, rate_hz: int, send: Callable[[bytes], None], *, in_pieces: bool) -> None:
        self._rate_hz = rate_hz
        self._send = send
        self._pieces = Pieces(rate_hz) if in_pieces else None

    def play(self, frame: PlayedFrame, noisy: Int16s | None = None) -> None:
        """Send ``frame``, in place of whose samples the bot may get ``noisy`` ones."""
        silent = noisy is None and not frame.delays
        if self._pieces is None and silent:
            self._send(_silence(frame.samples.nbytes, self._rate_hz))
            return
        pcm = (frame.samples if noisy is None else noisy).tobytes()
        if self._pieces is not None:
            piece = self._pieces.push(pcm, silent=silent or None)
            if piece is None:
                return
            pcm, silent = piece, silent and not piece.strip(b"\0")
        self._send(_silence(len(pcm), self._rate_hz) if silent else encode_audio(pcm, self._rate_hz))


@cache
def _silence(length: int, rate_hz: int) -> bytes:
    """Return ``length`` bytes of silence, encoded: there are few lengths, and most of a call is silence."""
    return encode_audio(bytes(length), rate_hz)
