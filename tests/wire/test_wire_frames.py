"""Frames and messages of the wire, against the bytes that its description gives."""

from __future__ import annotations

import contextlib
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_voiceeval.errors import WireError
from pytest_voiceeval.wire import rtvi
from pytest_voiceeval.wire.context import parse_context
from pytest_voiceeval.wire.frames import (
    Audio,
    Interruption,
    Message,
    Other,
    decode,
    encode_audio,
    encode_interruption,
    encode_message,
    frames_pb2,
)
from pytest_voiceeval.wire.rtvi import Envelope


def test_audio_has_the_documented_bytes() -> None:
    pcm = b"\x01\x00\xff\x7f"
    content = encode_audio(pcm, 16_000)
    assert content.hex(" ") == "12 0b 1a 04 01 00 ff 7f 20 80 7d 28 01"
    assert decode(content) == Audio(pcm, 16_000, 1)


@pytest.mark.parametrize("rate_hz", [8_000, 16_000, 48_000])
@pytest.mark.parametrize("length", [0, 2, 126, 128, 640, 16_384])
def test_audio_of_any_length_is_what_protobuf_makes_of_it(length: int, rate_hz: int) -> None:
    pcm = (bytes(range(256)) * (length // 256 + 1))[:length]
    audio = frames_pb2.AudioRawFrame(audio=pcm, sample_rate=rate_hz, num_channels=1)
    assert encode_audio(pcm, rate_hz) == frames_pb2.Frame(audio=audio).SerializeToString()


def test_a_message_without_id_and_data_carries_neither() -> None:
    content = encode_message(Envelope(type="bot-started-speaking"))
    assert json.loads(content[4:]) == {"label": "rtvi-ai", "type": "bot-started-speaking"}
    assert decode(content) == Message(Envelope(type="bot-started-speaking"))


def test_nulls_inside_a_payload_travel() -> None:
    envelope = Envelope(type="server-response", id="1", data={"t": "x", "d": {"db_hash": None}})
    assert decode(encode_message(envelope)) == Message(envelope)


def test_interruptions_and_foreign_frames_are_told_apart() -> None:
    assert decode(encode_interruption()) == Interruption()
    assert decode(b"\x0a\x03\x1a\x01x") == Other()


@pytest.mark.parametrize(
    "content",
    [
        "text",
        b"",
        b"\xff\xff",
        b"\x22\x04\x0a\x02{]",
        b"\x22\x04\x0a\x02[]",
        b"\x22\x04\x0a\x02{}",
        b"\x12\x03\x1a\x01\x00",
        encode_audio(b"\x00\x00", 1),
        encode_audio(b"\x00", 16_000),
    ],
)
def test_what_is_no_frame_is_refused(content: bytes | str) -> None:
    with pytest.raises(WireError):
        decode(content)


@given(st.binary(max_size=200))
def test_any_bytes_are_a_frame_or_a_wire_error(content: bytes) -> None:
    with contextlib.suppress(WireError):
        decode(content)


@given(
    st.recursive(
        st.none() | st.booleans() | st.floats() | st.text(),
        lambda x: st.lists(x) | st.dictionaries(st.text(), x),
    )
)
def test_any_json_is_an_envelope_or_a_wire_error(content: object) -> None:
    try:
        envelope = rtvi.parse(json.dumps(content))
    except WireError:
        return
    assert envelope.label == "rtvi-ai"


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("<exit>The task is finished.</exit>", "The task is finished."),
        ("<exit></exit>", ""),
        (" <exit>x</exit>", None),
        ("<EXIT>x</EXIT>", None),
        ("ok <exit>x</exit>", None),
        ("<exit>", None),
        ("</exit><exit>", None),
        (None, None),
    ],
)
def test_exit_must_be_the_whole_text(text: str | None, found: str | None) -> None:
    assert rtvi.enclosed(Envelope(type="server-message", data={"text": text}), "exit") == found


def test_an_exit_inside_a_final_response_is_only_that() -> None:
    message = Envelope(
        type="server-message", data={"text": "<final_response><exit>x</exit></final_response>"}
    )
    assert rtvi.enclosed(message, "exit") is None
    assert rtvi.enclosed(message, "final_response") == "<exit>x</exit>"


def test_data_of_any_shape_has_fields() -> None:
    assert Envelope(type="x", data="text").fields == {}
    assert Envelope(type="x", data=[1]).fields == {}


@pytest.mark.parametrize(
    ("value", "context"),
    [
        ("[{'role': 'user', 'content': None, 'ok': True}]", [{"role": "user", "content": None, "ok": True}]),
        ('[{"role": "user", "content": null}]', [{"role": "user", "content": None}]),
        ([{"role": "user"}], [{"role": "user"}]),
        ("[]", []),
        ("[nan]", None),
        ("__import__('os').system('true')", None),
        ("{'role': 'user'}", None),
        ("[1]", None),
        (None, None),
        ("(" * 5000, None),
    ],
)
def test_a_context_is_read_as_a_literal_and_never_evaluated(value: object, context: object) -> None:
    assert parse_context(value) == context
