"""SIGTERM ends a run as Ctrl-C does: what there is of a call, and the files of the run, are written."""

from __future__ import annotations

import os
import signal
import threading
from types import FrameType
from typing import Any

import pytest


class Termination:
    """Stands in for the system's handler of SIGTERM, which would end the process at once.

    A worker of xdist that is asked to end writes down what there is of its call, and then ends by the
    signal: so its controller sees that it died, reports its scenario as an error, and goes on without it.
    """

    def __init__(self, *, is_worker: bool) -> None:
        self._is_worker = is_worker
        self._is_asked = False
        self._is_installed = False

    def install(self) -> None:
        """Take the signal over, unless somebody else has, or this is not the main thread."""
        is_main = threading.current_thread() is threading.main_thread()
        if is_main and signal.getsignal(signal.SIGTERM) is signal.SIG_DFL:
            signal.signal(signal.SIGTERM, self._stop)
            self._is_installed = True

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_setup(self, item: pytest.Item) -> None:
        """Take the signal over before a test by hand holds a call."""
        if not self._is_installed and "voice_conversation" in getattr(item, "fixturenames", ()):
            self.install()

    def _stop(self, _number: int, _frame: FrameType | None) -> None:
        self._is_asked = True
        if signal.getsignal(signal.SIGINT) in (signal.SIG_IGN, signal.SIG_DFL, None):
            raise KeyboardInterrupt  # a process in the background of a shell ignores SIGINT
        signal.raise_signal(signal.SIGINT)  # a loop that runs has a handler of its own for it

    def pytest_keyboard_interrupt(self) -> None:
        """End a worker by the signal, once its call is broken off."""
        if self._is_asked and self._is_worker:
            signal.signal(signal.SIGTERM, signal.SIG_DFL)
            os.kill(os.getpid(), signal.SIGTERM)

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        """Say what ended the run: pytest says that it was the keyboard."""
        if self._is_asked:
            terminalreporter.write_line("the run was ended by SIGTERM")

    def pytest_unconfigure(self) -> None:
        """Give the signal back."""
        if self._is_installed and signal.getsignal(signal.SIGTERM) == self._stop:
            signal.signal(signal.SIGTERM, signal.SIG_DFL)
