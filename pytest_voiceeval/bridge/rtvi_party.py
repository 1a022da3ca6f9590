"""A side of a call that speaks pipecat's WebSocket transport (protobuf) and RTVI."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from websockets.frames import CloseCode

from pytest_voiceeval.bridge.endpoint import Peer
from pytest_voiceeval.bridge.leg import Leg
from pytest_voiceeval.bridge.outgoing import Outgoing
from pytest_voiceeval.bridge.party import Opener
from pytest_voiceeval.errors import BotRefusedError, BotUnreachableError
from pytest_voiceeval.wire.connection import Ending
from pytest_voiceeval.wire.frames import Audio, Frame, Interruption, Message, decode, encode_message
from pytest_voiceeval.wire.limits import HANDSHAKE_SECONDS
from pytest_voiceeval.wire.requests import RequestFailedError, Requests
from pytest_voiceeval.wire.rtvi import BOT_STOPPED_SPEAKING, REPLIES, SERVER_RESPONSE, Envelope, Request

BUSY_CODES = (CloseCode.GOING_AWAY, CloseCode.SERVICE_RESTART, CloseCode.TRY_AGAIN_LATER)
"""Close codes that promise better times."""

BUSY_SECONDS = 0.25
"""How long a bot that is busy is left alone before it is tried again."""


class RtviParty(Leg):
    """A bot that is told and asked all that there is: frames go to ``hear``, replies to their requests.

    One that may be a black box may greet as soon as it is ready: what it says before the call begins is kept
    until then.

    Args:
        peer: which bot.
        opener: opens a connection.
        tasks: the call's task group.
        rate_hz: rate of the sound that it gets.
        hear: takes each frame that is no reply.
        note: takes lines for the bridge's log.
    """

    expected = "pipecat's WebSocket transport (protobuf) and RTVI"
    frames = frozenset({Audio, Interruption, Message})

    def __init__(
        self,
        peer: Peer,
        opener: Opener,
        tasks: asyncio.TaskGroup,
        *,
        rate_hz: int,
        hear: Callable[[Frame], None],
        note: Callable[[str], None],
    ) -> None:
        super().__init__(peer, opener, tasks, hear=hear, note=note)
        self._held: list[Frame] = []
        self._hear_now = hear
        if peer.dialect.mode != "evaluated":
            self._hear = self._held.append
        self._requests = Requests(self._send)
        self._ready_seconds = peer.ready_seconds
        self.play = Outgoing(rate_hz, self.send_frame, in_pieces=peer.takes_pieces).play

    async def open(self, limit: float) -> None:
        """Connect within ``limit`` seconds and exchange the handshake.

        A bot that is busy yet, with the client before or with its own end, is tried again meanwhile.

        Raises:
            BotUnreachableError: if either fails.
        """
        loop = asyncio.get_running_loop()
        deadline = loop.time() + limit
        left = limit
        while True:
            self.listen(await self.connect(left))
            try:
                await self._requests.handshake(limit=self._ready_seconds)
                self._ready_seconds = min(self._ready_seconds, HANDSHAKE_SECONDS)
                return
            except RequestFailedError as exc:
                is_busy = self.lost.done() and self.lost.result().code in BUSY_CODES
                if not is_busy or loop.time() + BUSY_SECONDS > deadline:
                    raise BotUnreachableError(self._not_ready(exc, limit, is_busy=is_busy)) from None
            await self.close()
            await asyncio.sleep(BUSY_SECONDS)
            left = round(max(deadline - loop.time(), BUSY_SECONDS), 2)  # a message may show it

    def _not_ready(self, exc: RequestFailedError, limit: float, *, is_busy: bool) -> str:
        if is_busy:
            return (
                f"{self.peer.shown} takes no call, and did not within {limit:g} s: {exc}; is another client "
                "connected to it? One that serves one at a time needs an URL of its own for each call at once"
            )
        return f"{self.peer.shown} accepted the connection but never said bot-ready: {exc}; {self.remedy}"

    def begin(self) -> None:
        """Hear what comes from now on, and what a black box has said already."""
        held, self._held, self._hear = self._held, [], self._hear_now
        if self.is_black_box:
            self._hear_late(held)

    def _hear_late(self, held: Iterable[Frame]) -> None:
        """Hear now what was said before; that a speech ended, when it will have been heard."""
        seconds = 0.0
        for frame in held:
            if isinstance(frame, Audio):
                seconds += len(frame.pcm) / 2 / frame.channels / frame.rate_hz
            if isinstance(frame, Message) and frame.envelope.type == BOT_STOPPED_SPEAKING and seconds:
                asyncio.get_running_loop().call_later(seconds, self.guarded, self._hear, frame)
            else:
                self._hear(frame)

    async def send_text(self, content: str) -> None:
        """Put ``content`` to the bot as a turn of the other side."""
        await self._requests.send_text(content)

    async def ask(self, request: Request, arguments: Mapping[str, Any], *, limit: float) -> Any:
        """Return the bot's answer to one of the six requests.

        Raises:
            RequestFailedError: if it answers with an error, or not within ``limit`` seconds.
        """
        return await self._requests.call(request, arguments, limit=limit)

    def digest(self, content: bytes | str) -> None:
        """Hand a frame to whom it concerns; raises WireError."""
        frame = decode(content)
        if not (isinstance(frame, Message) and frame.envelope.type in REPLIES):
            self._hear(frame)
        elif not self._requests.resolve(frame.envelope):
            self.note(f"reply to nothing that waits: {frame.envelope}")
            self._check_is_black_box(frame.envelope)

    def _check_is_black_box(self, reply: Envelope) -> None:
        """Raise BotRefusedError if an agent knows our requests after all, and was only slow."""
        if reply.type == SERVER_RESPONSE and self.is_black_box:
            raise BotRefusedError(
                f"{self.peer.shown} was taken for a black box, as it did not answer reset in time, and "
                f"answered later; expected an answer at once; run with --voice-agent-mode=evaluated to have "
                "it waited for longer, or with black-box to have it asked for nothing"
            )

    async def _send(self, envelope: Envelope) -> None:
        self.send_frame(encode_message(envelope))

    def _lose(self, ending: Ending) -> None:
        if not self.lost.done():
            super()._lose(ending)
            self._requests.fail_all(f"the connection was lost ({ending})")
