"""Spoken lines on disk: what is kept, what is not believed, and that nobody hears the difference."""

from __future__ import annotations

import asyncio
import multiprocessing
import os
import signal
import stat
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

import pytest_voiceeval.bots.pipecat_import  # noqa: F401 - before anything of pipecat's

# isort: split
from pipecat.clocks.system_clock import SystemClock
from pipecat.frames.frames import StartFrame, TTSAudioRawFrame
from pipecat.processors.frame_processor import FrameProcessorSetup
from pipecat.utils.asyncio.task_manager import TaskManager

from pytest_voiceeval.__main__ import main
from pytest_voiceeval.bots.profile import Profile
from pytest_voiceeval.bots.profile_local import Timbre
from pytest_voiceeval.bots.speech import SharedPiperTTSService, shared_voice
from pytest_voiceeval.bots.speech_cache import SpeechCache, SpokenLine, cache_folder
from pytest_voiceeval.bridge.clock import ChargedClock, RealClock

TEXT = "Welcome to the shop. What would you like?"
SENTENCES = [b"\1\0\2\0", b"", b"\3\0"]


@pytest.fixture
def voice(tmp_path: Path) -> Path:
    path = tmp_path / "jo.onnx"
    path.write_bytes(b"weights")
    Path(f"{path}.json").write_text("{}", encoding="utf-8")
    return path


@pytest.fixture
def line(voice: Path) -> SpokenLine:
    return SpokenLine(TEXT, voice, Timbre(), 24_000)


def never() -> Iterator[bytes]:
    raise AssertionError("synthesised, though it is kept")


def filled(folder: Path, line: SpokenLine) -> Path:
    """Return the file that keeps ``line``."""
    assert list(SpeechCache(folder).sentences(line, lambda: iter(SENTENCES))) == SENTENCES
    (file,) = folder.glob("*/*")
    return file


def test_a_line_is_synthesised_once(tmp_path: Path, line: SpokenLine) -> None:
    cache = SpeechCache(tmp_path / "a" / "cache")
    assert not cache.knows(line.voice)
    filled(tmp_path / "a" / "cache", line)
    assert cache.knows(line.voice)
    assert list(cache.sentences(line, never)) == SENTENCES
    assert list(SpeechCache(tmp_path / "a" / "cache").sentences(line, never)) == SENTENCES


def test_a_line_without_sound_is_kept_too(tmp_path: Path, line: SpokenLine) -> None:
    cache = SpeechCache(tmp_path / "cache")
    assert list(cache.sentences(line, lambda: iter(()))) == []
    assert list(cache.sentences(line, never)) == []


def test_what_sounds_otherwise_is_another_line(tmp_path: Path, line: SpokenLine) -> None:
    cache = SpeechCache(tmp_path / "cache")
    filled(tmp_path / "cache", line)
    other = line.voice.with_name("al.onnx")
    other.write_bytes(b"weightz")
    Path(f"{other}.json").write_text("{}", encoding="utf-8")
    changes = ({"text": "Bye."}, {"timbre": Timbre(tempo=1.1)}, {"rate_hz": 16_000}, {"voice": other})
    for n, change in enumerate(changes):
        assert list(cache.sentences(replace(line, **change), lambda n=n: iter([bytes([n])]))) == [bytes([n])]
    assert list(cache.sentences(line, never)) == SENTENCES


def test_a_sentence_is_there_before_the_next_is_made(tmp_path: Path, line: SpokenLine) -> None:
    made = []

    def synthesise() -> Iterator[bytes]:
        for sentence in SENTENCES:
            made.append(sentence)
            yield sentence

    sentences = SpeechCache(tmp_path / "cache").sentences(line, synthesise)
    assert next(sentences) == SENTENCES[0]
    assert made == SENTENCES[:1]


def test_a_line_that_was_cut_off_is_not_kept(tmp_path: Path, line: SpokenLine) -> None:
    cache = SpeechCache(tmp_path / "cache")
    sentences = cache.sentences(line, lambda: iter(SENTENCES))
    next(sentences)
    del sentences
    assert list(cache.sentences(line, lambda: iter([b"\7\0"]))) == [b"\7\0"]


@pytest.mark.parametrize(
    "spoil",
    [
        lambda content: b"",
        lambda content: content[:20],
        lambda content: content[:-1],
        lambda content: content + b"\0",
        lambda content: content[:-1] + bytes([content[-1] ^ 1]),
        lambda content: content[:33] + b"\xff" + content[34:],
        lambda content: b"RIFF" + bytes(500),
    ],
    ids=["empty", "no header", "cut", "longer", "other samples", "other count", "foreign"],
)
def test_a_broken_file_is_replaced(tmp_path: Path, line: SpokenLine, spoil) -> None:
    file = filled(tmp_path / "cache", line)
    whole = file.read_bytes()
    file.write_bytes(spoil(whole))
    assert filled(tmp_path / "cache", line) == file
    assert file.read_bytes() == whole


def test_the_file_of_another_line_is_not_believed(tmp_path: Path, line: SpokenLine) -> None:
    file = filled(tmp_path / "cache", line)
    cache, other = SpeechCache(tmp_path / "cache"), replace(line, text="Bye.")
    file.rename(file.with_name(f"{other.digest().hex()}{file.suffix}"))
    assert list(cache.sentences(other, lambda: iter([b"\5\0"]))) == [b"\5\0"]
    assert list(cache.sentences(other, never)) == [b"\5\0"]


