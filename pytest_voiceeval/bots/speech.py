"""Speech on this machine: thin subclasses of pipecat's Piper and Whisper services.

They differ from pipecat's own in this: a model is loaded once a process and shared; the same text
gives the same samples, and the same samples give the same text; recognising a short utterance does
not cost as much as recognising thirty seconds.
"""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import AsyncGenerator, AsyncIterator, Iterator
from functools import cache, partial
from pathlib import Path
from typing import Any

import pytest_voiceeval.bots.pipecat_import  # noqa: F401 - before anything of pipecat's

# isort: split
import numpy as np
import onnxruntime  # type: ignore[import-untyped]
import soxr
from pipecat.frames.frames import ErrorFrame, Frame, TranscriptionFrame
from pipecat.services.piper.tts import PiperTTSService
from pipecat.services.tts_service import TTSService
from pipecat.services.whisper.stt import WhisperSTTService
from pipecat.utils.time import time_now_iso8601
from piper import PiperConfig, PiperVoice, SynthesisConfig

from pytest_voiceeval.bots.profile_local import PiperTts, Timbre, WhisperStt
from pytest_voiceeval.bots.recogniser import (
    MAX_NO_SPEECH,
    WHISPER_RATE_HZ,
    ShortWindowWhisper,
    heard,
    shared_recogniser,
)
from pytest_voiceeval.bots.recognition_cache import RecognitionCache
from pytest_voiceeval.bots.speech_cache import SpeechCache, SpokenLine
from pytest_voiceeval.bots.voices import SPOKEN_RATE_HZ
from pytest_voiceeval.model.work import Job, JobCharger

_SEGMENT_TTFS_SECONDS = 1.5

_PHONEMIZING = threading.Lock()


class _Voice(PiperVoice):
    """A voice for several threads: the phonemizer is one for all voices, and set to one before it works."""

    def phonemize(self, text: str) -> list[list[str]]:
        """Return the phonemes of ``text``, sentence by sentence."""
        with _PHONEMIZING:
            phonemes: list[list[str]] = super().phonemize(text)
            return phonemes


@cache
def shared_voice(path: Path) -> PiperVoice:
    """Return the process's one Piper voice of that file."""
    options = onnxruntime.SessionOptions()
    # Two threads take longer than one where the other one has work to do.
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    description = json.loads(Path(f"{path}.json").read_text(encoding="utf-8"))
    voice = _Voice(
        session=onnxruntime.InferenceSession(
            str(path), sess_options=options, providers=["CPUExecutionProvider"]
        ),
        config=PiperConfig.from_dict(description),
    )
    # The first run of a model takes many times as long as the others.
    list(spoken("Hello.", voice, Timbre(), SPOKEN_RATE_HZ))
    return voice


def spoken(text: str, voice: PiperVoice, timbre: Timbre, rate_hz: int) -> Iterator[bytes]:
    """Yield ``text`` as speech, sentence by sentence: int16 little-endian mono at ``rate_hz``.

    The same text gives the same bytes. A pitch is changed as a tape's is: Piper speaks slower by the
    factor by which the samples are then played faster.
    """
    pitch = 2 ** (timbre.semitones / 12)
    manner = SynthesisConfig(
        length_scale=voice.config.length_scale * pitch / timbre.tempo,
        noise_scale=0.0,
        noise_w_scale=0.0,
    )
    for sentence in voice.synthesize(text, syn_config=manner):
        # In float: the resampler dithers integers at random.
        samples = soxr.resample(sentence.audio_float_array, sentence.sample_rate * pitch, rate_hz)
        yield np.rint(np.clip(samples, -1.0, 1.0) * 32767).astype("<i2").tobytes()


