"""A pipecat bot on FastAPI, as it would run in production: behind Twilio Media Streams, raw PCM, or RTVI.

It greets, repeats what it has understood, and hangs up. It knows nothing of scenarios.
"""

from __future__ import annotations

import argparse

import pytest_voiceeval.bots.pipecat_import  # noqa: F401 - before anything of pipecat's

# isort: split
import uvicorn
from fastapi import FastAPI, WebSocket
from pipecat.audio.vad.silero import SileroVADAnalyzer
from pipecat.audio.vad.vad_analyzer import VADParams
from pipecat.frames.frames import (
    AudioRawFrame,
    EndWorkerFrame,
    Frame,
    InputAudioRawFrame,
    TranscriptionFrame,
    TTSSpeakFrame,
)
from pipecat.pipeline.pipeline import Pipeline
from pipecat.pipeline.worker import PipelineParams, PipelineWorker
from pipecat.processors.audio.vad_processor import VADProcessor
from pipecat.processors.frame_processor import FrameDirection, FrameProcessor
from pipecat.runner.utils import parse_telephony_websocket
from pipecat.serializers.base_serializer import FrameSerializer
from pipecat.serializers.protobuf import ProtobufFrameSerializer
from pipecat.serializers.twilio import TwilioFrameSerializer
from pipecat.transports.websocket.fastapi import FastAPIWebsocketParams, FastAPIWebsocketTransport
from pipecat.workers.runner import WorkerRunner

from pytest_voiceeval.bots.profile import load_profile
from pytest_voiceeval.bots.recogniser import shared_recogniser
from pytest_voiceeval.bots.speech import SharedPiperTTSService, SharedWhisperSTTService, shared_voice
from pytest_voiceeval.bots.speech_cache import SpeechCache

GREETING = "Welcome to the pizza line."


class RawPcm(FrameSerializer):
    """Samples and nothing else."""

    def __init__(self, rate_hz: int) -> None:
        super().__init__()
        self._rate_hz = rate_hz

    async def serialize(self, frame: Frame) -> str | bytes | None:
        """Return the samples of sound; nothing of any other frame."""
        return frame.audio if isinstance(frame, AudioRawFrame) else None

    async def deserialize(self, data: str | bytes) -> Frame | None:
        """Return samples as sound."""
        if isinstance(data, str):
            return None
        return InputAudioRawFrame(audio=data, num_channels=1, sample_rate=self._rate_hz)


class Clerk(FrameProcessor):
    """Repeats the first thing that it understands, and ends the call."""

    _has_answered = False

    async def process_frame(self, frame: Frame, direction: FrameDirection) -> None:
        """Answer a transcription; pass everything else on."""
        await super().process_frame(frame, direction)
        if not isinstance(frame, TranscriptionFrame):
            await self.push_frame(frame, direction)
        elif not self._has_answered:
            self._has_answered = True
            await self.push_frame(TTSSpeakFrame(f"You said: {frame.text} Good bye."))
            await self.push_frame(EndWorkerFrame())


async def talk(
    websocket: WebSocket, serializer: FrameSerializer, rate_hz: int, *, is_rtvi: bool = False
) -> None:
    """Hold one call."""
    profile = load_profile("local")
    cache = SpeechCache(None)
    transport = FastAPIWebsocketTransport(
        websocket,
        FastAPIWebsocketParams(audio_in_enabled=True, audio_out_enabled=True, serializer=serializer),
    )
    worker = PipelineWorker(
        Pipeline(
            [
                transport.input(),
                VADProcessor(vad_analyzer=SileroVADAnalyzer(params=VADParams(stop_secs=0.6))),
                SharedWhisperSTTService(profile.stt, cache.recognised),
                Clerk(),
                SharedPiperTTSService(profile.tts, profile.tts.timbre("agent"), cache),
                transport.output(),
            ]
        ),
        params=PipelineParams(audio_in_sample_rate=16_000, audio_out_sample_rate=rate_hz),
        idle_timeout_secs=30,
        enable_rtvi=is_rtvi,
    )

    async def greet(*_: object) -> None:
        await worker.queue_frame(TTSSpeakFrame(GREETING))

    if is_rtvi:
        worker.rtvi.add_event_handler("on_client_ready", greet)
    else:
        transport.add_event_handler("on_client_connected", greet)

    @transport.event_handler("on_client_disconnected")
    async def leave(_: FastAPIWebsocketTransport, __: WebSocket) -> None:
        await worker.cancel()

    runner = WorkerRunner(handle_sigint=False)
    await runner.add_workers(worker)
    await runner.run()


SERVER = FastAPI()


@SERVER.websocket("/rtvi")
async def call_by_rtvi(websocket: WebSocket) -> None:
    """Talk with a client of pipecat's."""
    await websocket.accept()
    await talk(websocket, ProtobufFrameSerializer(), 24_000, is_rtvi=True)


@SERVER.websocket("/pcm")
async def call_by_samples(websocket: WebSocket) -> None:
    """Talk with whatever sends samples."""
    await websocket.accept()
    await talk(websocket, RawPcm(16_000), 16_000)


@SERVER.websocket("/twilio")
async def call_by_telephone(websocket: WebSocket) -> None:
    """Talk with a caller of Media Streams."""
    await websocket.accept()
    _, data = await parse_telephony_websocket(websocket)
    params = TwilioFrameSerializer.InputParams(auto_hang_up=False)
    serializer = TwilioFrameSerializer(data["stream_id"], data["call_id"], params=params)
    await talk(websocket, serializer, 8_000)


def main() -> None:
    """Serve calls until killed."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--port", type=int, required=True)
    port = parser.parse_args().port
    speech = load_profile("local")
    shared_voice(speech.tts.voice_path)  # loaded before the first call, so that it greets at once
    shared_recogniser(speech.stt.model_path, speech.stt.device, speech.stt.compute_type)
    uvicorn.run(SERVER, host="127.0.0.1", port=port, ws="websockets-sansio")


if __name__ == "__main__":
    main()
