"""Calls between scripted bots, on virtual time."""

from __future__ import annotations

from typing import Any

import numpy as np

from pytest_voiceeval.bridge.call import hold_call
from pytest_voiceeval.bridge.endpoint import Peer
from pytest_voiceeval.bridge.settings import CallSettings
from pytest_voiceeval.model.conversation import Conversation
from pytest_voiceeval.model.parts import Actions, Persona, Resources, Task
from pytest_voiceeval.model.signals import SuccessSignal
from pytest_voiceeval.model.turns import AGENT, USER
from pytest_voiceeval.scenarios.base import Scenario
from pytest_voiceeval.testing import FakeBot, Utterance, VirtualClock, exit_message


class Greeting(Scenario):
    name = "bridge__greeting"
    success_signals = (SuccessSignal.CLEAN_EXIT,)
    max_duration = 60
    user_persona = Persona(role="caller")
    user_task = Task(goal="Say hello.")
    user_actions = Actions()
    user_resources = Resources()
    agent_persona = Persona(role="agent")
    agent_task = Task(goal="Greet.")
    agent_actions = Actions()
    agent_resources = Resources(tools={"EndConversationTool": {}})


def agent_bot(**options: Any) -> FakeBot:
    lines = options.pop("lines", None) or [
        Utterance("Welcome.", 1.0, 300),
        Utterance("Good bye.", 0.8, 350, late_sends=(exit_message(),)),
    ]
    return FakeBot(AGENT, lines, **options)


def user_bot(**options: Any) -> FakeBot:
    return FakeBot(USER, options.pop("lines", None) or [Utterance("Hello there.", 1.2, 500)], **options)


async def call(
    user: FakeBot, agent: FakeBot, scenario: Scenario | None = None, **settings: Any
) -> Conversation:
    bots = {"mem://user": user, "mem://agent": agent}

    async def opener(url: str, limit: float) -> Any:
        return await bots[url].open(url, limit)

    return await hold_call(
        scenario or Greeting(),
        user=Peer(USER, "mem://user", "fake user"),
        agent=Peer(AGENT, "mem://agent", "fake agent"),
        settings=CallSettings(**{"max_duration": 60.0, "opener": opener, **settings}),
    )


def hold(user: FakeBot, agent: FakeBot, scenario: Scenario | None = None, **settings: Any) -> Conversation:
    return VirtualClock().run(call(user, agent, scenario, **settings))


def end_of_speech(heard: list[tuple[float, bytes]]) -> float:
    """Return when the last audible sample came to an ear that plays each frame as it comes."""
    at, pcm = next((at, pcm) for at, pcm in reversed(heard) if any(pcm))
    loud = np.flatnonzero(np.abs(np.frombuffer(pcm, "<i2").astype(int)) > 164)
    return at + float(loud[-1] + 1) / 16_000
