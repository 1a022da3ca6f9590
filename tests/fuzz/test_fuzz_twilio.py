"""Whatever an agent sends over Media Streams or as raw PCM is digested, or a WireError."""

from __future__ import annotations

import contextlib
import json
from typing import Any

from fuzz_texts import broken_texts, json_values, texts
from hypothesis import example, given
from hypothesis import strategies as st

from pytest_voiceeval.audio.g711 import decoded
from pytest_voiceeval.audio.jitter import JitterBuffer
from pytest_voiceeval.audio.samples import Encoding, SampleReader
from pytest_voiceeval.errors import WireError
from pytest_voiceeval.wire.twilio import parse

EVENTS = st.sampled_from(["media", "mark", "clear", "start", "stop", "dtmf"])


def digested(content: bytes | str) -> None:
    with contextlib.suppress(WireError):
        message = parse(content, "MZ1")
        if message.event == "media":
            decoded(message.sound, "mulaw")
        elif message.event == "mark":
            assert isinstance(message.mark_name, str)


@given(st.binary(max_size=80) | texts | broken_texts)
@example('{"event": "media", "streamSid": "MZ1", "media": {"payload": "\\ud800"}}')
@example('{"event": "media", "streamSid": "MZ1", "media": {"payload": "é"}}')
@example('{"event": "mark", "streamSid": "MZ1", "mark": null}')
@example("1" * 5_000)
def test_any_message_is_read_or_skipped(content: bytes | str) -> None:
    digested(content)


@given(EVENTS, json_values, st.sampled_from(["MZ1", "MZ2", None]))
def test_any_value_in_any_place_is_read_or_skipped(event: str, value: Any, sid: str | None) -> None:
    with contextlib.suppress(ValueError):  # numbers that JSON does not have
        digested(json.dumps({"event": event, "streamSid": sid, event: value}))
        digested(json.dumps({"event": event, "streamSid": sid, event: {"payload": value, "name": value}}))


@given(
    st.sampled_from(["s16le", "f32le", "mulaw", "alaw"]),
    st.lists(st.binary(max_size=64), max_size=10),
    st.sampled_from([4_000, 8_000, 22_050, 192_000]),
)
def test_any_bytes_are_samples_that_can_be_played(encoding: Encoding, chunks: list[bytes], rate: int) -> None:
    reader, buffer = SampleReader(encoding), JitterBuffer(16_000, 320)
    for number, chunk in enumerate(chunks):
        buffer.push(reader.read(chunk).astype("<i2").tobytes(), rate, 1, number * 0.02)
        assert buffer.seconds_left(number * 0.02) >= 0
        assert len(buffer.pop(number * 0.02).samples) == 320
