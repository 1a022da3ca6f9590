"""Bots that serve one client at a time, and are not done with the one before."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import pytest
from test_run_evaluate import SETTINGS, Listening, Tea
from websockets.asyncio.server import ServerConnection, serve

from pytest_voiceeval.errors import BotUnreachableError
from pytest_voiceeval.model.stop_reason import StopReason
from pytest_voiceeval.model.turns import AGENT, USER
from pytest_voiceeval.run.evaluate import hold
from pytest_voiceeval.run.lending import SeveralBots
from pytest_voiceeval.scenarios.base import Scenario
from pytest_voiceeval.testing import FakeBot, ServerSide, Utterance, exit_message


class Busy(Listening):
    """Refuses the first clients, as pipecat's single-client server refuses a second one."""

    refusals = 2

    @asynccontextmanager
    async def open(self, scenario: Scenario) -> AsyncIterator[str]:
        async def session(socket: ServerConnection) -> None:
            if self.refusals:
                self.refusals -= 1
                await socket.close(1013, "Server already has a connected client")
            else:
                await self._bot.play(ServerSide(socket))

        async with serve(session, "127.0.0.1", 0, compression=None) as server:
            yield f"ws://127.0.0.1:{next(iter(server.sockets)).getsockname()[1]}"


def agent_lines() -> list[Utterance]:
    return [Utterance("Hello.", 0.2, 300), Utterance("Bye.", 0.2, 350, late_sends=(exit_message(),))]


def caller() -> Listening:
    return Listening(USER, FakeBot(USER, [Utterance("Tea please.", 0.2, 500)], answer_after=0.1))


def test_a_bot_that_is_busy_yet_is_tried_again(tmp_path: Path) -> None:
    """As the first of several, for a call that is held alone."""
    agent = Busy(AGENT, FakeBot(AGENT, agent_lines(), answer_after=0.1))
    conversation = hold(Tea(), user=caller(), agent=SeveralBots([agent]), settings=SETTINGS, folder=tmp_path)
    assert conversation.stop_reason is StopReason.EXIT
    assert agent.refusals == 0


def test_a_bot_that_stays_busy_is_told(tmp_path: Path) -> None:
    agent = Busy(AGENT, FakeBot(AGENT))
    agent.refusals = 99
    with pytest.raises(
        BotUnreachableError, match=r"takes no call, and did not within 0\.6 s: .*1013 .*is another client"
    ):
        hold(
            Tea(),
            user=caller(),
            agent=agent,
            settings=replace(SETTINGS, connect_timeout=0.6),
            folder=tmp_path,
        )