def test_no_folder_keeps_nothing(line: SpokenLine) -> None:
    cache = SpeechCache(None)
    assert not cache.knows(line.voice)
    for sentences in ([b"\1\0"], [b"\2\0"]):
        assert list(cache.sentences(line, lambda kept=sentences: iter(kept))) == sentences


def test_a_folder_that_cannot_be_written_to_fails_nothing(tmp_path: Path, line: SpokenLine) -> None:
    (tmp_path / "file").touch()
    cache = SpeechCache(tmp_path / "file")
    for _ in range(2):
        assert list(cache.sentences(line, lambda: iter(SENTENCES))) == SENTENCES
    assert not cache.knows(line.voice)


def _write_for_ever(folder: Path, line: SpokenLine) -> None:
    long = [bytes(400_000)] * 3
    while True:
        list(SpeechCache(folder).sentences(line, lambda: iter(long)))
        for file in folder.glob(f"*/{line.digest().hex()}*"):
            file.unlink(missing_ok=True)


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="needs kill -9")
def test_writers_that_are_killed_leave_nothing_half(tmp_path: Path, line: SpokenLine) -> None:
    context = multiprocessing.get_context("spawn")
    writers = [context.Process(target=_write_for_ever, args=(tmp_path / "cache", line)) for _ in range(2)]
    for writer in writers:
        writer.start()
    long = [bytes(400_000)] * 3
    while not list(tmp_path.glob("cache/*/*")):
        assert all(writer.is_alive() for writer in writers)
    for _ in range(100):
        assert list(SpeechCache(tmp_path / "cache").sentences(line, lambda: iter(long))) == long
    for writer in writers:
        os.kill(writer.pid or 0, signal.SIGKILL)
        writer.join()
    for _ in range(2):
        assert list(SpeechCache(tmp_path / "cache").sentences(line, lambda: iter(long))) == long
    assert list(SpeechCache(tmp_path / "cache").sentences(line, never)) == long


def test_names_of_the_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    assert cache_folder("none", tmp_path) is None
    assert cache_folder("a/b", tmp_path) == tmp_path / "a" / "b"
    assert cache_folder("~/b", tmp_path / "c") == tmp_path / "b"
    assert cache_folder("~nobody.of.that.name/b", tmp_path) == tmp_path / "~nobody.of.that.name" / "b"
    assert cache_folder("b", Path()) == Path("b")
    own = cache_folder("user", tmp_path)
    assert own is not None
    assert own.is_absolute()
    assert "pytest-voiceeval" in own.parts
    assert not list(tmp_path.iterdir())


def test_a_folder_that_cannot_be_made_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for text in ("file", "file/below/it"):
        with pytest.raises(ValueError, match="cannot be made; write a folder that can, user, or none"):
            cache_folder(text, tmp_path)


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_in_a_place_that_is_read_only_is_told(tmp_path: Path) -> None:
    tmp_path.chmod(stat.S_IRUSR | stat.S_IXUSR)
    try:
        with pytest.raises(ValueError, match="cannot be made"):
            cache_folder("new", tmp_path)
        assert cache_folder(".", tmp_path) == tmp_path
    finally:
        tmp_path.chmod(stat.S_IRWXU)


def test_the_bot_command_refuses_such_a_folder(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(SystemExit) as stopped:
        main(["bot", f"--cache-dir={tmp_path / 'file'}"])
    assert stopped.value.code == 2
    assert "cannot be made; write a folder that can" in capsys.readouterr().err


async def sound(profile: Profile, cache: SpeechCache, text: str) -> list[tuple[float, bytes]]:
    """Return what the service gives for ``text``, each frame with its time; the end is a frame of none."""
    service = SharedPiperTTSService(profile.tts, profile.tts.user, cache)
    loop = asyncio.get_running_loop()
    await service.setup(
        FrameProcessorSetup(
            clock=SystemClock(), task_manager=TaskManager(), pipeline_worker=None, tool_resources=None
        )
    )
    await service.start(StartFrame(audio_out_sample_rate=24_000))
    begin = loop.time()
    got = [
        (loop.time() - begin, frame.audio)
        async for frame in service.run_tts(text, "context")
        if isinstance(frame, TTSAudioRawFrame)
    ]
    got.append((loop.time() - begin, b""))
    await service.cleanup()
    return got


def test_a_charged_call_hears_no_difference(profile: Profile, tmp_path: Path) -> None:
    pytest.importorskip("piper", reason="the extra 'local' is not installed")
    cache = SpeechCache(tmp_path / "cache")
    off, cold, warm = (
        ChargedClock().run(sound(profile, kept, TEXT)) for kept in (SpeechCache(None), cache, cache)
    )
    assert len(off) == 3
    assert off[0][0] > 0.02
    assert off[-1][0] > off[1][0] > off[0][0]
    assert off == cold == warm


def test_a_voice_is_loaded_at_the_first_line_that_is_not_kept(profile: Profile, tmp_path: Path) -> None:
    pytest.importorskip("piper", reason="the extra 'local' is not installed")
    cache = SpeechCache(tmp_path / "cache")
    ChargedClock().run(sound(profile, cache, TEXT))
    shared_voice.cache_clear()
    ChargedClock().run(sound(profile, cache, TEXT))
    assert shared_voice.cache_info().currsize == 0
    ChargedClock().run(sound(profile, cache, "Goodbye."))
    assert shared_voice.cache_info().currsize == 1

    # Where time is not charged, an answer in the middle of a call would wait for it.
    shared_voice.cache_clear()
    RealClock().run(sound(profile, cache, TEXT))
    assert shared_voice.cache_info().currsize == 1
