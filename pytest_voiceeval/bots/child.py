"""One process of a command: from its start to its end."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from pytest_voiceeval.bots import tether
from pytest_voiceeval.bots.command import PORT
from pytest_voiceeval.bots.last_words import last_words
from pytest_voiceeval.bots.ports import Port, listeners
from pytest_voiceeval.world.files import open_own

CLOSE_SECONDS = 5.0
"""How long the tether may take to end everything: longer than what it gives the command."""

_XDIST_WORKER = "PYTEST_XDIST_WORKER"


class Child:
    """A command that runs on a port of its own, under a tether (see ``tether.py``).

    Attributes:
        has_answered: a call has been connected to it.
        is_told: that it ended was told, as the reason why a call broke.

    Raises:
        OSError: if it cannot be started.
    """

    def __init__(self, words: Sequence[str], log: Path, cwd: Path | None, env: Mapping[str, str]) -> None:
        self.has_answered = False
        self.is_told = False
        self._log = log
        self._port = Port()
        try:
            log.parent.mkdir(parents=True, exist_ok=True)
            with open_own(log) as output:
                self._log_start = tether.printed_bytes(output.fileno())
                self._port.release()
                self._process = subprocess.Popen(
                    [*_tether(), *(word.replace(PORT, str(self.port)) for word in words)],
                    stdin=subprocess.PIPE,
                    stdout=output,
                    stderr=subprocess.STDOUT,
                    cwd=cwd,
                    env=env,
                    start_new_session=True,
                )
        except BaseException:
            self._port.close()
            raise

    @property
    def port(self) -> int:
        """Where it is to listen."""
        return self._port.number

    @property
    def url(self) -> str:
        """Where it is to listen, as an URL."""
        return f"ws://localhost:{self.port}"

    @property
    def code(self) -> int | None:
        """Its exit code, negative for a signal; ``None`` while it runs."""
        return self._process.poll()

    @property
    def is_impersonated(self) -> bool:
        """Whether others listen on its port, and neither it nor what it has started."""
        found = listeners(self.port)
        return bool(found) and found.isdisjoint(tether.descendants(self._process.pid))

    async def wait(self, patience: float) -> int | None:
        """Return its exit code, if it ends within ``patience`` seconds."""
        if patience > 0:
            with suppress(subprocess.TimeoutExpired):
                return await asyncio.to_thread(self._process.wait, patience)
        return self.code

    def last_words(self, secrets: Iterable[str]) -> str:
        """Return the last lines that it printed, without ``secrets``."""
        return last_words(self._log, self._log_start, secrets)

    def close(self) -> None:
        """End it and all that it started: asked first, killed if that does not help."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        try:
            self._process.wait(CLOSE_SECONDS)
        except subprocess.TimeoutExpired:  # something does not even die of SIGKILL; it is left to the system
            self._process.kill()
            self._process.wait()
        self._port.close()


def ending(code: int) -> str:
    """Return how a process ended, in words."""
    if code >= 0:
        return f"exit code {code}"
    try:
        return f"killed by {signal.Signals(-code).name}"
    except ValueError:  # a real-time signal
        return f"killed by signal {-code}"


def _tether() -> list[str]:
    """Return the command of the tether: on its own, whatever the command's folder and variables hold.

    On a worker of pytest-xdist it also looks after the controller: a worker may outlive that for seconds.
    """
    owner = os.getppid() if _XDIST_WORKER in os.environ else 0
    return [sys.executable, "-I", "-S", tether.__file__, str(owner)]
