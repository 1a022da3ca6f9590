"""Binary messages in one WebSocket frame (RFC 6455, section 5.2), which is how sound comes and goes."""

from __future__ import annotations

import secrets
import struct
from collections.abc import Callable, Iterator

from websockets.frames import Opcode

try:
    from websockets.speedups import apply_mask
except ImportError:  # it is not compiled everywhere
    from websockets.utils import apply_mask

_FIN = 0x80
_WHOLE_BINARY = _FIN | Opcode.BINARY
_MASKED = 0x80
_SHORT, _MEDIUM, _LONG = (struct.Struct(form) for form in ("!BB", "!BBH", "!BBQ"))
_MEDIUM_LENGTH, _LONG_LENGTH = 126, 127
"""What stands for a length that follows, in two bytes and in eight."""

_MASKS_AT_ONCE = 256


def masked_frame(content: bytes, mask: bytes) -> bytes:
    """Return a whole binary message in one frame, as a client sends it; ``mask``: four random bytes."""
    length = len(content)
    if length < _MEDIUM_LENGTH:
        head = _SHORT.pack(_WHOLE_BINARY, _MASKED | length)
    elif length < 1 << 16:
        head = _MEDIUM.pack(_WHOLE_BINARY, _MASKED | _MEDIUM_LENGTH, length)
    else:
        head = _LONG.pack(_WHOLE_BINARY, _MASKED | _LONG_LENGTH, length)
    return b"".join((head, mask, apply_mask(content, mask)))


def random_masks() -> Iterator[bytes]:
    """Yield masks without end; the operating system is asked for many at once."""
    while True:
        pool = secrets.token_bytes(4 * _MASKS_AT_ONCE)
        for at in range(0, len(pool), 4):
            yield pool[at : at + 4]


class MessageSplitter:
    """Takes whole binary messages of up to 64 KiB out of what a server sends; leaves all else.

    No frame is left in part, so that whoever gets the rest can read it as a stream of its own: texts,
    messages in several frames, control frames, and what breaks the protocol.

    Args:
        take: gets the content of a whole binary message.
        leave: gets everything else, as it comes.
    """

    def __init__(self, take: Callable[[bytes], object], leave: Callable[[bytes], object]) -> None:
        self._take = take
        self._leave = leave
        self._rest = b""
        self._left_bytes = 0
        self._is_in_parts = False

    def feed(self, data: bytes) -> None:
        """Take the next bytes of the stream."""
        if self._rest:
            data, self._rest = self._rest + data, b""
        at = 0
        while at < len(data):
            if self._left_bytes:
                part = data[at : at + self._left_bytes]
                self._left_bytes -= len(part)
                at += len(part)
                self._leave(part)
                continue
            begin, end = _content(data, at)
            if end is None:
                self._rest = data[at:]
                return
            if data[at] != _WHOLE_BINARY or data[at + 1] >= _LONG_LENGTH or self._is_in_parts:
                self._left_bytes = end - at
                self._note_kind(data[at])
            elif end <= len(data):
                self._take(data[begin:end])
                at = end
            else:
                self._rest = data[at:]
                return

    def give_up(self) -> bytes:
        """Return what has come of a frame that is not complete, and forget it."""
        rest, self._rest = self._rest, b""
        return rest

    def _note_kind(self, first: int) -> None:
        if first & 0x0F in (Opcode.CONT, Opcode.TEXT, Opcode.BINARY):
            self._is_in_parts = not first & _FIN


def _content(data: bytes, at: int) -> tuple[int, int | None]:
    """Return where the content of the frame at ``at`` begins and ends; ``None`` if its head has not come."""
    if len(data) < at + 2:
        return at, None
    length = data[at + 1] & ~_MASKED
    mask_bytes = 4 if data[at + 1] & _MASKED else 0
    begin = at + 2
    if length >= _MEDIUM_LENGTH:
        begin += 2 if length == _MEDIUM_LENGTH else 8
        if len(data) < begin:
            return begin, None
        length = int.from_bytes(data[at + 2 : begin], "big")
    return begin + mask_bytes, begin + mask_bytes + length
