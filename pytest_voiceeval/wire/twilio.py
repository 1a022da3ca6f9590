"""Messages of Twilio Media Streams, of which the bridge plays Twilio's part.

Source: `Media Streams, WebSocket messages <https://www.twilio.com/docs/voice/media-streams/websocket-messages>`_.
"""

from __future__ import annotations

import base64
import binascii
import itertools
import json
from collections.abc import Iterator, Mapping
from typing import Any, Literal
from uuid import uuid4

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from pytest_voiceeval.errors import WireError

RATE_HZ = 8_000
"""Rate of the sound, mu-law, one channel."""

MESSAGE_SECONDS = 0.02
"""Length of the sound in one message of ours."""

_FOREIGN = ConfigDict(extra="ignore", populate_by_name=True)


class _Media(BaseModel):
    model_config = _FOREIGN
    payload: str


class _Mark(BaseModel):
    model_config = _FOREIGN
    name: str


class AgentMessage(BaseModel):
    """What an agent may send: sound, a mark, or that its sound is to be dropped."""

    model_config = _FOREIGN
    event: Literal["media", "mark", "clear"]
    stream_sid: str = Field(alias="streamSid")
    media: _Media | None = None
    mark: _Mark | None = None

    @property
    def sound(self) -> bytes:
        """The mu-law samples of a ``media`` message.

        Raises:
            WireError: if there are none.
        """
        if self.media is None:
            raise WireError("a message 'media' without its media")
        try:
            return base64.b64decode(self.media.payload, validate=True)
        except (binascii.Error, ValueError) as exc:
            raise WireError(f"a payload that is not base64: {exc}") from None

    @property
    def mark_name(self) -> str:
        """The name of a ``mark`` message; raises WireError if it has none."""
        if self.mark is None:
            raise WireError("a message 'mark' without its mark")
        return self.mark.name


def parse(content: bytes | str, stream_sid: str) -> AgentMessage:
    """Read a message of the agent in the stream ``stream_sid``.

    Raises:
        WireError: if it is none, or is for another stream; it is to be skipped.
    """
    if isinstance(content, bytes):
        raise WireError("a binary message where only text belongs: Media Streams are JSON")
    try:
        message = AgentMessage.model_validate(json.loads(content))
    except (ValidationError, ValueError, RecursionError) as exc:
        raise WireError(f"not a message of Media Streams: {_first_line(exc)}") from None
    if message.stream_sid != stream_sid:
        raise WireError(f"a message for the stream {message.stream_sid!r}; this one is {stream_sid}")
    return message


def _first_line(exc: Exception) -> str:
    if isinstance(exc, ValidationError):
        first = exc.errors()[0]
        return f"{'.'.join(str(part) for part in first['loc']) or 'message'}: {first['msg']}"
    return str(exc)


class Stream:
    """One stream as Twilio tells of it: its ids, and its messages, numbered.

    Args:
        parameters: custom parameters, as the ``<Parameter>`` of a ``<Stream>`` in TwiML sets them.
    """

    def __init__(self, parameters: Mapping[str, str]) -> None:
        self.sid = f"MZ{uuid4().hex}"
        self.call_sid = f"CA{uuid4().hex}"
        self._account_sid = f"AC{'0' * 32}"
        self._parameters = dict(parameters)
        self._numbers = itertools.count(1)
        self._chunks = 0

    def opening(self) -> Iterator[str]:
        """Yield the messages that a stream begins with."""
        yield json.dumps({"event": "connected", "protocol": "Call", "version": "1.0.0"})
        yield self._message(
            "start",
            {
                "accountSid": self._account_sid,
                "streamSid": self.sid,
                "callSid": self.call_sid,
                "tracks": ["inbound"],
                "mediaFormat": {"encoding": "audio/x-mulaw", "sampleRate": RATE_HZ, "channels": 1},
                "customParameters": self._parameters,
            },
        )

    def media(self, sound: bytes) -> str:
        """Return the next 20 ms of sound, mu-law, as a message."""
        milliseconds = round(self._chunks * MESSAGE_SECONDS * 1000)
        self._chunks += 1
        return (
            f'{{"event":"media","sequenceNumber":"{next(self._numbers)}","media":{{"track":"inbound",'
            f'"chunk":"{self._chunks}","timestamp":"{milliseconds}",'
            f'"payload":"{base64.b64encode(sound).decode()}"}},"streamSid":"{self.sid}"}}'
        )

    def mark(self, name: str) -> str:
        """Return that the sound before a mark was heard, or dropped."""
        return self._message("mark", {"name": name})

    def stop(self) -> str:
        """Return that the call is over."""
        return self._message("stop", {"accountSid": self._account_sid, "callSid": self.call_sid})

    def _message(self, event: str, content: Mapping[str, Any]) -> str:
        return json.dumps(
            {
                "event": event,
                "sequenceNumber": str(next(self._numbers)),
                event: content,
                "streamSid": self.sid,
            }
        )
