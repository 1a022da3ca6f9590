"""One leg of a call: the connection to one bot."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from functools import partial

from pytest_voiceeval.bridge.endpoint import Peer
from pytest_voiceeval.errors import BotUnreachableError, WireError
from pytest_voiceeval.wire.connection import Connection, ConnectionLostError
from pytest_voiceeval.wire.frames import Frame, Message, decode, encode_message
from pytest_voiceeval.wire.limits import HANDSHAKE_SECONDS
from pytest_voiceeval.wire.requests import RequestFailedError, Requests
from pytest_voiceeval.wire.rtvi import REPLIES, Envelope

Opener = Callable[[str, float], Awaitable[Connection]]
"""Opens a connection to an URL within a number of seconds; raises OSError."""

UNSENT_FRAMES = 1000
"""Frames that may wait to be sent before a bot counts as not reading its socket any more."""


class Leg:
    """The connection to one bot: frames go to ``hear``, replies to their requests.

    Args:
        peer: which bot.
        opener: opens a connection.
        tasks: the call's task group.
        hear: takes each frame that is no reply.
        note: takes lines for the bridge's log.
    """

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
        self.requests = Requests(self.send)
        self.skipped_frames = 0
        self.lost: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        self._opener = opener
        self._tasks = tasks
        self._hear = hear
        self._note = note
        self._fault: asyncio.Future[None] | None = None
        self._watching: asyncio.Task[None] | None = None
        self._connection: Connection | None = None

    async def open(self, limit: float) -> None:
        """Connect within ``limit`` seconds and exchange the handshake.

        Raises:
            BotUnreachableError: if either fails.
        """
        expected = (
            f"expected a bot there that speaks pipecat's WebSocket transport (protobuf) and RTVI; "
            f"start it, or correct --voice-{self.peer.side} (of `run`: --{self.peer.side})"
        )
        try:
            self._connection = await self._opener(self.peer.url, limit)
        except OSError as exc:
            raise BotUnreachableError(
                f"{self.peer.shown} could not be reached within {limit:g} s: {exc}; {expected}"
            ) from None
        self.lost = asyncio.get_running_loop().create_future()
        self._fault = asyncio.get_running_loop().create_future()
        self._watching = self._tasks.create_task(self._watch(self._fault), name=f"{self.peer.side} leg")
        self._connection.listen(self._take, partial(self._end, self._connection))
        try:
            await self.requests.handshake(limit=HANDSHAKE_SECONDS)
        except RequestFailedError as exc:
            raise BotUnreachableError(
                f"{self.peer.shown} accepted the connection but never said bot-ready: {exc}; {expected}"
            ) from None

    async def reopen_if_lost(self, limit: float) -> None:
        """Connect again to a bot that closed its connection; its state lives on between the two."""
        if self.lost.done():
            self._note(f"[{self.peer.side.upper()}] {self.lost.result()}; connecting again")
            await self.close()
            await self.open(limit)

    async def send(self, envelope: Envelope) -> None:
        """Send a message."""
        self.send_frame(encode_message(envelope))

    def send_frame(self, content: bytes) -> None:
        """Send an encoded frame; what a lost connection is given is lost, too."""
        if self._connection is None:
            return
        try:
            self._connection.send(content)
        except ConnectionLostError as exc:
            self._lose(str(exc))
        if self._connection.backlog > UNSENT_FRAMES:
            self._lose(f"the bot stopped reading: {UNSENT_FRAMES} frames wait to be sent")

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

    def _take(self, content: bytes | str) -> None:
        """Take a message; an error in what is done with it is the call's."""
        try:
            self._digest(content)
        except Exception as exc:  # whatever it is: nobody else would hear of it
            if self._fault is not None and not self._fault.done():
                self._fault.set_exception(exc)

    def _digest(self, content: bytes | str) -> None:
        try:
            frame = decode(content)
        except WireError as exc:
            self.skipped_frames += 1
            self._note(f"[{self.peer.side.upper()}] frame skipped: {exc}")
            return
        if not (isinstance(frame, Message) and frame.envelope.type in REPLIES):
            self._hear(frame)
        elif not self.requests.resolve(frame.envelope):
            self._note(f"[{self.peer.side.upper()}] reply to nothing that waits: {frame.envelope}")

    def _end(self, connection: Connection, reason: str) -> None:
        """Note the end of a connection, but for one that was given up here."""
        if connection is self._connection:
            self._lose(reason)

    def _lose(self, reason: str) -> None:
        if not self.lost.done():
            self.lost.set_result(reason)
            self.requests.fail_all(f"the connection was lost ({reason})")
