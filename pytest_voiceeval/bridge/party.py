"""What the bridge asks of one side of a call, whatever protocol its bot speaks."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Protocol

from pytest_voiceeval.audio.jitter import PlayedFrame
from pytest_voiceeval.audio.pcm import Int16s
from pytest_voiceeval.bridge.endpoint import Peer
from pytest_voiceeval.wire.connection import Connection
from pytest_voiceeval.wire.rtvi import Request
from pytest_voiceeval.wire.websocket import Ending

Opener = Callable[[str, float], Awaitable[Connection]]
"""Opens a connection to an URL within a number of seconds; raises OSError."""


@dataclass(frozen=True)
class Capabilities:
    """What can be had of one side of a call beyond its sound, and what can be done to it.

    Attributes:
        can_be_prepared: it takes prompt, tools and world of a scenario.
        can_be_pulled: it tells after the call what it has recorded.
        takes_text: a text can be put to it as a turn of the other side, such as the one that has it greet.
        announces_speech: it says when it begins and ends to speak; else that follows from its sound.
        sends_text: it tells the words that it speaks.
        tells_end: it can say that the call is over, without hanging up.
        tells_tool_calls: it reports the calls of its tools as they happen.
        tells_metrics: it reports tokens and the time that its parts take.
        tells_interruptions: it says when what it sent and was not heard yet is void.
        marks_playback: it is told when its sound up to a mark was heard.
    """

    can_be_prepared: bool = False
    can_be_pulled: bool = False
    takes_text: bool = False
    announces_speech: bool = False
    sends_text: bool = False
    tells_end: bool = False
    tells_tool_calls: bool = False
    tells_metrics: bool = False
    tells_interruptions: bool = False
    marks_playback: bool = False


def as_black_box(capabilities: Capabilities) -> Capabilities:
    """Return what is left of ``capabilities`` where a bot's prompt, tools and world are its own."""
    return replace(capabilities, can_be_prepared=False, can_be_pulled=False, takes_text=False)


class Party(Protocol):
    """One side of a call: the connection to its bot. What comes from it goes to the call's listener."""

    peer: Peer
    capabilities: Capabilities
    lost: asyncio.Future[Ending]
    """Done when the connection is gone, with how it ended."""
    skipped_frames: int
    """How many malformed frames came."""
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
        """Take that the bot's inside is its own: it is neither prepared nor pulled, nor told texts."""

    def begin(self) -> None:
        """Take that the call begins now: before it, nothing of the bot is heard."""

    def play(self, frame: PlayedFrame, noisy: Int16s | None = None) -> None:
        """Send 20 ms of the other side's sound, in place of whose samples the bot may get ``noisy`` ones."""

    async def send_text(self, content: str) -> None:
        """Put ``content`` to the bot as a turn of the other side, if it takes text."""

    async def ask(self, request: Request, arguments: Mapping[str, Any], *, limit: float) -> Any:
        """Return the bot's answer to one of the six requests.

        Raises:
            RequestFailedError: if it answers with an error, not within ``limit`` seconds, or never can.
        """

    async def close(self) -> None:
        """Hang up; may be called twice."""
