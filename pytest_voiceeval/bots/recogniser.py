"""Whisper on this machine: one model a process, the same text for the same samples, cheap for short ones."""

from __future__ import annotations

import os
import re
from functools import cache
from pathlib import Path
from typing import Any

import pytest_voiceeval.bots.pipecat_import  # noqa: F401 - before anything that it needs and pipecat has too

# isort: split
import numpy as np
import numpy.typing as npt
from faster_whisper import WhisperModel

WHISPER_RATE_HZ = 16_000
MAX_NO_SPEECH = 0.6
"""Probability of "no speech here" from which on a segment has no words."""

_MIN_ENCODER_FRAMES = 750
_ENCODER_MARGIN_FRAMES = 50
_TOKENS_A_SECOND = 8
_MOST_WORKERS = 4
"""Utterances of calls held at once that are recognised at once; the workers share one model's weights."""

_LOOP = 3
_LOOP_OF_WORDS = 4
_LONGEST_PHRASE = 6
_DIGITS = frozenset(
    ["", "zero", "oh", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"]
)


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
def shared_recogniser(path: Path, device: str, compute_type: str) -> ShortWindowWhisper:
    """Return the process's one Whisper model of that folder and these settings."""
    model = ShortWindowWhisper(
        str(path),
        device=device,
        compute_type=compute_type,
        cpu_threads=1,
        num_workers=min(_MOST_WORKERS, os.cpu_count() or 1),
        local_files_only=True,
    )
    heard(model, bytes(WHISPER_RATE_HZ), "en")
    return model


def heard(model: WhisperModel, pcm: bytes, language: str, *, max_no_speech: float = MAX_NO_SPEECH) -> str:
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
