"""Parts of pipecat's pipeline without the work that nothing in such a bot waits for.

A frame costs the same at each processor that it passes, whatever that does with it; a bot's sound is most of
its frames.
"""

from __future__ import annotations

import math
from copy import copy
from dataclasses import replace
from functools import cache

import pytest_voiceeval.bots.pipecat_import  # noqa: F401 - before anything of pipecat's

# isort: split
from pipecat.audio.vad.silero import SileroOnnxModel, SileroVADAnalyzer
from pipecat.audio.vad.vad_analyzer import VADAnalyzer, VADParams, VADState
from pipecat.frames.frames import (
    AudioRawFrame,
    Frame,
    InputAudioRawFrame,
    OutputTransportMessageUrgentFrame,
)
from pipecat.observers.base_observer import BaseObserver, FrameProcessed, FramePushed, ProcessorSetUp
from pipecat.pipeline.pipeline import Pipeline
from pipecat.processors.audio.vad_processor import VADProcessor
from pipecat.processors.frame_processor import FrameDirection, FrameProcessor, FrameProcessorSetup
from pipecat.processors.frameworks.rtvi import RTVIProcessor
from pipecat.transports.base_output import BaseOutputTransport
from pydantic import BaseModel

_LEAD_SECONDS = 0.3


@cache
def _loaded_model() -> SileroOnnxModel:
    """Return the process's one Silero model, to be copied: what it remembers of its stream is its own."""
    return SileroVADAnalyzer()._model


class InlineSileroVADAnalyzer(SileroVADAnalyzer):
    """Silero on the loop's own thread: a window costs 0.2 ms, handing it over costs more.

    Digital silence that has lasted longer than any pause is not looked at: nobody speaks in it.
    """

    _silent_bytes = 0

    def __init__(self, params: VADParams) -> None:
        # SileroVADAnalyzer would load a model of its own.
        VADAnalyzer.__init__(self, params=params)
        self._model = copy(_loaded_model())
        self._model.reset_states()  # type: ignore[no-untyped-call]
        self._windows_since_reset = self._low_confidence_windows = 0

    async def analyze_audio(self, buffer: bytes) -> VADState:
        """Return the state after ``buffer``."""
        self._silent_bytes = self._silent_bytes + len(buffer) if not buffer.strip(b"\0") else 0
        silent_seconds = self._silent_bytes / 2 / self.sample_rate
        if silent_seconds > self.params.stop_secs + _LEAD_SECONDS and self._vad_state is VADState.QUIET:
            return VADState.QUIET
        return self._run_analyzer(buffer)


class DirectVADProcessor(VADProcessor):
    """Detects voices in the task that brings the sound; nobody needs to be told that one goes on."""

    def __init__(self, analyzer: VADAnalyzer) -> None:
        super().__init__(vad_analyzer=analyzer, speech_activity_period=math.inf, enable_direct_mode=True)


class Ears(FrameProcessor):
    """The end of the way for what was heard: nothing behind the recogniser listens to sound."""

    def __init__(self) -> None:
        super().__init__(enable_direct_mode=True)

    async def process_frame(self, frame: Frame, direction: FrameDirection) -> None:
        """Pass everything on but the sound."""
        await super().process_frame(frame, direction)
        if not isinstance(frame, InputAudioRawFrame):
            await self.push_frame(frame, direction)


class DirectRTVIProcessor(RTVIProcessor):
    """Hands its messages to the transport; pipecat's own sends them there through every processor."""

    def __init__(self, output: BaseOutputTransport) -> None:
        super().__init__()
        self._output = output

    async def push_transport_message(self, model: BaseModel, exclude_none: bool = True) -> None:
        """Send ``model``."""
        message = model.model_dump(exclude_none=exclude_none)
        await self._output.send_message(OutputTransportMessageUrgentFrame(message=message))


class QuietPipeline(Pipeline):
    """A pipeline whose observers hear of no sound, and of frames only when they are pushed.

    The RTVI observer, the only one of such a bot, does nothing about the others.
    """

    async def setup(self, setup: FrameProcessorSetup) -> None:  # type: ignore[override]  # as pipecat's does
        """Set up all processors with such an observer."""
        if setup.observer is not None:
            setup = replace(setup, observer=_Unmoved(setup.observer))
        await super().setup(setup)


class _Unmoved(BaseObserver):
    def __init__(self, observer: BaseObserver) -> None:
        super().__init__()
        self._observer = observer

    async def on_process_frame(self, data: FrameProcessed) -> None:
        pass

    async def on_push_frame(self, data: FramePushed) -> None:
        if not isinstance(data.frame, AudioRawFrame):
            await self._observer.on_push_frame(data)

    async def on_processor_setup(self, data: ProcessorSetUp) -> None:
        await self._observer.on_processor_setup(data)
