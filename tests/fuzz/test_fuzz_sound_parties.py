"""Whatever a black box sends, over Media Streams or as raw samples, is digested, or a WireError."""

from __future__ import annotations

import contextlib
import json
from typing import Any

from fuzz_texts import json_values, texts
from hypothesis import example, given
from hypothesis import strategies as st

from pytest_voiceeval.audio.samples import SampleReader
from pytest_voiceeval.bridge.tool_calls import ToolCalls
from pytest_voiceeval.errors import WireError
from pytest_voiceeval.model.turns import AGENT
from pytest_voiceeval.wire import rtvi
from pytest_voiceeval.wire.rtvi import Envelope
from pytest_voiceeval.wire.twilio import parse

SID = "MZ1"
KINDS = st.sampled_from([rtvi.TOOL_CALL_IN_PROGRESS, rtvi.TOOL_CALL_STOPPED])


@st.composite
def messages(draw: st.DrawFn) -> str:
    """Return a message of Media Streams with contents of any kind."""
    part = st.fixed_dictionaries({}, optional={"payload": json_values, "name": json_values}) | json_values
    message = {
        "event": draw(st.sampled_from(["media", "mark", "clear", "stop"]) | json_values),
        "streamSid": draw(st.just(SID) | json_values),
        "media": draw(part | st.builds(lambda text: {"payload": text}, st.text(max_size=20))),
        "mark": draw(part),
    }
    return json.dumps(message)


@given(messages() | texts | st.binary(max_size=50))
@example("[" * 100_000)
@example(json.dumps({"event": "media", "streamSid": SID, "media": {"payload": "\ud800=="}}))
def test_any_message_of_media_streams_is_read_or_a_wire_error(content: bytes | str) -> None:
    with contextlib.suppress(WireError):
        message = parse(content, SID)
        assert message.stream_sid == SID
        assert isinstance(message.sound if message.event == "media" else b"", bytes)
        assert isinstance(message.mark_name if message.event == "mark" else "", str)


@example("f32le", [b"\x00\x00\xc0", b"\x7f\x00\x00\x80\x7f"])
@given(st.sampled_from(["s16le", "f32le", "mulaw", "alaw"]), st.lists(st.binary(max_size=9), max_size=8))
def test_samples_come_whole_however_they_are_cut(encoding: Any, pieces: list[bytes]) -> None:
    reader, whole = SampleReader(encoding), SampleReader(encoding)
    read = [sample for piece in pieces for sample in reader.read(piece)]
    assert read == list(whole.read(b"".join(pieces)))


@given(st.lists(st.tuples(KINDS, json_values), max_size=6))
def test_tool_calls_of_any_shape_are_records_or_none(told: list[tuple[str, Any]]) -> None:
    calls = ToolCalls()
    for kind, data in told:
        calls.take(Envelope(type=kind, data=data))
    for action in calls.actions(AGENT) or ():
        assert isinstance(action.name, str)
        assert isinstance(action.arguments, dict)
