"""One embedded bot: a pipecat pipeline that listens on a WebSocket, on the caller's event loop."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import pytest_voiceeval.bots.pipecat_import  # noqa: F401 - before anything of pipecat's

# isort: split
from pipecat.audio.vad.vad_analyzer import VADParams
from pipecat.frames.frames import Frame
from pipecat.pipeline.worker import PipelineParams, PipelineWorker
from pipecat.processors.aggregators.llm_context import LLMContext
from pipecat.processors.aggregators.llm_response_universal import (
    LLMContextAggregatorPair,
    LLMUserAggregatorParams,
)
from pipecat.processors.frameworks.rtvi import RTVIFunctionCallReportLevel, RTVIObserverParams
from pipecat.services.stt_service import STTService
from pipecat.services.tts_service import TTSService
from pipecat.turns.empty_user_turn import EmptyUserTurnConfig
from pipecat.turns.user_stop import SpeechTimeoutUserTurnStopStrategy
from pipecat.turns.user_turn_strategies import UserTurnStrategies
from pipecat.workers.runner import WorkerRunner

from pytest_voiceeval.bots.llm import CountedOpenAILLMService
from pytest_voiceeval.bots.messages import install
from pytest_voiceeval.bots.model_access import ModelAccess
from pytest_voiceeval.bots.profile import Profile
from pytest_voiceeval.bots.profile_local import Vad
from pytest_voiceeval.bots.shortcuts import (
    DirectRTVIProcessor,
    DirectVADProcessor,
    Ears,
    InlineSileroVADAnalyzer,
    QuietPipeline,
)
from pytest_voiceeval.bots.speech_cache import SpeechCache
from pytest_voiceeval.bots.transport import BotTransport
from pytest_voiceeval.bots.voices import HEARD_RATE_HZ, SPOKEN_RATE_HZ, recogniser, synthesiser
from pytest_voiceeval.errors import BotUnreachableError
from pytest_voiceeval.model.turns import Side

_START_SECONDS = 20.0
_TOOL_SECONDS = 10.0
_NOT_UNDERSTOOD = (
    "The other party said something that was not understood. Ask briefly to have it repeated, or go "
    "on if that is not needed."
)


@dataclass(frozen=True)
class EmbeddedBot:
    """A bot that listens.

    Attributes:
        url: where.
        context: its conversation, as the model sees it.
        state: the shared state of its tools.
        transport: its end of the wire.
    """

    url: str
    context: LLMContext
    state: dict[str, Any]
    transport: BotTransport


@asynccontextmanager
async def running_bot(
    profile: Profile,
    side: Side,
    model: ModelAccess,
    *,
    host: str = "127.0.0.1",
    port: int = 0,
    cache: SpeechCache | None = None,
) -> AsyncIterator[EmbeddedBot]:
    """Run a bot on the running loop; it listens when the body begins, and is gone after it.

    The bot never speaks first. It keeps prompt, tools, state and context when its client goes, and
    has them when the next one comes. ``cache`` keeps what it says of a rehearsal; what a model says is
    seldom said twice, and its synthesis is a part of the latency that is measured. It also keeps what is
    recognised, where time is charged.

    Raises:
        ProfileError: if a service of ``profile`` cannot be had.
        BotUnreachableError: if the pipeline does not start.
    """
    transport = BotTransport(host, port)
    try:
        context = LLMContext()
        kept = cache if cache is not None and profile.is_rehearsed else SpeechCache(None)
        speech = recogniser(profile, kept), synthesiser(profile, side, kept)
        worker, state = _worker(profile, speech, model, transport, context)
        async with _running(worker, transport):
            yield EmbeddedBot(transport.url, context, state, transport)
    finally:
        transport.release()


def _worker(
    profile: Profile,
    speech: tuple[STTService, TTSService],
    model: ModelAccess,
    transport: BotTransport,
    context: LLMContext,
) -> tuple[PipelineWorker, dict[str, Any]]:
    stt, tts = speech
    aggregators = LLMContextAggregatorPair(context, user_params=_listening(profile))
    llm = CountedOpenAILLMService(model, function_call_timeout_secs=_TOOL_SECONDS)
    pipeline = QuietPipeline(
        [
            transport.input(),
            DirectVADProcessor(InlineSileroVADAnalyzer(params=_vad(profile.vad))),
            stt,
            Ears(),
            aggregators.user(),
            llm,
            tts,
            transport.output(),
            aggregators.assistant(),
        ]
    )
    worker = PipelineWorker(
        pipeline,
        params=PipelineParams(
            audio_in_sample_rate=HEARD_RATE_HZ,
            audio_out_sample_rate=SPOKEN_RATE_HZ,
            enable_metrics=True,
            enable_usage_metrics=True,
        ),
        rtvi_processor=DirectRTVIProcessor(transport.output()),
        rtvi_observer_params=RTVIObserverParams(
            function_call_report_level={"*": RTVIFunctionCallReportLevel.FULL}
        ),
        idle_timeout_secs=None,
        enable_turn_tracking=False,
    )
    return worker, install(worker, llm=llm, aggregators=aggregators).state


def _listening(profile: Profile) -> LLMUserAggregatorParams:
    """Return when the other side's turn begins and ends.

    A pause for a comma, 0.35 s at most, ends neither the recogniser's segment nor the turn. A turn
    of which not a word was understood is answered all the same: else both sides wait for ever.
    """
    return LLMUserAggregatorParams(
        user_turn_strategies=UserTurnStrategies(
            stop=[
                SpeechTimeoutUserTurnStopStrategy(user_speech_timeout=profile.turn_taking.user_speech_timeout)
            ]
        ),
        user_turn_stop_timeout=profile.turn_taking.turn_stop_timeout,
        empty_user_turn=EmptyUserTurnConfig(idle_prompt=_NOT_UNDERSTOOD, max_consecutive_recoveries=2),
    )


def _vad(vad: Vad) -> VADParams:
    return VADParams(
        confidence=vad.confidence,
        start_secs=vad.start_seconds,
        stop_secs=vad.stop_seconds,
        min_volume=vad.min_volume,
    )


@asynccontextmanager
async def _running(worker: PipelineWorker, transport: BotTransport) -> AsyncIterator[None]:
    """Run ``worker`` until the body ends; the body begins when the whole pipeline is up and listens."""
    listens, started = asyncio.Event(), asyncio.Event()

    async def note_listening(_: BotTransport) -> None:
        listens.set()

    async def note_start(_: PipelineWorker, __: Frame) -> None:
        started.set()

    async def up() -> None:
        await listens.wait()
        await started.wait()

    transport.add_event_handler("on_websocket_ready", note_listening)
    worker.add_event_handler("on_pipeline_started", note_start)
    runner = WorkerRunner(handle_sigint=False)
    await runner.add_workers(worker)
    running = asyncio.create_task(runner.run(), name=f"bot at {transport.url}")
    coming_up = asyncio.create_task(up())
    either = {running, coming_up}
    try:
        await asyncio.wait(either, timeout=_START_SECONDS, return_when=asyncio.FIRST_COMPLETED)
        if not coming_up.done():
            fault = running.exception() if running.done() and not running.cancelled() else None
            raise BotUnreachableError(
                f"the embedded bot at {transport.url} did not start within {_START_SECONDS:g} s: "
                f"{fault or 'its pipeline says nothing; see the bots log of the call'}"
            ) from fault
        yield
    finally:
        # A pipeline that is cancelled while it starts leaves tasks behind.
        await asyncio.wait(either, timeout=_START_SECONDS, return_when=asyncio.FIRST_COMPLETED)
        coming_up.cancel()
        await runner.cancel()
        await asyncio.wait(either)
