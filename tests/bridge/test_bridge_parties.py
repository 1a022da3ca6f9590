"""What comes from a bot by the protocol that it speaks."""

from __future__ import annotations

import asyncio
from typing import Any

import numpy as np
import pytest

from pytest_voiceeval.audio.jitter import PlayedFrame
from pytest_voiceeval.bridge.endpoint import Peer
from pytest_voiceeval.bridge.parties import PARTIES, party_of
from pytest_voiceeval.model.turns import AGENT
from pytest_voiceeval.testing import (
    BotConnection,
    FakeBot,
    FakePcmAgent,
    FakeTwilioAgent,
    Utterance,
    VirtualClock,
)
from pytest_voiceeval.wire.dialect import Dialect
from pytest_voiceeval.wire.frames import Frame, encode_interruption

LINES = [Utterance("Welcome.", 0.2)]


class RtviAgent(FakeBot):
    async def _say(self, connection: Any, line: Utterance) -> None:
        await super()._say(connection, line)
        await connection.send(encode_interruption())


class TwilioAgent(FakeTwilioAgent):
    async def after_line(self, connection: BotConnection, line: Utterance) -> None:
        await super().after_line(connection, line)
        await self.tell(connection, "clear")


@pytest.mark.parametrize(
    ("agent", "dialect"),
    [
        (RtviAgent(AGENT, LINES), Dialect()),
        (FakePcmAgent(LINES), Dialect("pcm", "auto")),
        (TwilioAgent(LINES), Dialect("twilio", "auto")),
    ],
    ids=lambda value: value.protocol if isinstance(value, Dialect) else "",
)
def test_an_agent_is_heard_in_the_frames_that_its_protocol_has(
    agent: RtviAgent | FakePcmAgent | TwilioAgent, dialect: Dialect
) -> None:
    heard: list[Frame] = []
    silence = PlayedFrame(np.zeros(320, np.int16))

    async def call() -> None:
        async with asyncio.TaskGroup() as tasks:
            peer = Peer(AGENT, "mem://agent", "fake agent", dialect=dialect)
            party = party_of(
                peer, agent.open, tasks, rate_hz=16_000, hear=heard.append, note=lambda _line: None
            )
            await party.open(1.0)
            party.begin()
            await party.send_text("Hello")
            for _ in range(50):
                party.play(silence)
                await asyncio.sleep(0.02)
            await party.close()

    VirtualClock().run(call())
    assert {type(frame) for frame in heard} == PARTIES[dialect.protocol].frames
