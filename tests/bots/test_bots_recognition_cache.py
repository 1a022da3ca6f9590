"""Recognised sound on disk: what is kept, what is not believed, and where nothing is read."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from pathlib import Path
from typing import NoReturn

import pytest

import pytest_voiceeval.bots.pipecat_import  # noqa: F401 - before anything of pipecat's

# isort: split
from pipecat.clocks.system_clock import SystemClock
from pipecat.frames.frames import StartFrame, TranscriptionFrame
from pipecat.processors.frame_processor import FrameProcessorSetup
from pipecat.utils.asyncio.task_manager import TaskManager

from pytest_voiceeval.bots import recognition_cache
from pytest_voiceeval.bots.kept_files import drop_oldest
from pytest_voiceeval.bots.profile import Profile
from pytest_voiceeval.bots.profile_local import Timbre, WhisperStt
from pytest_voiceeval.bots.recogniser import shared_recogniser
from pytest_voiceeval.bots.recognition_cache import RecognitionCache
from pytest_voiceeval.bots.speech import SharedWhisperSTTService, shared_voice, spoken
from pytest_voiceeval.bots.speech_cache import SpeechCache
from pytest_voiceeval.bridge.clock import ChargedClock, MeasuredClock, RealClock

PCM = b"\1\0\2\0\3\0"
TEXT = "Grüße to you."


@pytest.fixture
def stt(tmp_path: Path) -> WhisperStt:
    folder = tmp_path / "tiny"
    folder.mkdir()
    (folder / "model.bin").write_bytes(b"weights")
    (folder / "config.json").write_text("{}", encoding="utf-8")
    return WhisperStt(service="whisper", model=folder)


def never() -> NoReturn:
    raise AssertionError("recognised, though it is kept")


def filled(folder: Path, stt: WhisperStt) -> Path:
    """Return the file that keeps PCM's text."""
    assert RecognitionCache(folder).text(PCM, stt, lambda: TEXT) == TEXT
    (file,) = folder.glob("*/*")
    return file


def test_sound_is_recognised_once(tmp_path: Path, stt: WhisperStt) -> None:
    cache = RecognitionCache(tmp_path / "cache")
    assert not cache.knows(stt)
    filled(tmp_path / "cache", stt)
    assert cache.knows(stt)
    assert RecognitionCache(tmp_path / "cache").text(PCM, stt, never) == TEXT


def test_sound_without_words_is_kept_too(tmp_path: Path, stt: WhisperStt) -> None:
    cache = RecognitionCache(tmp_path / "cache")
    assert cache.text(PCM, stt, str) == ""
    assert cache.text(PCM, stt, never) == ""


def other_model(stt: WhisperStt) -> WhisperStt:
    folder = stt.model_path.with_name("other") / "tiny"
    folder.mkdir(parents=True)
    (folder / "model.bin").write_bytes(b"weightz")
    (folder / "config.json").write_text("{}", encoding="utf-8")
    return stt.model_copy(update={"model": folder})


@pytest.mark.parametrize(
    ("pcm", "change"),
    [
        (PCM[:-1] + b"\1", lambda stt: stt),
        (PCM + b"\0\0", lambda stt: stt),
        (PCM, lambda stt: stt.model_copy(update={"language": "de"})),
        (PCM, lambda stt: stt.model_copy(update={"compute_type": "float32"})),
        (PCM, lambda stt: stt.model_copy(update={"device": "cuda"})),
        (PCM, other_model),
    ],
    ids=["one sample", "longer", "language", "compute type", "device", "model"],
)
def test_what_may_be_heard_otherwise_is_recognised_again(
    tmp_path: Path, stt: WhisperStt, pcm: bytes, change: Callable[[WhisperStt], WhisperStt]
) -> None:
    cache = RecognitionCache(tmp_path / "cache")
    filled(tmp_path / "cache", stt)
    changed = change(stt)
    assert cache.text(pcm, changed, lambda: "other") == "other"
    assert cache.text(PCM, stt, never) == TEXT


@pytest.mark.parametrize(
    "spoil",
    [lambda content: b"", lambda content: content[:-1], lambda content: content + b"!"],
    ids=["empty", "cut", "longer"],
)
def test_a_broken_file_is_replaced(tmp_path: Path, stt: WhisperStt, spoil: Callable[[bytes], bytes]) -> None:
    file = filled(tmp_path / "cache", stt)
    whole = file.read_bytes()
    file.write_bytes(spoil(whole))
    assert filled(tmp_path / "cache", stt) == file
    assert file.read_bytes() == whole


