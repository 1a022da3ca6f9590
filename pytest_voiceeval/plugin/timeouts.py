"""pytest-timeout's method ``thread`` ends the process; a call that goes on then leaves its evidence first."""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Iterator
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

from pytest_voiceeval.plugin.means import ahead_key
from pytest_voiceeval.plugin.planning import holds_calls
from pytest_voiceeval.plugin.termination import Termination
from pytest_voiceeval.report.paths import shown_path

GRACE_SECONDS = 10.0
"""How long a call may take to be broken off, and to write what there is of it."""


@contextlib.contextmanager
def told_as_timed_out(folder: Path) -> Iterator[None]:
    """Have a call that pytest-timeout broke off by its method ``signal`` say where its files are."""
    try:
        yield
    except pytest.fail.Exception as exc:
        exc.pytrace = False
        exc.msg = f"{exc.msg}\n  the call was broken off; artefacts: {shown_path(folder)}"
        raise


class Timeouts:
    """Sets the timers of tests that hold a call, in place of pytest-timeout, and ends as that does."""

    @pytest.hookimpl(optionalhook=True, tryfirst=True)
    def pytest_timeout_set_timer(self, item: Any, settings: Any) -> bool | None:
        """Set the timer of a test with a call and the method ``thread``; leave all others alone."""
        holds_call = "voice_conversation" in getattr(item, "fixturenames", ())
        is_main = threading.current_thread() is threading.main_thread()
        if settings.method != "thread" or not (holds_call and is_main and hasattr(signal, "SIGALRM")):
            return None
        timer = _Timer(item, settings)
        item.cancel_timeout = timer.cancel
        timer.start()
        return True


class _Timer:
    """Breaks the call off when time is up, and then does what pytest-timeout does: it ends the process.

    The main thread is told by SIGALRM, which breaks a call off in order. If it is stuck, it is left so.
    """

    def __init__(self, item: Any, settings: Any) -> None:
        self._item = item
        self._settings = settings
        self._main = threading.get_ident()
        self._is_cancelled = threading.Event()
        self._thread = threading.Thread(target=self._watch, name=f"timeout of {item.nodeid}", daemon=True)

    def start(self) -> None:
        """Begin to count; on the main thread."""
        signal.signal(signal.SIGALRM, self._on_main_thread)
        self._thread.start()

    def cancel(self) -> None:
        """Stop counting; may be called twice."""
        self._is_cancelled.set()
        self._thread.join()
        if signal.getsignal(signal.SIGALRM) == self._on_main_thread:
            signal.signal(signal.SIGALRM, signal.SIG_DFL)

    def _watch(self) -> None:
        if self._is_cancelled.wait(self._settings.timeout):
            return
        signal.pthread_kill(self._main, signal.SIGALRM)
        if not self._is_cancelled.wait(GRACE_SECONDS):
            self._end()

    def _on_main_thread(self, _number: int, _frame: FrameType | None) -> None:
        if calls := self._item.config.stash.get(ahead_key, None):
            calls.close()
        self._end()

    def _end(self) -> None:
        # Whose hook this is.
        from pytest_timeout import timeout_timer  # type: ignore[import-untyped,unused-ignore] # noqa: PLC0415

        timeout_timer(self._item, self._settings)


def register_endings(config: pytest.Config, *, has_scenarios: bool) -> None:
    """Have what ends a run or a test from outside break calls off in order."""
    termination = Termination(is_worker=hasattr(config, "workerinput"))
    if has_scenarios and holds_calls(config):
        termination.install()
    config.pluginmanager.register(termination, "voiceeval-termination")
    config.pluginmanager.register(Timeouts(), "voiceeval-timeouts")
