"""Faults that need a real socket: how connections end, or do not; on virtual time, over loopback."""

from __future__ import annotations

import asyncio
import socket
from contextlib import AsyncExitStack
from typing import Any

import pytest
from faulty_bots import HangingUp
from leftovers import leaving_no_task
from scripted_calls import Greeting, agent_bot, user_bot
from websockets.asyncio.server import ServerConnection

from pytest_voiceeval.bridge.call import hold_call
from pytest_voiceeval.bridge.endpoint import Peer
from pytest_voiceeval.bridge.settings import CallSettings
from pytest_voiceeval.errors import BotLostError
from pytest_voiceeval.model.conversation import Conversation
from pytest_voiceeval.model.stop_reason import StopReason
from pytest_voiceeval.model.turns import AGENT, USER
from pytest_voiceeval.testing import FakeBot, Utterance, VirtualClock

STORY = Utterance("A long story.", 9.0, 300)
CANCELLED = {"get_scenario_summary": {"actions": [{"name": "cancel", "arguments": {}}], "db_hash": None}}


class Dropping(HangingUp):
    """Drops the connection without a word a second after it has begun to speak."""

    async def _say(self, connection: Any, line: Utterance) -> None:
        speaking = asyncio.create_task(FakeBot._say(self, connection, line))
        await asyncio.sleep(1.0)
        speaking.cancel()
        connection._socket.transport.abort()


class Bulky(FakeBot):
    """Sends a message of 20 MiB."""

    async def _say(self, connection: Any, line: Utterance) -> None:
        await connection.send(b"x" * (20 * 1024 * 1024))
        await super()._say(connection, line)


class Unclosing(ServerConnection):
    """A server that never answers a closing."""

    def send_data(self) -> None:
        if self.protocol.close_rcvd is None:
            super().send_data()
        else:
            self.protocol.data_to_send()


class Unreading(ServerConnection):
    """A server that takes what comes until it is told to stop, and has little room for more."""

    def connection_made(self, transport: Any) -> None:
        transport.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        super().connection_made(transport)


class Stopping(FakeBot):
    """Reads no more once it has spoken; does not end with its connection, as it does not hear of that."""

    async def _say(self, connection: Any, line: Utterance) -> None:
        await super()._say(connection, line)
        connection._socket.transport.pause_reading()


def hold(
    agent: FakeBot,
    user: FakeBot | None = None,
    *,
    server: type[ServerConnection] | None = None,
    **settings: Any,
) -> tuple[Conversation, float]:
    """Return a call over sockets, and the seconds of its clock that it took with all that it has to close."""

    async def call() -> tuple[Conversation, float]:
        loop = asyncio.get_running_loop()
        options = {"create_connection": server, "ping_interval": None} if server else {}
        async with AsyncExitStack() as stack:
            user_url = await stack.enter_async_context((user or user_bot()).serve())
            agent_url = await stack.enter_async_context(agent.serve(**options))
            begun = loop.time()
            conversation = await hold_call(
                Greeting(),
                user=Peer(USER, user_url, "fake user"),
                agent=Peer(AGENT, agent_url, "fake agent"),
                settings=CallSettings(**{"max_duration": 60.0, **settings}),
            )
            return conversation, loop.time() - begun

    return VirtualClock().run(leaving_no_task(call()))


@pytest.mark.parametrize(
    ("kind", "told"),
    [
        (HangingUp, "the agent went away: closed with code 1000"),
        (Dropping, "the agent went away: dropped without a close message"),
        (Bulky, "the agent went away: it sent a message of more than 16777216 bytes"),
    ],
)
def test_an_agent_that_goes_away_is_told_how_and_its_evidence_is_kept(kind: type[FakeBot], told: str) -> None:
    agent = kind(AGENT, [STORY], answers=CANCELLED)
    conversation, seconds = hold(agent)
    assert conversation.stop_reason is StopReason.AGENT_HANGUP
    assert conversation.ending.cause == told
    assert agent.connections == 2
    assert [action.name for action in conversation.actions] == ["cancel"]
    assert not conversation.agent.pull_error
    if kind is not Bulky:
        assert "in turn 1, the agent's" in conversation.ending.where
        assert conversation.recording.seconds == pytest.approx(1.0, abs=0.3)
    assert seconds < 10


def test_a_user_that_drops_its_connection_is_an_error() -> None:
    with pytest.raises(BotLostError) as caught:
        hold(agent_bot(), Dropping(USER, [STORY]))
    assert "went away: dropped without a close message" in str(caught.value)
    assert "whose fault: the simulated user's" in str(caught.value)
    assert "in turn 2, the user's" in str(caught.value)


def test_a_bot_that_never_answers_our_close_costs_a_second() -> None:
    conversation, seconds = hold(agent_bot(), server=Unclosing)
    assert conversation.stop_reason is StopReason.EXIT
    assert conversation.recording.seconds < seconds < conversation.recording.seconds + 3


def test_a_bot_that_stops_reading_is_told_as_soon_as_it_cannot_be_sent_any_more() -> None:
    agent = Stopping(AGENT, [Utterance("Welcome.", 0.5)])
    conversation, seconds = hold(agent, server=Unreading, max_duration=900.0, inactivity_timeout=None)
    assert conversation.stop_reason is StopReason.AGENT_HANGUP
    assert conversation.ending.cause == (
        "the agent went away: the bot stopped reading: 1000 frames wait to be sent"
    )
    assert "Hello there." in conversation.ending.where
    assert seconds < 900
