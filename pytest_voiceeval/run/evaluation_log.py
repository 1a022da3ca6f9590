"""``evaluation_log.txt``: what happened in a run, one line an event, as it happens."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import Literal

from pytest_voiceeval.errors import StorageError
from pytest_voiceeval.model.safe_text import visible_words
from pytest_voiceeval.run.session import RunFolder
from pytest_voiceeval.world.files import open_own, storage_error

FILE = "evaluation_log.txt"
Level = Literal["INFO", "ERROR"]


class EvaluationLog:
    """Appends lines to the log; they wait while the run has no folder yet.

    A line is ``YYYY-MM-DD HH:MM:SS | <file>:<function>:<line> | [LEVEL]: text``. Its place is that of the
    scenario: where it is defined, and what it is called.

    Attributes:
        fault: why what waits can't be written; ``None`` if nothing has failed.
    """

    def __init__(self, folder: RunFolder) -> None:
        self._folder = folder
        self._waiting = b""
        self.fault: StorageError | None = None

    def add(self, location: tuple[str, int | None, str], text: str, level: Level = "INFO") -> None:
        """Add an event at pytest's ``location``: file, line from 0, and name."""
        file, line, name = location
        place = f"{Path(file).name}:{name}:{(line or 0) + 1}"
        now = f"{datetime.now():%Y-%m-%d %H:%M:%S}"
        event = visible_words(f"{now} | {place} | [{level}]: {text}")
        self._waiting += f"{event}\n".encode()
        self.flush()

    def flush(self) -> None:
        """Write what waits, if there is a place for it; what can't be written goes on waiting.

        ``fault`` says why.
        """
        folder = self._folder.find()
        if folder is None or not self._waiting:
            return
        try:
            with open_own(folder / FILE) as stream:
                while self._waiting:
                    self._waiting = self._waiting[stream.write(self._waiting) :]
        except OSError as exc:
            self.fault = exc if isinstance(exc, StorageError) else storage_error(folder / FILE, exc)
        else:
            self.fault = None
