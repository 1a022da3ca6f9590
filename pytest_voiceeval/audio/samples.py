"""Forms of a sample of raw PCM, and a stream of them in chunks that may end within one."""

from __future__ import annotations

from typing import Literal

import numpy as np

from pytest_voiceeval.audio import g711
from pytest_voiceeval.audio.pcm import Int16s, to_int16

Encoding = Literal["s16le", "f32le", "mulaw", "alaw"]

SAMPLE_BYTES: dict[Encoding, int] = {"s16le": 2, "f32le": 4, "mulaw": 1, "alaw": 1}


def encoded(samples: Int16s, encoding: Encoding) -> bytes:
    """Return ``samples`` (int16, shape (n,)) as raw PCM."""
    if encoding == "s16le":
        return samples.astype("<i2").tobytes()
    if encoding == "f32le":
        return (samples.astype("<f4") / np.float32(32768)).tobytes()
    return g711.encoded(samples, encoding)


class SampleReader:
    """Reads raw PCM that comes in chunks of any number of bytes."""

    def __init__(self, encoding: Encoding) -> None:
        self._encoding = encoding
        self._rest = b""

    def read(self, content: bytes) -> Int16s:
        """Return the samples, int16, shape (n,), that are complete with ``content``.

        Of floats what lies beyond full scale is clipped, and what is no number is silence.
        """
        content = self._rest + content
        whole = len(content) - len(content) % SAMPLE_BYTES[self._encoding]
        content, self._rest = content[:whole], content[whole:]
        if self._encoding == "s16le":
            return np.frombuffer(content, "<i2").astype(np.int16)
        if self._encoding == "f32le":
            floats = np.nan_to_num(np.frombuffer(content, "<f4"), posinf=1.0, neginf=-1.0)
            return to_int16(np.clip(floats, -1, 1).astype(np.float32))
        return g711.decoded(content, self._encoding)
