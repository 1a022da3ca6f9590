"""A bot in a process of ours: started, watched, ended."""

from __future__ import annotations

import asyncio
import os
import shlex
import signal
import socket
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

from pytest_voiceeval.errors import BotProcessError, DefinitionError
from pytest_voiceeval.model.turns import AGENT, Side
from pytest_voiceeval.world import roots

SIDE_VARIABLE = "VOICEEVAL_SIDE"
"""Environment variable that tells a command which side of the call its bot plays."""

TRACE_VARIABLE = "VOICEEVAL_TRACE_METRICS"
"""Environment variable that names the file into which an agent may write figures of its own of each call."""

_PORT = "{port}"
_POLL_SECONDS = 0.1
_CONNECT_SECONDS = 2.0
_TERMINATE_SECONDS = 3.0
_DEATH_SECONDS = 0.5
_LAST_LINES = 15


class BotProcess:
    """A command that serves a bot on a port, started when first needed.

    It runs in a process group of its own under a tether (see ``tether.py``): it dies with us, also
    when we are killed. What it prints goes to ``log_path``.

    Raises:
        DefinitionError: if ``command`` cannot be read, or has no place for the port.
    """

    def __init__(self, side: Side, command: str, log_path: Path, *, start_seconds: float) -> None:
        self.side = side
        self.command = command
        self.log_path = log_path
        self.start_seconds = start_seconds
        self._words = _words(command)
        self._process: subprocess.Popen[bytes] | None = None
        self._port = 0

    @property
    def _url(self) -> str:
        return f"ws://localhost:{self._port}"

    @asynccontextmanager
    async def listening(self) -> AsyncIterator[str]:
        """Have the process running and listening; yields its URL.

        Raises:
            BotProcessError: if it does not start, never listens, or has died when the body fails.
        """
        if self._process is None or self._process.poll() is not None:
            self.close()
            self._process = self._start()
            await self._ready(self._process)
        try:
            yield self._url
        except Exception as exc:  # whatever broke the call: if the process died, that is why
            # The connection ends a little before the process does.
            with suppress(subprocess.TimeoutExpired):
                code = await asyncio.to_thread(self._process.wait, _DEATH_SECONDS)
                raise BotProcessError(self._obituary("ended in the middle of a call", code)) from exc
            raise

    def close(self) -> None:
        """End the process and its children: asked first, killed if that does not help."""
        process, self._process = self._process, None
        if process is None:
            return
        for sign in (signal.SIGTERM, signal.SIGKILL):
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(process.pid, sign)
            with suppress(subprocess.TimeoutExpired):
                process.wait(_TERMINATE_SECONDS)
        if process.stdin is not None:
            process.stdin.close()

    @property
    def trace_file(self) -> Path:
        """The file that ``TRACE_VARIABLE`` names; only an agent is told of it."""
        return self.log_path.absolute().with_name(f"{self.log_path.stem}_trace_metrics.json")

    def _environment(self) -> dict[str, str]:
        own: dict[str, str] = {SIDE_VARIABLE: self.side, **roots.environment()}
        return own | {TRACE_VARIABLE: str(self.trace_file)} if self.side == AGENT else own

    def _start(self) -> subprocess.Popen[bytes]:
        self._port = _free_port()
        words = [word.replace(_PORT, str(self._port)) for word in self._words]
        self.log_path.parent.mkdir(parents=True, exist_ok=True)
        with self.log_path.open("ab") as log:
            return subprocess.Popen(
                [sys.executable, "-m", "pytest_voiceeval.bots.tether", *words],
                stdin=subprocess.PIPE,
                stdout=log,
                stderr=subprocess.STDOUT,
                env={**os.environ, **self._environment()},
                start_new_session=True,
            )

    async def _ready(self, process: subprocess.Popen[bytes]) -> None:
        """Wait until the port can be reached; the bot's first client is the bridge."""
        loop = asyncio.get_running_loop()
        limit = loop.time() + self.start_seconds
        while True:
            code = process.poll()
            if code is not None:
                raise BotProcessError(self._obituary("ended before it listened", code))
            try:
                async with asyncio.timeout(_CONNECT_SECONDS):
                    _, writer = await asyncio.open_connection("localhost", self._port)
                writer.close()
                await writer.wait_closed()
                return
            except (OSError, TimeoutError) as exc:
                if loop.time() > limit:
                    raise BotProcessError(
                        f"{self.side} bot cmd:{self.command}: nothing listens at {self._url} after "
                        f"{self.start_seconds:g} s ({exc}); does the command use {_PORT}? "
                        f"{self._last_lines()}"
                    ) from None
            await asyncio.sleep(_POLL_SECONDS)

    def _obituary(self, what: str, code: int) -> str:
        return (
            f"{self.side} bot cmd:{self.command}: {what}, exit code {code}; expected it to keep running and "
            f"to serve calls at {self._url}. {self._last_lines()}"
        )

    def _last_lines(self) -> str:
        text = self.log_path.read_text(encoding="utf-8", errors="replace")
        lines = "\n".join(text.splitlines()[-_LAST_LINES:])
        return f"Last lines of {self.log_path}:\n{lines}" if lines else f"{self.log_path} is empty."


def _words(command: str) -> list[str]:
    try:
        words = shlex.split(command)
    except ValueError as exc:
        raise DefinitionError(f"cmd:{command}: {exc}") from None
    if not words:
        raise DefinitionError("cmd: write a command, such as cmd:python bot.py --port {port}")
    if not any(_PORT in word for word in words):
        raise DefinitionError(f"cmd:{command}: write {_PORT} where the command takes its port")
    return words


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as probe:
        return int(probe.getsockname()[1])
