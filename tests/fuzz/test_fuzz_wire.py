"""Whatever a bot sends is digested, or a WireError: nothing from the wire breaks a call."""

from __future__ import annotations

import asyncio
import contextlib
import json
import warnings
from typing import Any

from fuzz_texts import HUGE, broken_texts, json_values, texts
from hypothesis import example, given
from hypothesis import strategies as st

from pytest_voiceeval.audio.jitter import JitterBuffer
from pytest_voiceeval.bridge.events import Listener
from pytest_voiceeval.bridge.tape import Track
from pytest_voiceeval.errors import WireError
from pytest_voiceeval.model.turns import AGENT
from pytest_voiceeval.wire import rtvi
from pytest_voiceeval.wire.context import parse_context
from pytest_voiceeval.wire.frames import Audio, Message, decode, frames_pb2
from pytest_voiceeval.wire.requests import RequestFailedError, Requests
from pytest_voiceeval.wire.rtvi import Envelope

KINDS = st.sampled_from(
    [
        *(rtvi.BOT_STARTED_SPEAKING, rtvi.BOT_STOPPED_SPEAKING, rtvi.BOT_TTS_TEXT, rtvi.BOT_LLM_TEXT),
        *(rtvi.SERVER_MESSAGE, rtvi.METRICS, rtvi.ERROR, rtvi.USER_TRANSCRIPTION, rtvi.BOT_TTS_STARTED),
        *(rtvi.BOT_READY, rtvi.SERVER_RESPONSE, rtvi.ERROR_RESPONSE, "no-such-type"),
    ]
)


@st.composite
def frames(draw: st.DrawFn) -> bytes:
    """Return a protobuf frame with fields of any value, whole or with a piece cut out or changed."""
    audio = frames_pb2.AudioRawFrame(
        id=draw(st.integers(0, 2**64 - 1)),
        audio=draw(st.binary(max_size=64)),
        sample_rate=draw(st.integers(0, 2**32 - 1) | st.sampled_from([8000, 16_000, 24_000, 44_100])),
        num_channels=draw(st.integers(0, 2**32 - 1) | st.sampled_from([1, 2])),
    )
    text = draw(texts).encode(errors="replace").decode()
    frame = draw(
        st.sampled_from(
            [
                frames_pb2.Frame(audio=audio),
                frames_pb2.Frame(message=frames_pb2.MessageFrame(data=text)),
                frames_pb2.Frame(text=frames_pb2.TextFrame(text=text)),
                frames_pb2.Frame(transcription=frames_pb2.TranscriptionFrame(text=text)),
                frames_pb2.Frame(interruption=frames_pb2.InterruptionFrame()),
            ]
        )
    )
    content: bytes = frame.SerializeToString()
    if draw(st.booleans()):
        at = draw(st.integers(0, len(content)))
        content = content[:at] + draw(st.binary(max_size=3)) + content[at + draw(st.integers(0, 3)) :]
    return content


def listener() -> Listener:
    return Listener(AGENT, JitterBuffer(16_000, 320), Track(16_000), now=lambda: 1.0, note=str)


@given(frames() | st.binary(max_size=300) | st.text(max_size=20))
def test_any_bytes_are_a_frame_that_is_digested_or_a_wire_error(content: bytes | str) -> None:
    try:
        frame = decode(content)
    except WireError:
        return
    if isinstance(frame, Audio):
        assert not len(frame.pcm) % (2 * frame.channels)
    ear = listener()
    ear.hear(frame)
    ear.buffer.pop(2.0)


@given(texts)
@example("[" * 100_000)
@example('{"type":' + "9" * 10_000 + "}")
def test_any_text_is_an_envelope_or_a_wire_error(text: str) -> None:
    with contextlib.suppress(WireError):
        assert rtvi.parse(text).label == rtvi.LABEL


@given(KINDS, json_values)
@example(rtvi.METRICS, {"ttfb": [{"processor": "LLM#0", "value": 10**400}]})
@example(rtvi.METRICS, {"tokens": [{"prompt_tokens": HUGE}, {"prompt_tokens": HUGE * 9}]})
def test_a_message_of_any_shape_is_digested_and_what_is_kept_can_be_written(kind: str, data: Any) -> None:
    ear = listener()
    for _ in range(2):
        ear.hear(Message(Envelope(type=kind, data=data)))
    assert json.dumps([ear.tokens.prompt, ear.tokens.completion, ear.pushed, ear.errors])
    assert ear.tokens.prompt >= 0


@given(st.recursive(st.just(1), lambda x: st.lists(x, max_size=1), max_leaves=2), st.integers(500, 990))
def test_a_message_as_deep_as_json_may_be_is_digested(inner: Any, levels: int) -> None:
    text = json.dumps({"label": "rtvi-ai", "type": rtvi.SERVER_MESSAGE, "data": inner})
    nested = text.replace("1", "[" * levels + "]" * levels, 1)
    with contextlib.suppress(WireError):
        listener().hear(Message(rtvi.parse(nested)))


@given(texts | json_values | broken_texts.map(lambda text: f"[{{{text}}}]"))
@example("[{'a': 0x" + "f" * 5000 + "}]")
@example("[{0x" + "f" * 5000 + ": 1}]")
@example("[{'a': '\\d'}]")
@example("[{'a': 1if 1else 2}]")
def test_a_context_of_any_kind_is_strict_json_or_none(value: Any) -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        context = parse_context(value)
    assert not caught
    if context is not None:
        assert all(isinstance(message, dict) for message in context)
        json.loads(json.dumps(context, allow_nan=False))


@given(st.lists(st.tuples(KINDS, st.none() | st.sampled_from(["reset_1", "x", ""]), json_values), max_size=5))
def test_replies_of_any_shape_resolve_a_request_or_fail_it(replies: list[tuple[str, Any, Any]]) -> None:
    async def main() -> None:
        async def send(message: Envelope) -> None:
            for kind, key, data in replies:
                requests.resolve(Envelope(type=kind, id=key, data=data))

        requests = Requests(send)
        with contextlib.suppress(RequestFailedError):
            await requests.call("reset", {}, limit=0.001)

    asyncio.run(main())
