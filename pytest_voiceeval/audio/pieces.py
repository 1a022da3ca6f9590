"""Cutting a stream of frames into pieces that cost their listener less."""

from __future__ import annotations

PIECE_SECONDS = 0.04
"""Length of a piece."""

LASTING_SECONDS = 1.0
"""How long a silence must have lasted for nobody to wait for its exact length."""

SILENT_PIECE_SECONDS = 0.2
"""Length of the pieces of such a silence."""


class Pieces:
    """Joins frames to pieces, the same ones wherever the frames were cut before.

    What a piece costs on its way through a bot does not depend on its length. In a digital silence that
    lasts, the pieces are longer; the first sound in it ends the piece.

    Args:
        rate_hz: samples a second.
    """

    def __init__(self, rate_hz: int) -> None:
        self.rate_hz = rate_hz
        self._bytes_a_second = 2 * rate_hz
        self._held = b""
        self._silent_bytes = 0

    def push(self, pcm: bytes, *, silent: bool | None = None) -> bytes | None:
        """Take a frame; return the piece that is complete with it, if one is.

        Args:
            pcm: int16 mono.
            silent: whether all its samples are 0, for a caller that knows.
        """
        lasting = self._silent_bytes >= LASTING_SECONDS * self._bytes_a_second
        if silent is None:
            silent = not pcm.strip(b"\0")
        self._silent_bytes = self._silent_bytes + len(pcm) if silent else 0
        self._held += pcm
        enough = SILENT_PIECE_SECONDS if lasting and silent else PIECE_SECONDS
        if len(self._held) < enough * self._bytes_a_second and not (lasting and not silent):
            return None
        piece, self._held = self._held, b""
        return piece

    def forget(self) -> None:
        """Drop what is not a piece yet."""
        self._held = b""
