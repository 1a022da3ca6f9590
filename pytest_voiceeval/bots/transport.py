"""The bot's end of the wire: pipecat's single-client WebSocket server, hardened."""

from __future__ import annotations

import socket
from typing import Any, cast

import pytest_voiceeval.bots.pipecat_import  # noqa: F401 - before anything of pipecat's

# isort: split
from google.protobuf.message import DecodeError
from loguru import logger
from pipecat.frames.frames import (
    BotSpeakingFrame,
    CancelFrame,
    EndFrame,
    Frame,
    InputAudioRawFrame,
    InputTransportMessageFrame,
    OutputAudioRawFrame,
)
from pipecat.processors.frame_processor import FrameDirection
from pipecat.serializers.protobuf import ProtobufFrameSerializer
from pipecat.transports.websocket.server import (
    SingleClientWebsocketServerInputTransport,
    SingleClientWebsocketServerOutputTransport,
    SingleClientWebsocketServerParams,
    SingleClientWebsocketServerTransport,
)
from websockets.asyncio.server import serve as websocket_serve
from websockets.typing import Origin

from pytest_voiceeval.audio.pieces import Pieces
from pytest_voiceeval.bots.listening import listening_socket
from pytest_voiceeval.errors import BotUnreachableError
from pytest_voiceeval.wire.limits import MAX_MESSAGE_BYTES

SPOKEN_PIECE_SECONDS = 0.08
"""Length of the pieces that a bot speaks in: a sentence is there as a whole when its first piece goes out."""


class SkippingSerializer(ProtobufFrameSerializer):
    """Protobuf frames; what is none is counted in ``skipped_frames`` and dropped."""

    def __init__(self) -> None:
        super().__init__()
        self.skipped_frames = 0

    async def serialize(self, frame: Frame) -> str | bytes | None:
        """Return the frame's bytes; ``None`` for one that only means the end of the pipeline."""
        return None if isinstance(frame, CancelFrame | EndFrame) else await super().serialize(frame)

    async def deserialize(self, data: str | bytes) -> Frame | None:
        """Return the frame in ``data``; ``None`` if there is none that makes sense."""
        try:
            if isinstance(data, str):
                raise ValueError("a text message where only binary ones belong")
            frame = await super().deserialize(data)
            if frame is None:
                raise ValueError("an empty frame, or a message that is not JSON")
            _check(frame)
        except (DecodeError, ValueError, ZeroDivisionError, RecursionError) as exc:
            self.skipped_frames += 1
            logger.debug(f"skipped frame {self.skipped_frames} of a client: {exc}")
            return None
        return frame


def _check(frame: Frame) -> None:
    """Raise ``ValueError`` for a frame that would break something behind the transport."""
    if isinstance(frame, InputTransportMessageFrame) and not isinstance(frame.message, dict):
        raise ValueError("a message that is no JSON object")
    if isinstance(frame, InputAudioRawFrame) and (
        frame.num_channels != 1 or len(frame.audio) % 2 or frame.sample_rate <= 0
    ):
        raise ValueError("audio that is not 16-bit mono")


class BotInputTransport(SingleClientWebsocketServerInputTransport):
    """Listens on a socket that is bound already, takes large messages, and hears in pieces."""

    listening: socket.socket
    _pieces: Pieces | None = None

    def forget(self) -> None:
        """Drop sound that has not gone into the pipeline yet."""
        if self._pieces is not None:
            self._pieces.forget()

    async def push_audio_frame(self, frame: InputAudioRawFrame) -> None:
        """Put sound into the pipeline, when enough of it has come."""
        if self._pieces is None or self._pieces.rate_hz != frame.sample_rate:
            self._pieces = Pieces(frame.sample_rate)
        piece = self._pieces.push(frame.audio)
        if piece is not None:
            # In the task that brings it: the base class would have another one wait for it, with a timeout.
            await self.push_frame(InputAudioRawFrame(piece, frame.sample_rate, frame.num_channels))

    async def _server_task_handler(self) -> None:
        params = cast("SingleClientWebsocketServerParams", self._params)
        origins = cast("list[Origin | None] | None", params.allowed_origins or None)
        async with websocket_serve(
            self._client_handler,
            sock=self.listening,
            origins=origins,
            max_size=MAX_MESSAGE_BYTES,
            compression=None,
        ):
            await self._callbacks.on_websocket_ready()
            await self._stop_server_event.wait()


class BotOutputTransport(SingleClientWebsocketServerOutputTransport):
    """Keeps to itself what nobody else waits for: the sound that it has sent, and that there is more."""

    async def push_frame(self, frame: Frame, direction: FrameDirection = FrameDirection.DOWNSTREAM) -> None:
        """Pass everything on but the sound."""
        if not isinstance(frame, OutputAudioRawFrame):
            await super().push_frame(frame, direction)

    async def broadcast_frame(self, frame_cls: type[Frame], **kwargs: Any) -> None:
        """Tell both directions everything but that the bot is still speaking."""
        if frame_cls is not BotSpeakingFrame:
            await super().broadcast_frame(frame_cls, **kwargs)


class BotTransport(SingleClientWebsocketServerTransport):
    """A transport whose port is bound, and so known, from the moment it exists.

    ``port`` 0 takes a free one. One client at a time; the next may come when it has gone.

    Raises:
        BotUnreachableError: if the address cannot be had.
    """

    def __init__(self, host: str = "127.0.0.1", port: int = 0) -> None:
        self.serializer = SkippingSerializer()
        params = SingleClientWebsocketServerParams(
            audio_in_enabled=True,
            audio_out_enabled=True,
            audio_out_10ms_chunks=round(SPOKEN_PIECE_SECONDS * 100),
            audio_out_end_silence_secs=0,
            serializer=self.serializer,
        )
        try:
            self._listening = listening_socket(host, port)
        except OSError as exc:
            raise BotUnreachableError(
                f"a bot cannot listen on {host}, port {port}: {exc.strerror}; choose another host or port"
            ) from None
        super().__init__(params, host=host, port=self._listening.getsockname()[1])
        self.add_event_handler("on_client_connected", _forget_last_client)

    @property
    def url(self) -> str:
        """Where it listens."""
        return f"ws://{self._host}:{self._port}"

    def input(self) -> SingleClientWebsocketServerInputTransport:
        """Return the receiving half."""
        if self._input is None:
            half = BotInputTransport(
                self, self._host, self._port, self._params, self._callbacks, name=self._input_name
            )
            half.listening = self._listening
            self._input = half
        return self._input

    def output(self) -> SingleClientWebsocketServerOutputTransport:
        """Return the sending half."""
        if self._output is None:
            self._output = BotOutputTransport(self, self._params, name=self._output_name)
        return self._output

    def release(self) -> None:
        """Give the port back; may be called twice."""
        self._listening.close()


async def _forget_last_client(transport: BotTransport, _: object) -> None:
    half = transport.input()
    assert isinstance(half, BotInputTransport)
    half.forget()
