"""Recognised sound on disk: samples that were recognised once need not be recognised again.

One file for each stretch of sound, in a folder for each recogniser. A folder is named by all that goes into
a recogniser's text: the model's content, how it is run, and the versions of what runs it. So what is kept
is what would be recognised. Files of other versions are never read; they may be deleted at any time.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_voiceeval.bots.kept_files import drop_oldest, fingerprint, keep, read_kept

if TYPE_CHECKING:
    from pytest_voiceeval.bots.profile_local import WhisperStt

READING = 1
"""Raise it when ``recogniser.heard`` comes to give another text for the same samples."""

LIMIT = 20_000
"""How many texts of a recogniser are kept; the oldest are dropped first."""

_SUFFIX = ".heard"


class RecognitionCache:
    """Keeps the texts of recognised sound in ``folder``; keeps nothing if that is ``None``.

    Processes may share a folder, and a file that is not whole counts as missing, as in ``SpeechCache``.
    Only for calls whose time is charged: a text that is read takes less time than it is measured by.
    """

    def __init__(self, folder: Path | None) -> None:
        self._folder = folder

    def knows(self, stt: WhisperStt) -> bool:
        """Return whether any text of that recogniser is kept, which tells that it once could be loaded."""
        return self._folder is not None and (self._folder / _recogniser_name(stt)).is_dir()

    def text(self, pcm: bytes, stt: WhisperStt, recognise: Callable[[], str]) -> str:
        """Return the words in ``pcm`` from disk, or from ``recognise``."""
        if self._folder is None:
            return recognise()
        key = hashlib.sha256(json.dumps([stt.language, len(pcm)]).encode() + pcm).digest()
        folder = self._folder / _recogniser_name(stt)
        file = folder / f"{key.hex()}{_SUFFIX}"
        kept = read_kept(file, key)
        if kept is not None:
            return kept.decode()
        text = recognise()
        keep(file, key, text.encode())
        if key[0] == 0:  # one in 256: to count them each time would cost more than they do
            drop_oldest(folder, suffix=_SUFFIX, limit=LIMIT)
        return text


def _recogniser_name(stt: WhisperStt) -> str:
    return _name_of(stt.model_path, stt.device, stt.compute_type)


@cache
def _name_of(model: Path, device: str, compute_type: str) -> str:
    """Return the name of the folder for a recogniser: its model's, and a digest of all that it hears by."""
    import ctranslate2  # type: ignore[import-untyped] # noqa: PLC0415 - heavy; a cache that is off does without
    import faster_whisper  # noqa: PLC0415 - as above
    import numpy as np  # noqa: PLC0415 - as above

    versions = [READING, faster_whisper.__version__, ctranslate2.__version__, np.__version__]
    files = sorted(path for path in model.iterdir() if path.is_file())
    told = [*versions, device, compute_type, [path.name for path in files]]
    return f"{model.name}-{fingerprint(told, files)}"
