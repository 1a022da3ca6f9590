"""Turns as they are spoken, on the terminal, with ``-v``: from this process, or from workers of xdist."""

from __future__ import annotations

import contextlib
import os
import sys
import threading
from collections.abc import Generator
from typing import Any, TextIO

import pytest

from pytest_voiceeval.model.live import LiveTurn
from pytest_voiceeval.plugin.planning import holds_calls
from pytest_voiceeval.plugin.worker_input import CHANNEL_INPUT
from pytest_voiceeval.report.sendable import sendable_text

MOST_CHARACTERS = 160
"""Of one turn; ``-vv`` shows all of it."""

IN_LINE = -2
"""What the terminal reporter notes where it stands in a line that is no test's: it ends it then."""


def progress_of(config: pytest.Config) -> Progress | WorkerProgress | None:
    """Return what shows turns, registered if it must be: with ``-v``, where there is a terminal."""
    if config.get_verbosity() < 1 or not holds_calls(config):
        return None
    workerinput = getattr(config, "workerinput", None)
    if workerinput is not None:
        return WorkerProgress(workerinput[CHANNEL_INPUT]) if CHANNEL_INPUT in workerinput else None
    if not config.pluginmanager.has_plugin("terminalreporter"):
        return None
    progress = Progress(config)
    config.pluginmanager.register(progress, "voiceeval-progress")
    return progress


def turn_line(turn: LiveTurn, verbosity: int, worker: str = "") -> str:
    """Return one line on a turn, of characters that a terminal shows and does not obey."""
    words = "".join(c if c.isprintable() else " " for c in turn.text).split()
    text = " ".join(words)
    if verbosity < 2 and len(text) > MOST_CHARACTERS:
        text = f"{text[:MOST_CHARACTERS]} …"
    origin = f"[{worker}] " if worker else "  "
    name = "".join(c if c.isprintable() else " " for c in turn.scenario)
    return f"{origin}{name} {turn.at:6.1f} s {turn.speaker.upper()}: {text}"


class Progress:
    """Writes lines between those of pytest, from any thread, also while pytest captures output.

    It has a copy of the terminal's stream from before output is captured. While pytest itself reports, it
    waits. Lines end where the next one begins, as those of pytest do.
    """

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._terminal: Any = config.pluginmanager.getplugin("terminalreporter")
        self._stream = _copy_of(sys.stdout)
        self._lock = threading.RLock()

    def tell(self, turn: LiveTurn, worker: str = "") -> None:
        """Write the line of a turn; it is for a person who watches: if nobody does any more, calls go on."""
        line = turn_line(turn, self._config.get_verbosity(), worker)
        with self._lock, contextlib.suppress(OSError, ValueError):
            begun = getattr(self._terminal, "currentfspath", None)  # a reporter of others may have none
            self._stream.write(line if begun is None else f"\n{line}")
            self._stream.flush()
            self._terminal.currentfspath = IN_LINE

    def _reporting(self) -> Generator[None, Any, Any]:
        with self._lock:
            return (yield)

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_logstart(self) -> Generator[None, Any, Any]:
        """Let pytest begin a test."""
        return (yield from self._reporting())

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_logreport(self) -> Generator[None, Any, Any]:
        """Let pytest report a test."""
        return (yield from self._reporting())

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_logfinish(self) -> Generator[None, Any, Any]:
        """Let pytest end a test."""
        return (yield from self._reporting())

    def pytest_unconfigure(self) -> None:
        """Close the copy of the stream."""
        with self._lock, contextlib.suppress(OSError):  # as above: what was not written is not missed
            if self._stream is not sys.stdout:
                self._stream.close()


def _copy_of(stream: TextIO) -> TextIO:
    """Return a stream to where ``stream`` leads now; itself if it is none of the system.

    What its encoding does not have is written as escapes.
    """
    try:
        handle = os.dup(stream.fileno())
    except OSError:  # a stream in memory
        return stream
    return open(handle, "w", encoding=stream.encoding, errors="backslashreplace", newline="")


class WorkerProgress:
    """Tells the controller of turns, on a worker of xdist."""

    def __init__(self, channel: Any) -> None:
        self._channel = channel

    def tell(self, turn: LiveTurn) -> None:
        """Send a turn; it is for a person who watches: a controller that is gone stops no call."""
        with contextlib.suppress(OSError):
            self._channel.send(
                (sendable_text(turn.scenario), turn.speaker, turn.at, sendable_text(turn.text))
            )
