"""Where pipecat's log goes: it logs through loguru, which by default writes to stderr."""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Iterator
from contextvars import ContextVar
from io import FileIO
from pathlib import Path

from pytest_voiceeval.model.safe_text import visible
from pytest_voiceeval.world.files import open_own

_LOG: ContextVar[Path | None] = ContextVar("_LOG", default=None)
"""File for the bots' lines of the call that what runs is a part of."""


def mute_default_sink() -> None:
    """Remove the sink that loguru has from the start; sinks that the user added stay."""
    from loguru import logger  # noqa: PLC0415 - only where a call is held

    with contextlib.suppress(ValueError):
        logger.remove(0)


def quieten_pipecat() -> None:
    """Ignore what pipecat deprecates within itself: no concern of a run that makes errors of warnings."""
    warnings.filterwarnings("ignore", category=DeprecationWarning, module=r"pipecat\.")


class _Sink:
    """Writes lines of a log, with nothing in them that acts on a terminal.

    A disk that is full ends the log and nothing else: it is told where evidence is written.
    """

    def __init__(self, file: FileIO) -> None:
        self._file = file
        self._is_full = False

    def write(self, message: str) -> None:
        """Write a message of loguru's."""
        if self._is_full:
            return
        try:
            self._file.write(visible(message).encode())
        except OSError:
            self._is_full = True


@contextlib.contextmanager
def bots_log_into(path: Path) -> Iterator[None]:
    """Have the log of the only call that is held written to a file, and no deprecations in pipecat told."""
    with warnings.catch_warnings(), bots_of_call_log_into(path):
        quieten_pipecat()
        yield


@contextlib.contextmanager
def bots_of_call_log_into(path: Path) -> Iterator[None]:
    """Have the log of embedded bots written to a file, and nowhere else unless the user wants it."""
    log = CallLog(path)
    try:
        log.open()
        with log.of_what_runs():
            yield
    finally:
        log.close()


class CallLog:
    """The file with the log of a call's bots.

    Of calls that are held at once, each has its own bots' lines, told apart by the context that they come
    from; a line of a thread without one may be any call's, and stands in the files of all.

    Args:
        path: of the file.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._opened = contextlib.ExitStack()

    def open(self) -> None:
        """Have lines written to it from now on. It takes milliseconds: other calls are not to wait for it."""
        from loguru import logger  # noqa: PLC0415 - only where a call is held

        mute_default_sink()
        file = self._opened.enter_context(open_own(self._path))
        sink = logger.add(
            _Sink(file),
            level="DEBUG",
            diagnose=False,
            backtrace=False,
            filter=lambda _: _LOG.get() in (None, self._path),
        )
        self._opened.callback(logger.remove, sink)

    @contextlib.contextmanager
    def of_what_runs(self) -> Iterator[None]:
        """Have the lines of what runs in this context, and in what it starts, written to it."""
        call = _LOG.set(self._path)
        try:
            yield
        finally:
            _LOG.reset(call)

    def close(self) -> None:
        """Have nothing written to it any more."""
        self._opened.close()
