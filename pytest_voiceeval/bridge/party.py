"""What the bridge asks of one side of a call, whatever protocol its bot speaks."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Protocol

from pytest_voiceeval.audio.jitter import PlayedFrame
from pytest_voiceeval.audio.pcm import Int16s
from pytest_voiceeval.bridge.endpoint import Peer
from pytest_voiceeval.wire.connection import Connection
from pytest_voiceeval.wire.rtvi import Request
from pytest_voiceeval.wire.websocket import Ending

Opener = Callable[[str, float], Awaitable[Connection]]
"""Opens a connection to an URL within a number of seconds; raises OSError."""


class Party(Protocol):
    """One side of a call: the connection to its bot. What comes from it goes to the call's listener."""

    peer: Peer
    is_black_box: bool
    """Whether its prompt, tools and world are its own: it is neither prepared nor pulled, nor told texts."""
    lost: asyncio.Future[Ending]
    """Done when the connection is gone, with how it ended."""
    skipped_frames: int
    """How many malformed frames came."""
    first_skipped: str
    """What was wrong with the first of them; empty if none came."""
    recognised_by: str
    """What it was found out by to be a black box; empty if nothing had to be found out."""

    async def open(self, limit: float) -> None:
        """Connect within ``limit`` seconds, until the bot is ready.

        Raises:
            BotUnreachableError: if it cannot be reached, or never gets ready.
        """

    async def reopen_if_lost(self, limit: float) -> None:
        """Connect again to a bot that closed its connection; raises as ``open``."""

    def take_as_black_box(self, why: str) -> None:
        """Take that the bot is a black box, as ``why`` tells."""

    def begin(self) -> None:
        """Take that the call begins now: before it, nothing of the bot is heard."""

    def play(self, frame: PlayedFrame, noisy: Int16s | None = None) -> None:
        """Send 20 ms of the other side's sound, in place of whose samples the bot may get ``noisy`` ones."""

    async def send_text(self, content: str) -> None:
        """Put ``content`` to the bot as a turn of the other side, unless it is a black box."""

    async def ask(self, request: Request, arguments: Mapping[str, Any], *, limit: float) -> Any:
        """Return the bot's answer to one of the six requests.

        Raises:
            RequestFailedError: if it answers with an error, not within ``limit`` seconds, or never can.
        """

    async def close(self) -> None:
        """Hang up; may be called twice."""
