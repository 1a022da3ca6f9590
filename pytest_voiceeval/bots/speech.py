"""Speech on this machine: thin subclasses of pipecat's Piper and Whisper services.

They differ from pipecat's own in this: a model is loaded once a process and shared; the same text
gives the same samples, and the same samples give the same text; recognising a short utterance does
not cost as much as recognising thirty seconds.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncGenerator, AsyncIterator, Iterator
from functools import cache, partial
from pathlib import Path
from typing import Any

import pytest_voiceeval.bots.pipecat_import  # noqa: F401 - before anything of pipecat's

# isort: split
import numpy as np
import numpy.typing as npt
import onnxruntime  # type: ignore[import-untyped]
import soxr
from faster_whisper import WhisperModel
from pipecat.frames.frames import ErrorFrame, Frame, TranscriptionFrame
from pipecat.services.piper.tts import PiperTTSService
from pipecat.services.tts_service import TTSService
from pipecat.services.whisper.stt import WhisperSTTService
from pipecat.utils.time import time_now_iso8601
from piper import PiperConfig, PiperVoice, SynthesisConfig

from pytest_voiceeval.bots.profile import PiperTts, Timbre, WhisperStt
from pytest_voiceeval.bots.speech_cache import SpeechCache, SpokenLine
from pytest_voiceeval.model.work import Job, JobCharger

WHISPER_RATE_HZ = 16_000
SPOKEN_RATE_HZ = 24_000
"""The rate that bots emit: a bridge that knows only the wire assumes it."""

_MIN_ENCODER_FRAMES = 750
_ENCODER_MARGIN_FRAMES = 50
_TOKENS_A_SECOND = 8
_LOOP = 3
_LOOP_OF_WORDS = 4
_LONGEST_PHRASE = 6
_DIGITS = frozenset(
    ["", "zero", "oh", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"]
)
_SEGMENT_TTFS_SECONDS = 1.5

Samples = npt.NDArray[np.float32]


class ShortWindowWhisper(WhisperModel):  # type: ignore[misc]  # faster-whisper is not typed
    """Whisper whose encoder sees an utterance and some silence, not always thirty seconds.

    Below 750 frames (7.5 s) the decoder now and then repeats a short word without end.
    """

    def encode(self, features: npt.NDArray[np.float32]) -> Any:
        """Encode without the zeros that the caller padded ``features`` with."""
        used = np.flatnonzero(features.any(axis=0))
        length = int(used[-1]) + 1 if used.size else 0
        keep = max(_MIN_ENCODER_FRAMES, length + _ENCODER_MARGIN_FRAMES)
        keep += keep % 2
        return super().encode(np.ascontiguousarray(features[:, : min(keep, features.shape[-1])]))


@cache
def shared_recogniser(path: Path, device: str, compute_type: str) -> WhisperModel:
    """Return the process's one Whisper model of that folder and these settings."""
    model = ShortWindowWhisper(
        str(path), device=device, compute_type=compute_type, cpu_threads=1, local_files_only=True
    )
    heard(model, bytes(WHISPER_RATE_HZ), "en")
    return model


@cache
def shared_voice(path: Path) -> PiperVoice:
    """Return the process's one Piper voice of that file."""
    options = onnxruntime.SessionOptions()
    # Two threads take longer than one where the other one has work to do.
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    description = json.loads(Path(f"{path}.json").read_text(encoding="utf-8"))
    voice = PiperVoice(
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


def heard(model: WhisperModel, pcm: bytes, language: str, *, max_no_speech: float = 0.6) -> str:
    """Return the words in ``pcm`` (int16 little-endian mono at 16 kHz); empty if there are none."""
    samples = np.frombuffer(pcm, dtype="<i2").astype(np.float32) / 32768.0
    seconds = samples.size / WHISPER_RATE_HZ
    segments, _ = model.transcribe(
        samples,
        language=language,
        beam_size=1,
        temperature=0.0,
        condition_on_previous_text=False,
        max_new_tokens=min(200, int(_TOKENS_A_SECOND * seconds) + 8),
    )
    texts = [segment.text.strip() for segment in segments if segment.no_speech_prob < max_no_speech]
    return without_loops(" ".join(text for text in texts if text))


def without_loops(text: str) -> str:
    """Return ``text`` with one of each phrase that comes too often in a row to have been spoken.

    The recogniser, not the speaker, says "Yes. Yes. Yes. Yes." to a short word. Digits are left
    alone: a number may have three fives.
    """
    words = text.split()
    plain = [re.sub(r"\W+", "", word).casefold() for word in words]
    kept: list[str] = []
    place = 0
    while place < len(words):
        length, times = _loop_at(words, plain, place)
        kept += words[place : place + length]
        place += length * times
    return " ".join(kept)


def _loop_at(words: list[str], plain: list[str], place: int) -> tuple[int, int]:
    """Return how many words the phrase at ``place`` has and how often it comes; (1, 1) for no loop."""
    for length in range(1, min(_LONGEST_PHRASE, len(words) - place) + 1):
        phrase = plain[place : place + length]
        if all(word.isdigit() or word in _DIGITS for word in phrase):
            continue
        times = 1
        while plain[place + times * length : place + (times + 1) * length] == phrase:
            times += 1
        sentence = words[place + length - 1][-1] in ".!?"
        if times >= (_LOOP if sentence or length > 1 else _LOOP_OF_WORDS):
            return length, times
    return 1, 1


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
        if not (_loading_is_free() and cache.knows(path)):
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


def _loading_is_free() -> bool:
    """Return whether a model may be loaded in the middle of a call: elsewhere an answer would wait for it."""
    loop = asyncio.get_running_loop()
    return isinstance(loop, JobCharger) and loop.charges_jobs


class SharedWhisperSTTService(WhisperSTTService):
    """Whisper with the process's one model, deterministic, fast on short utterances."""

    def __init__(self, settings: WhisperStt, **kwargs: Any) -> None:
        self._profile = settings
        super().__init__(
            device=settings.device,
            compute_type=settings.compute_type,
            settings=self.Settings(
                model=str(settings.model_path), language=settings.language, no_speech_prob=0.6
            ),
            ttfs_p99_latency=_SEGMENT_TTFS_SECONDS,
            **kwargs,
        )

    def _load(self) -> None:
        profile = self._profile
        self._model = shared_recogniser(profile.model_path, profile.device, profile.compute_type)

    async def run_stt(self, audio: bytes) -> AsyncGenerator[Frame, None]:
        """Yield a transcription of ``audio``; nothing if no words are in it."""
        if self._model is None:
            yield ErrorFrame(error="the recogniser is not loaded")
            return
        await self.start_processing_metrics()
        listen = partial(heard, self._model, audio, self._profile.language)
        seconds = len(audio) / 2 / WHISPER_RATE_HZ
        job = Job("recognition", listen, lambda _: seconds)
        text = await asyncio.get_running_loop().run_in_executor(None, job)
        await self.stop_processing_metrics()
        if text:
            await self._handle_transcription(text, True)
            yield TranscriptionFrame(text, self._user_id, time_now_iso8601())