def test_no_folder_keeps_nothing(stt: WhisperStt) -> None:
    cache = RecognitionCache(None)
    assert not cache.knows(stt)
    assert [cache.text(PCM, stt, lambda text=text: text) for text in ("a", "b")] == ["a", "b"]


def test_a_folder_that_cannot_be_written_to_fails_nothing(tmp_path: Path, stt: WhisperStt) -> None:
    (tmp_path / "file").touch()
    cache = RecognitionCache(tmp_path / "file")
    assert [cache.text(PCM, stt, lambda: TEXT) for _ in range(2)] == [TEXT, TEXT]


def test_only_so_many_are_kept(tmp_path: Path, stt: WhisperStt, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recognition_cache, "LIMIT", 5)
    cache = RecognitionCache(tmp_path / "cache")
    for number in range(2000):
        cache.text(number.to_bytes(2, "little"), stt, lambda: TEXT)
    assert 5 <= len(list(tmp_path.glob("cache/*/*"))) < 1500


def test_the_oldest_are_dropped_first(tmp_path: Path) -> None:
    for number in range(6):
        file = tmp_path / f"{number}.heard"
        file.touch()
        os.utime(file, (number, number))
    (tmp_path / "0.other").touch()
    drop_oldest(tmp_path, suffix=".heard", limit=2)
    assert sorted(file.name for file in tmp_path.iterdir()) == ["0.other", "4.heard", "5.heard"]
    drop_oldest(tmp_path / "missing", suffix=".heard", limit=2)


async def understood(profile: Profile, cache: SpeechCache, pcm: bytes) -> tuple[str, float]:
    """Return what the service understands, and in how many seconds of the loop."""
    service = SharedWhisperSTTService(profile.stt, cache.recognised)
    await service.setup(
        FrameProcessorSetup(
            clock=SystemClock(), task_manager=TaskManager(), pipeline_worker=None, tool_resources=None
        )
    )
    await service.start(StartFrame(audio_in_sample_rate=16_000))
    loop = asyncio.get_running_loop()
    begun = loop.time()
    texts = [frame.text async for frame in service.run_stt(pcm) if isinstance(frame, TranscriptionFrame)]
    seconds = loop.time() - begun
    await service.cleanup()
    return " ".join(texts), seconds


@pytest.fixture
def sentence(profile: Profile) -> bytes:
    pytest.importorskip("piper", reason="the extra 'local' is not installed")
    pytest.importorskip("faster_whisper", reason="the extra 'local' is not installed")
    voice = shared_voice(profile.tts.voice_path)
    return b"".join(spoken("Thank you very much.", voice, Timbre(), 16_000)) + bytes(16_000)


def test_a_charged_call_understands_no_difference(profile: Profile, tmp_path: Path, sentence: bytes) -> None:
    cache = SpeechCache(tmp_path / "cache")
    off, cold, warm = (
        ChargedClock().run(understood(profile, kept, sentence)) for kept in (SpeechCache(None), cache, cache)
    )
    assert off[0].startswith("Thank you very much")
    assert off[1] > 0
    assert off == cold == warm


def test_the_model_is_loaded_when_something_is_not_kept(
    profile: Profile, tmp_path: Path, sentence: bytes
) -> None:
    cache = SpeechCache(tmp_path / "cache")
    ChargedClock().run(understood(profile, cache, sentence))
    shared_recogniser.cache_clear()
    ChargedClock().run(understood(profile, cache, sentence))
    assert shared_recogniser.cache_info().currsize == 0
    ChargedClock().run(understood(profile, cache, sentence[3200:]))
    assert shared_recogniser.cache_info().currsize == 1


@pytest.mark.parametrize("clock", [MeasuredClock, RealClock])
def test_where_recognising_is_measured_nothing_is_read_or_kept(
    profile: Profile, tmp_path: Path, sentence: bytes, clock: type[MeasuredClock] | type[RealClock]
) -> None:
    cache = SpeechCache(tmp_path / "cache")
    clock().run(understood(profile, cache, sentence))
    assert not list(tmp_path.glob("cache/*/*"))
    cache.recognised.text(sentence, profile.stt, lambda: "something else")
    text, _ = clock().run(understood(profile, cache, sentence))
    assert text.startswith("Thank you very much")