class SharedPiperTTSService(PiperTTSService):
    """Piper with the process's one voice, without randomness, at any rate and pitch.

    What ``cache`` keeps is not synthesised again. It takes the same jobs, by which a charged call is the
    same to the bit.
    """

    def __init__(self, settings: PiperTts, timbre: Timbre, cache: SpeechCache, **kwargs: Any) -> None:
        path = settings.voice_path
        self._path = path
        self._timbre = timbre
        self._cache = cache
        if not (_time_is_charged() and cache.knows(path)):
            shared_voice(path)
        # PiperTTSService would load a voice of its own, or download one.
        TTSService.__init__(
            self,
            push_start_frame=True,
            push_stop_frames=True,
            settings=self.Settings(model=None, voice=path.stem, language=None),
            **kwargs,
        )

    async def run_tts(self, text: str, context_id: str) -> AsyncGenerator[Frame, None]:
        """Yield audio frames of ``text``."""
        line = SpokenLine(text, self._path, self._timbre, self.sample_rate)
        sentences = self._cache.sentences(line, partial(self._synthesise, text))

        async def pcm() -> AsyncIterator[bytes]:
            loop = asyncio.get_running_loop()
            say = Job("synthesis", lambda: next(sentences, None), self._seconds)
            while (sentence := await loop.run_in_executor(None, say)) is not None:
                yield sentence

        try:
            await self.start_tts_usage_metrics(text)
            frames = self._stream_audio_frames_from_iterator(
                pcm(), in_sample_rate=self.sample_rate, context_id=context_id
            )
            async for frame in frames:
                await self.stop_ttfb_metrics()
                yield frame
        except (RuntimeError, ValueError) as exc:
            yield ErrorFrame(error=f"Piper could not say {text!r}: {exc}")
        finally:
            await self.stop_ttfb_metrics()

    def _synthesise(self, text: str) -> Iterator[bytes]:
        return spoken(text, shared_voice(self._path), self._timbre, self.sample_rate)

    def _seconds(self, sentence: bytes | None) -> float:
        return len(sentence or b"") / 2 / self.sample_rate


def _time_is_charged() -> bool:
    """Return whether a job costs what is declared, however long it takes, and be it to load a model."""
    loop = asyncio.get_running_loop()
    return isinstance(loop, JobCharger) and loop.charges_jobs


class SharedWhisperSTTService(WhisperSTTService):
    """Whisper with the process's one model, deterministic, fast on short utterances.

    Where time is charged, what ``cache`` keeps is not recognised again: it takes the same jobs. Anywhere
    else recognising is a part of the latency that is measured.

    It takes frames in the task that brings them: whatever takes time has a task of its own.
    """

    def __init__(self, settings: WhisperStt, cache: RecognitionCache, **kwargs: Any) -> None:
        self._profile = settings
        self._cache = cache if _time_is_charged() else RecognitionCache(None)
        super().__init__(
            device=settings.device,
            compute_type=settings.compute_type,
            settings=self.Settings(
                model=str(settings.model_path), language=settings.language, no_speech_prob=MAX_NO_SPEECH
            ),
            ttfs_p99_latency=_SEGMENT_TTFS_SECONDS,
            enable_direct_mode=True,
            **kwargs,
        )

    def _load(self) -> None:
        if not self._cache.knows(self._profile):
            self._shared_model()

    async def run_stt(self, audio: bytes) -> AsyncGenerator[Frame, None]:
        """Yield a transcription of ``audio``; nothing if no words are in it."""
        await self.start_processing_metrics()
        seconds = len(audio) / 2 / WHISPER_RATE_HZ
        job = Job("recognition", partial(self._words, audio), lambda _: seconds)
        text = await asyncio.get_running_loop().run_in_executor(None, job)
        await self.stop_processing_metrics()
        if text:
            await self._handle_transcription(text, True)
            yield TranscriptionFrame(text, self._user_id, time_now_iso8601())

    def _words(self, pcm: bytes) -> str:
        return self._cache.text(
            pcm, self._profile, lambda: heard(self._shared_model(), pcm, self._profile.language)
        )

    def _shared_model(self) -> ShortWindowWhisper:
        return shared_recogniser(self._profile.model_path, self._profile.device, self._profile.compute_type)
