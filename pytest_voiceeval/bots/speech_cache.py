"""Spoken lines on disk: what was said once in a voice need not be synthesised again.

One file a line, in a folder for each voice. A folder is named by all that goes into a voice's sound:
the model's content and the versions of what runs it. Files of other versions are never read; they may be
deleted at any time, as the whole cache may.
"""

from __future__ import annotations

import hashlib
import json
import os
import struct
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_voiceeval.bots.kept_files import fingerprint, keep, read_kept
from pytest_voiceeval.bots.recognition_cache import RecognitionCache

if TYPE_CHECKING:
    from pytest_voiceeval.bots.profile_local import Timbre

RENDERING = 1
"""Raise it when ``speech.spoken`` comes to give other samples for the same text."""

_SUFFIX = ".speech"


@dataclass(frozen=True)
class SpokenLine:
    """What is said, and how.

    Attributes:
        voice: file of the Piper voice.
        rate_hz: of the samples.
    """

    text: str
    voice: Path
    timbre: Timbre
    rate_hz: int

    def digest(self) -> bytes:
        """Return what tells the line from all others in its voice."""
        told = json.dumps([self.text, self.timbre.model_dump(), self.rate_hz], sort_keys=True)
        return hashlib.sha256(told.encode()).digest()


class SpeechCache:
    """Keeps the samples of lines in ``folder``; keeps nothing if that is ``None``.

    Processes may share a folder: a file is written under another name and renamed. A file that was cut
    off, changed, or made by something else counts as missing and is replaced. A folder that cannot be
    written to is no error, for the lines can be had without it: what is in it is read, nothing is added.

    Attributes:
        recognised: what was recognised of them, kept in the same folder.
    """

    def __init__(self, folder: Path | None) -> None:
        self._folder = folder
        self.recognised = RecognitionCache(folder)

    def knows(self, voice: Path) -> bool:
        """Return whether any line of that voice is kept, which tells that the voice once could be loaded."""
        return self._folder is not None and (self._folder / _voice_name(voice)).is_dir()

    def sentences(self, line: SpokenLine, synthesise: Callable[[], Iterator[bytes]]) -> Iterator[bytes]:
        """Yield the sentences of ``line`` from disk, or from ``synthesise``, each when it is there.

        A line is kept when its last sentence has been taken.
        """
        if self._folder is None:
            yield from synthesise()
            return
        digest = line.digest()
        file = self._folder / _voice_name(line.voice) / f"{digest.hex()}{_SUFFIX}"
        kept = read_kept(file, digest)
        if kept is not None:
            yield from _unpack(kept)
            return
        made = []
        for sentence in synthesise():
            made.append(sentence)
            yield sentence
        keep(file, digest, _pack(made))


def cache_folder(text: str, base: Path) -> Path | None:
    """Return the folder that ``text`` names, from ``base`` if it is relative; ``None`` for the word ``none``.

    ``user`` is the folder in the user's cache directory. If that cannot be made or written to (a read-only
    home, a user without one), calls do without: nobody asked for it. A folder that was asked for by name
    and can never be made is a mistake, and is told as one. Nothing is made here.

    Raises:
        ValueError: if it cannot be made; the text is the remedy.
    """
    if not text.strip():
        raise ValueError("is no folder; write one, user, or none")
    if text == "none":
        return None
    if text == "user":
        return _user_folder()
    try:
        folder = base / Path(text).expanduser()
    except RuntimeError:  # ~somebody who is not known
        folder = base / text
    above = next(path for path in (folder, *folder.absolute().parents) if path.exists())
    if not above.is_dir() or (above != folder and not os.access(above, os.W_OK)):
        raise ValueError("cannot be made; write a folder that can, user, or none")
    return folder


def _user_folder() -> Path | None:
    from platformdirs import user_cache_path  # noqa: PLC0415 - a run that names a folder does without

    folder = user_cache_path("pytest-voiceeval", appauthor=False) / "speech"
    return folder if folder.is_absolute() else None


@cache
def _voice_name(voice: Path) -> str:
    """Return the name of the folder for ``voice``: the file's, and a digest of all that it sounds by."""
    import onnxruntime  # type: ignore[import-untyped] # noqa: PLC0415 - heavy; a cache that is off does without
    import soxr  # noqa: PLC0415 - as above

    try:
        piper = version("piper-tts")
    except PackageNotFoundError:  # a copy of somebody's own
        piper = ""
    versions = [RENDERING, piper, onnxruntime.__version__, soxr.__version__]
    return f"{voice.stem}-{fingerprint(versions, [Path(f'{voice}.json'), voice])}"


def _pack(sentences: list[bytes]) -> bytes:
    """Return how many sentences, the bytes of each (unsigned 32-bit little-endian), and the sentences."""
    sizes = [len(sentence) for sentence in sentences]
    return struct.pack(f"<I{len(sizes)}I", len(sizes), *sizes) + b"".join(sentences)


def _unpack(body: bytes) -> list[bytes]:
    (count,) = struct.unpack_from("<I", body)
    sizes = struct.unpack_from(f"<{count}I", body, 4)
    sentences = []
    place = 4 + 4 * count
    for size in sizes:
        sentences.append(body[place : place + size])
        place += size
    return sentences
