"""A run's folder is of one start at a time."""

from __future__ import annotations

import os
from pathlib import Path

from pytest_voiceeval.errors import VoiceEvalError
from pytest_voiceeval.world.files import lock, storage_error

LOCK = ".lock"


class RunBusyError(VoiceEvalError):
    """Another start works in the folder of a run."""


class RunLock:
    """Holds a run's folder until it is let go, or the process is gone, however it went.

    Raises:
        RunBusyError: if another process holds it.
        StorageError: if nothing can be written there.
    """

    def __init__(self, folder: Path) -> None:
        path = folder / LOCK
        try:
            self._handle = os.open(path, os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0), 0o644)
        except OSError as exc:
            raise storage_error(path, exc) from exc
        try:
            lock(self._handle)
        except BlockingIOError:
            os.close(self._handle)
            raise RunBusyError(
                f"{folder}: this run still goes on in another process; wait for its end, or stop it"
            ) from None

    def release(self) -> None:
        """Let the folder go; may be called once."""
        os.close(self._handle)
