"""Protobuf frames, by pipecat's own definition of them.

pipecat's serializer object is for trusted peers: it fails on audio of zero channels, and logs each
message. Its generated protobuf classes are used directly instead.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from google.protobuf.message import DecodeError
from pipecat.frames.protobufs import frames_pb2 as generated

from pytest_voiceeval.errors import WireError
from pytest_voiceeval.wire.rtvi import Envelope, parse


@dataclass(frozen=True)
class Audio:
    """Sound: int16 little-endian, ``channels`` interleaved."""

    pcm: bytes = field(repr=False)
    rate_hz: int
    channels: int = 1


@dataclass(frozen=True)
class Message:
    """An RTVI message."""

    envelope: Envelope


@dataclass(frozen=True)
class Interruption:
    """The sender was interrupted: what it has sent and was not heard yet is void."""


@dataclass(frozen=True)
class PlaybackMark:
    """The sender wants to know when what it has sent so far was heard: then ``reached`` is called."""

    reached: Callable[[], None]


@dataclass(frozen=True)
class Other:
    """A well-formed frame that means nothing to a bridge."""


frames_pb2: Any = generated
"""Generated code, whose names exist only at run time."""

Frame = Audio | Message | Interruption | PlaybackMark | Other


def encode_audio(pcm: bytes, rate_hz: int) -> bytes:
    """Return an audio frame. ``pcm``: int16 little-endian, mono."""
    before, behind = _around(len(pcm), rate_hz)
    return b"".join((before, pcm, behind))


@lru_cache(maxsize=64)
def _around(length: int, rate_hz: int) -> tuple[bytes, bytes]:
    """Return what stands before and behind ``length`` bytes of sound in a frame: it depends on no sample."""
    behind = frames_pb2.AudioRawFrame(sample_rate=rate_hz, num_channels=1)
    whole = frames_pb2.AudioRawFrame(audio=bytes(length), sample_rate=rate_hz, num_channels=1)
    content, end = _bytes(frames_pb2.Frame(audio=whole)), _bytes(behind)
    return content[: len(content) - len(end) - length], end


def encode_message(envelope: Envelope) -> bytes:
    """Return a message frame."""
    message = frames_pb2.MessageFrame(data=json.dumps(envelope.to_json()))
    return _bytes(frames_pb2.Frame(message=message))


def encode_interruption() -> bytes:
    """Return an interruption frame."""
    return _bytes(frames_pb2.Frame(interruption=frames_pb2.InterruptionFrame()))


def decode(content: bytes | str) -> Frame:
    """Read a frame.

    Raises:
        WireError: if it is no frame, or makes no sense; it is to be skipped.
    """
    if isinstance(content, str):
        raise WireError("a text message where only binary ones belong")
    try:
        frame = frames_pb2.Frame.FromString(content)
    except DecodeError as exc:
        raise WireError(f"not a protobuf frame: {exc}") from None
    kind = frame.WhichOneof("frame")
    if kind == "audio":
        return _audio(frame.audio)
    if kind == "message":
        return Message(parse(frame.message.data))
    if kind == "interruption":
        return Interruption()
    if kind is None:
        raise WireError("an empty frame")
    return Other()


def _audio(audio: Any) -> Audio:
    rate, channels = audio.sample_rate, audio.num_channels
    if not 4000 <= rate <= 192_000:
        raise WireError(f"audio with an impossible sample rate of {rate} Hz")
    if not 1 <= channels <= 8:
        raise WireError(f"audio with {channels} channels")
    if len(audio.audio) % (2 * channels):
        raise WireError(f"audio of {len(audio.audio)} bytes is no whole number of samples")
    return Audio(audio.audio, rate, channels)


def _bytes(frame: Any) -> bytes:
    content: bytes = frame.SerializeToString()
    return content
