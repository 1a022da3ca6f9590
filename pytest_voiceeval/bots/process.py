"""A bot in a process of ours: started, watched, started again, ended."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from urllib.parse import urlsplit

from pytest_voiceeval.bots.child import Child, ending
from pytest_voiceeval.bots.command import ProcessSettings, command_words, obstacle
from pytest_voiceeval.bots.ports import answers
from pytest_voiceeval.errors import BotProcessError, BotRefusedError, BotUnreachableError
from pytest_voiceeval.model.turns import AGENT, Side
from pytest_voiceeval.scenarios.packs import PACKS_VARIABLE
from pytest_voiceeval.wire.address import secret_values, without_secrets
from pytest_voiceeval.wire.connection import Connection, open_connection
from pytest_voiceeval.wire.limits import HANDSHAKE_SECONDS
from pytest_voiceeval.world import roots

SIDE_VARIABLE = "VOICEEVAL_SIDE"
"""Environment variable that tells a command which side of the call its bot plays."""

TRACE_VARIABLE = "VOICEEVAL_TRACE_METRICS"
"""Environment variable that names the file into which an agent may write figures of its own of each call."""

MOST_PORTS = 3
"""How many ports a command is given, one after another, where others take them before it does."""

DEATH_SECONDS = 1.0
"""How long the process of a bot whose connection broke may take to end: the connection ends before it."""

_LOOK_SECONDS = 0.5


class BotProcess:
    """A command that serves a bot on a port, started when first needed and kept for the next calls.

    It is ready when it accepts the connection of its first call: nobody connects to it before that, so that a
    bot for one call only is not spent on a probe. What it prints goes to ``log_path``. It dies with us, also
    when we are killed.

    Attributes:
        restarted: why it was started again before this call; empty if it was not.

    Raises:
        DefinitionError: if ``command`` cannot be read, or has no place for the port.
    """

    def __init__(self, side: Side, command: str, log_path: Path, settings: ProcessSettings) -> None:
        self.side = side
        self.command = command
        self.log_path = log_path
        self.settings = settings
        self.restarted = ""
        self._words = command_words(command)
        self._child: Child | None = None
        self._deadline = 0.0
        self._is_called = False
        self._moves = 0
        self._crashes = 0
        self._others_listen_for_it = False

    @asynccontextmanager
    async def running(self) -> AsyncIterator[str]:
        """Have the process running; yields the URL at which it is to listen, which ``connect`` waits for.

        Raises:
            BotProcessError: if it cannot be started, has crashed between two calls for the second time, or
                has ended when the body fails.
            BotUnreachableError, BotRefusedError: as the body does, with its last lines.
        """
        self.restarted, self._is_called = "", False
        if self._child is not None and self._child.code is not None:
            await self._bury(self._child, self._child.code)
        if self._child is None:
            self._start()
        self._deadline = asyncio.get_running_loop().time() + self.settings.start_seconds
        try:
            yield self._running.url + self.settings.path
        except BotProcessError:
            raise
        except Exception as exc:  # whatever broke the call: if the process died, that is why
            if told := await self.ended(DEATH_SECONDS):
                raise BotProcessError(f"{told}\n{exc}") from exc
            if isinstance(exc, BotUnreachableError | BotRefusedError) and str(exc).startswith(self.side):
                raise type(exc)(f"{exc}\n{self._last_words(self._running)}") from exc
            raise

    @property
    def ready_seconds(self) -> float:
        """How long the bot may take to say that it is ready: it may have just been started."""
        return max(self.settings.start_seconds, HANDSHAKE_SECONDS)

    async def connect(self, url: str, limit: float) -> Connection:
        """Return a connection to it; while it is coming up, it is waited for.

        Args:
            url: where it was told to listen, and a path if need be; the port is the one that it has now.
            limit: seconds, once it is up.

        Raises:
            OSError: if it is up and accepts none.
            BotProcessError: if it is coming up and ends, or takes too long.
        """
        loop = asyncio.get_running_loop()
        limit_at = loop.time() + limit
        while True:
            child = self._running
            left = (limit_at if child.has_answered else self._deadline) - loop.time()
            try:
                connection = await open_connection(_at(url, child.port), max(min(left, _LOOK_SECONDS), 0.05))
            except OSError as exc:
                await self._look_after(child, left, exc)
                continue
            if not child.has_answered and await self._is_impersonated(child):
                await connection.close()
                code = child.code
                await (self._move() if code is None else self._move_or_tell(child, code))
                continue
            child.has_answered = self._is_called = True
            return connection

    async def ended(self, patience: float) -> str:
        """Return how it ended, with its last lines, if it does within ``patience`` seconds; else nothing.

        An end that was told is no crash between two calls.
        """
        child = self._child
        if child is None or (code := await child.wait(patience)) is None:
            return ""
        child.is_told = True
        when = "in the middle of a call" if child.has_answered else "before it was ready"
        return self._obituary(child, f"ended {when}, {ending(code)}")

    def close(self) -> None:
        """End the process and all that it started; may be called twice."""
        child, self._child = self._child, None
        if child is not None:
            child.close()

    @property
    def trace_file(self) -> Path:
        """The file that ``TRACE_VARIABLE`` names; only an agent is told of it."""
        return self.log_path.absolute().with_name(f"{self.log_path.stem}_trace_metrics.json")

    @property
    def _name(self) -> str:
        return f"{self.side} bot cmd:{without_secrets(self.command)}"

    @property
    def _running(self) -> Child:
        if self._child is None:
            raise BotProcessError(f"{self._name}: it was closed while it was needed")
        return self._child

    def _environment(self) -> dict[str, str]:
        own: dict[str, str] = {SIDE_VARIABLE: self.side, **roots.environment()}
        if self.settings.packs:
            own[PACKS_VARIABLE] = os.pathsep.join(str(root.absolute()) for root in self.settings.packs)
        traced = {TRACE_VARIABLE: str(self.trace_file)} if self.side == AGENT else {}
        return {**os.environ, **self.settings.env, **own, **traced}

    def _start(self) -> None:
        environment = self._environment()
        if why := obstacle(self._words, self.settings, environment):
            raise BotProcessError(f"{self._name}: {why}")
        try:
            self._child = Child(self._words, self.log_path.absolute(), self.settings.cwd, environment)
        except OSError as exc:
            raise BotProcessError(f"{self._name}: it cannot be started: {exc}") from None
        self._deadline = asyncio.get_running_loop().time() + self.settings.start_seconds

    async def _bury(self, child: Child, code: int) -> None:
        """Give up a process that has ended since the last call; note it if that was a crash.

        One that ends itself with code 0 after a call serves one call a process.

        Raises:
            BotProcessError: if that was not the first crash.
        """
        if code != 0 and not child.is_told:
            self._crashes += 1
            if self._crashes > 1:
                what = f"ended between two scenarios for the second time in this run, {ending(code)}"
                raise BotProcessError(
                    self._obituary(child, f"{what}; it is started again only after the first time")
                )
            self.restarted = f"its process ended between two scenarios ({ending(code)}) and was started again"
        await self._give_up()
        self._moves = 0

    async def _give_up(self) -> None:
        await asyncio.to_thread(self.close)

    async def _move(self) -> None:
        """Start it again on another port."""
        self._moves += 1
        await self._give_up()
        self._start()

    async def _look_after(self, child: Child, left: float, exc: OSError) -> None:
        """Return if it may be asked again for a connection, perhaps once more from its start.

        Raises:
            OSError: ``exc``, if it is up and its time is over, or it has ended in the call.
            BotProcessError: if it has ended while it was coming up, or its time for that is over.
        """
        code, is_up = child.code, child.has_answered
        if is_up and code is not None and not self._is_called:  # it was about to end after the last call
            await self._bury(child, code)
            self._start()
        elif is_up and (code is not None or left <= _LOOK_SECONDS):
            raise exc
        elif not is_up and code is not None:
            await self._move_or_tell(child, code)
        elif not is_up and left <= _LOOK_SECONDS:
            told = (
                f"{self._name}: not ready {self.settings.start_seconds:g} s after its start "
                f"(--voice-start-timeout): no WebSocket could be opened at {child.url}: {exc}; does the "
                f"command listen on the port that {{port}} stands for? {self._last_words(child)}"
            )
            await self._give_up()
            raise BotProcessError(told)

    async def _move_or_tell(self, child: Child, code: int) -> None:
        """Start one that has ended early on another port, if others have taken its own."""
        if self._moves + 1 < MOST_PORTS and await asyncio.to_thread(answers, child.port):
            await self._move()
            return
        told = self._obituary(child, f"ended before it was ready, {ending(code)}")
        await self._give_up()
        raise BotProcessError(told)

    async def _is_impersonated(self, child: Child) -> bool:
        """Return whether others took the port before it did.

        Where that happens again on another port, and it goes on, it is no chance: the command has others
        listen for it, as that of a container does.
        """
        if self._others_listen_for_it or not await asyncio.to_thread(lambda: child.is_impersonated):
            return False
        self._others_listen_for_it = self._moves > 0 and await child.wait(DEATH_SECONDS) is None
        return not self._others_listen_for_it

    def _obituary(self, child: Child, what: str) -> str:
        return (
            f"{self._name}: {what}; expected it to stay in the foreground and to serve calls at {child.url}. "
            f"{self._last_words(child)}"
        )

    def _last_words(self, child: Child) -> str:
        return child.last_words([*self.settings.env.values(), *secret_values(os.environ)])


def _at(url: str, port: int) -> str:
    """Return ``url`` with this ``port`` of this machine."""
    return urlsplit(url)._replace(netloc=f"localhost:{port}").geturl()
