"""Spoken lines on disk: what was said once in a voice need not be synthesised again.

One file a line, in a folder for each voice. A folder is named by all that goes into a voice's sound:
the model's content and the versions of what runs it. Files of other versions are never read; they may be
deleted at any time, as the whole cache may.
"""

from __future__ import annotations

import contextlib
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

from pytest_voiceeval.world.files import write_whole

if TYPE_CHECKING:
    from pytest_voiceeval.bots.profile import Timbre

RENDERING = 1
"""Raise it when ``speech.spoken`` comes to give other samples for the same text."""

_DIGEST_BYTES = 32
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
    """

    def __init__(self, folder: Path | None) -> None:
        self._folder = folder

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
        kept = _read(file, digest)
        if kept is not None:
            yield from kept
            return
        made = []
        for sentence in synthesise():
            made.append(sentence)
            yield sentence
        _write(file, digest, made)


def cache_folder(text: str, base: Path) -> Path | None:
    """Return the folder that ``text`` names, from ``base`` if it is relative; ``None`` for the word ``none``.

    ``user`` is the folder in the user's cache directory. If that cannot be made or written to (a read-only
    home, a user without one), calls do without: nobody asked for it. A folder that was asked for by name
    and can never be made is a mistake, and is told as one. Nothing is made here.

    Raises:
        ValueError: if it cannot be made; the text is the remedy.
    """
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
    """Return the name of the folder for ``voice``: the file's, and a digest of all that it sounds by.

    The content is read, 0.1 s for a voice of 60 MB once a process: an installer changes a file's time, and
    a voice that was trained further has the same size.
    """
    import onnxruntime  # type: ignore[import-untyped] # noqa: PLC0415 - heavy; a cache that is off does without
    import soxr  # noqa: PLC0415 - as above

    try:
        piper = version("piper-tts")
    except PackageNotFoundError:  # a copy of somebody's own
        piper = ""
    versions = [RENDERING, piper, onnxruntime.__version__, soxr.__version__]
    told = hashlib.sha256(json.dumps(versions).encode())
    told.update(Path(f"{voice}.json").read_bytes())
    with voice.open("rb") as file:
        told.update(hashlib.file_digest(file, "sha256").digest())
    return f"{voice.stem}-{told.hexdigest()[:16]}"


def _read(file: Path, digest: bytes) -> list[bytes] | None:
    """Return the sentences in ``file``; ``None`` if it is not there or not, whole, that line's.

    A file holds the SHA-256 of ``digest`` and all that follows; the number of sentences and the bytes of
    each as unsigned 32-bit little-endian integers; the sentences.
    """
    try:
        content = file.read_bytes()
    except OSError:
        return None
    check, body = content[:_DIGEST_BYTES], content[_DIGEST_BYTES:]
    if check != hashlib.sha256(digest + body).digest():
        return None
    (count,) = struct.unpack_from("<I", body)
    sizes = struct.unpack_from(f"<{count}I", body, 4)
    sentences = []
    place = 4 + 4 * count
    for size in sizes:
        sentences.append(body[place : place + size])
        place += size
    return sentences


def _write(file: Path, digest: bytes, sentences: list[bytes]) -> None:
    """Put ``sentences`` into ``file``, whole or not at all."""
    sizes = [len(sentence) for sentence in sentences]
    body = struct.pack(f"<I{len(sizes)}I", len(sizes), *sizes) + b"".join(sentences)
    with contextlib.suppress(OSError):
        write_whole(file, lambda stream: stream.write(hashlib.sha256(digest + body).digest() + body))
