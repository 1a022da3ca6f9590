"""One leg of a call: the connection to one bot, whatever is said over it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from functools import partial
from typing import Any

from pytest_voiceeval.bridge.endpoint import Peer
from pytest_voiceeval.bridge.party import Opener
from pytest_voiceeval.errors import BotUnreachableError, WireError
from pytest_voiceeval.model.safe_text import shortened
from pytest_voiceeval.wire.connection import Connection, ConnectionLostError, Ending
from pytest_voiceeval.wire.frames import Frame

UNSENT_FRAMES = 1000
"""Frames that may wait to be sent before a bot counts as not reading its socket any more."""

NOTED_FRAMES = 20
"""Malformed frames of a bot that the bridge's log tells of one by one."""

SHOWN_CHARACTERS = 300
"""How much of what is wrong with one is told."""


class Leg:
    """The connection to one bot, and what is alike in all protocols; each has a subclass.

    Args:
        peer: which bot.
        opener: opens a connection.
        tasks: the call's task group.
        hear: takes each frame that means something to the call.
        note: takes lines for the bridge's log.

    Attributes:
        expected: what a bot is to speak, for a person who connected to something else.
        frames: the kinds of frames that may come from it.
    """

    expected: str
    frames: frozenset[type[Frame]]

    def __init__(
        self,
        peer: Peer,
        opener: Opener,
        tasks: asyncio.TaskGroup,
        *,
        hear: Callable[[Frame], None],
        note: Callable[[str], None],
    ) -> None:
        self.peer = peer
        self.is_black_box = not peer.dialect.may_be_prepared
        self.skipped_frames = 0
        self.first_skipped = ""
        self.recognised_by = ""
        self.lost: asyncio.Future[Ending] = asyncio.get_running_loop().create_future()
        self._opener = peer.opener or opener
        self._tasks = tasks
        self._hear = hear
        self._note = note
        self._fault: asyncio.Future[None] | None = None
        self._watching: asyncio.Task[None] | None = None
        self._connection: Connection | None = None

    async def connect(self, limit: float) -> Connection:
        """Return a new connection, opened within ``limit`` seconds; nothing is heard of it yet.

        Raises:
            BotUnreachableError: if it cannot be opened.
        """
        try:
            self._connection = connection = await self._opener(self.peer.url, limit)
        except OSError as exc:
            raise BotUnreachableError(
                f"{self.peer.shown} could not be reached within {limit:g} s: {exc}; {self.remedy}"
            ) from None
        self.lost = asyncio.get_running_loop().create_future()
        self._fault = asyncio.get_running_loop().create_future()
        self._watching = self._tasks.create_task(self._watch(self._fault), name=f"{self.peer.side} leg")
        return connection

    def listen(self, connection: Connection) -> None:
        """Hear what comes over ``connection``, what has come already first."""
        connection.listen(self._take, partial(self._end, connection))

    @property
    def remedy(self) -> str:
        """What to do about a bot that cannot be reached."""
        side = self.peer.side
        return (
            f"expected a bot there that speaks {self.expected}; start it, or correct --voice-{side} "
            f"(of `run`: --{side})"
        )

    async def reopen_if_lost(self, limit: float) -> None:
        """Connect again to a bot that closed its connection; its state lives on between the two."""
        if self.lost.done():
            self.note(f"{self.lost.result()}; connecting again")
            await self.close()
            await self.open(limit)

    async def open(self, limit: float) -> None:
        """Connect within ``limit`` seconds, until the bot is ready; raises BotUnreachableError."""
        raise NotImplementedError

    def take_as_black_box(self, why: str) -> None:
        """Take that the bot is a black box, as ``why`` tells."""
        self.is_black_box = True
        self.recognised_by = why
        self.note(f"is a black box: {why}; its prompt, tools and world are taken to be its own")

    def send_frame(self, content: bytes | str) -> None:
        """Send an encoded frame; what a lost connection is given is lost, too."""
        if self._connection is None:
            return
        try:
            self._connection.send(content)
        except ConnectionLostError as exc:
            self._lose(exc.ending)
        if self._connection.backlog > UNSENT_FRAMES:
            self._lose(Ending(f"the bot stopped reading: {UNSENT_FRAMES} frames wait to be sent"))

    async def close(self) -> None:
        """Close the connection; may be called twice."""
        connection, self._connection = self._connection, None
        if connection is not None:
            await connection.close()
        if self._watching is not None:
            self._watching.cancel()
            await asyncio.wait([self._watching])
            self._watching = None

    async def _watch(self, fault: asyncio.Future[None]) -> None:
        """Wait for what goes wrong where no task is, so that it ends the call."""
        await fault

    def guarded(self, act: Callable[[Any], object], given: Any) -> None:
        """Do ``act`` where no task is; an error in it is the call's."""
        try:
            act(given)
        except Exception as exc:  # whatever it is: nobody else would hear of it
            self._fail(exc)

    def _take(self, content: bytes | str) -> None:
        """Take a message."""
        try:
            self.digest(content)
        except WireError as exc:
            self._skip(exc)
        except Exception as exc:  # whatever it is: nobody else would hear of it
            self._fail(exc)

    def _skip(self, exc: WireError) -> None:
        why = shortened(str(exc), SHOWN_CHARACTERS)  # it may quote the bot
        self.skipped_frames += 1
        self.first_skipped = self.first_skipped or why
        if self.skipped_frames <= NOTED_FRAMES:
            self.note(f"frame skipped: {why}")
        if self.skipped_frames == NOTED_FRAMES:
            self.note("frame skipped: further ones are counted, and not told here")

    def _fail(self, exc: Exception) -> None:
        if self._fault is not None and not self._fault.done():
            self._fault.set_exception(exc)

    def note(self, line: str) -> None:
        """Put a line about this side into the bridge's log."""
        self._note(f"[{self.peer.side.upper()}] {line}")

    def digest(self, content: bytes | str) -> None:
        """Do what a message asks for.

        Raises:
            WireError: if it makes no sense; it is skipped.
        """
        raise NotImplementedError

    def _end(self, connection: Connection, ending: Ending) -> None:
        """Note the end of a connection, but for one that was given up here."""
        if connection is self._connection:
            self._lose(ending)

    def _lose(self, ending: Ending) -> None:
        if not self.lost.done():
            self.lost.set_result(ending)
