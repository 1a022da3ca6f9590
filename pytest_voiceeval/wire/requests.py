"""Requests to a bot, and their replies, paired by id."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from pytest_voiceeval.wire import rtvi
from pytest_voiceeval.wire.rtvi import Envelope


class RequestFailedError(Exception):
    """A bot answered a request with an error, or not in time; the text says which."""


class Requests:
    """Sends requests over one connection and hands each reply to the request with its id.

    Args:
        send: puts a message on the wire.
    """

    def __init__(self, send: Callable[[Envelope], Awaitable[None]]) -> None:
        self._send = send
        self._numbers = itertools.count(1)
        self._open: dict[str, _Pending] = {}

    async def handshake(self, *, limit: float) -> Envelope:
        """Say ``client-ready`` and return the bot's ``bot-ready``.

        A bot may send an ``error-response`` about our version first and be ready all the same.

        Raises:
            RequestFailedError: if it does not answer within ``limit`` seconds.
        """
        message = rtvi.client_ready(self._new_id("client_ready"))
        return await self._answer(message, "client-ready", limit, wanted=rtvi.BOT_READY)

    async def call(self, request: rtvi.Request, arguments: Mapping[str, Any], *, limit: float) -> Any:
        """Send one of the six requests and return what its handler gave back; ``None`` for nothing.

        Raises:
            RequestFailedError: if the bot answers with an error, or not within ``limit`` seconds.
        """
        message = rtvi.client_message(self._new_id(request), request, arguments)
        reply = await self._answer(message, request, limit, wanted=rtvi.SERVER_RESPONSE)
        return reply.fields.get("d")

    async def send_text(self, content: str) -> None:
        """Put ``content`` to the bot as a user's turn; there is no reply to it."""
        await self._send(rtvi.send_text(self._new_id("send_text"), content))

    def resolve(self, reply: Envelope) -> bool:
        """Hand a reply to its request; ``False`` if nobody waits for it."""
        pending = self._open.get(reply.id or "")
        if pending is None or pending.reply.done():
            for waiting in self._open.values():
                waiting.strays.append(str(reply.id))
            return False
        if reply.type == rtvi.ERROR_RESPONSE and pending.wanted == rtvi.BOT_READY:
            pending.objection = str(reply.fields.get("error", ""))
            return True
        pending.reply.set_result(reply)
        return True

    def fail_all(self, reason: str) -> None:
        """Fail every request that still waits: the connection is gone."""
        for pending in self._open.values():
            if not pending.reply.done():
                pending.reply.set_exception(RequestFailedError(reason))

    def _new_id(self, prefix: str) -> str:
        return f"{prefix}_{next(self._numbers)}"

    async def _answer(self, message: Envelope, name: str, limit: float, *, wanted: str) -> Envelope:
        pending = _Pending(wanted, asyncio.get_running_loop().create_future())
        key = message.id or ""
        self._open[key] = pending
        try:
            async with asyncio.timeout(limit):
                await self._send(message)
                reply = await pending.reply
        except TimeoutError:
            raise RequestFailedError(f"no answer to {name} within {limit:g} s{pending.remarks()}") from None
        finally:
            del self._open[key]
            if pending.reply.done() and not pending.reply.cancelled():
                pending.reply.exception()  # marks it as seen where the sending failed first
        if reply.type != wanted:
            raise RequestFailedError(f"answered {name} with: {reply.fields.get('error', reply.type)}")
        return reply


@dataclass
class _Pending:
    wanted: str
    reply: asyncio.Future[Envelope]
    objection: str = ""
    strays: list[str] = field(default_factory=list)

    def remarks(self) -> str:
        """Return what came in place of a reply."""
        objection = f"; it objected: {self.objection}" if self.objection else ""
        if not self.strays:
            return objection
        ids = ", ".join(map(repr, self.strays[:3]))
        return f"{objection}; replies came under other ids than the request's: {ids}"
