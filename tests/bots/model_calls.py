"""Calls of an embedded agent whose model is a double, on virtual time: nobody calls, it greets and ends."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from model_double import Act, ModelDouble

from pytest_voiceeval.bots.endpoint_access import Limits
from pytest_voiceeval.bots.launch import LocalBot
from pytest_voiceeval.bots.model_access import ModelAccess
from pytest_voiceeval.bots.pipeline import running_bot
from pytest_voiceeval.bots.profile import load_profile
from pytest_voiceeval.bots.profile_local import RehearsalLlm
from pytest_voiceeval.bridge.call import hold_call
from pytest_voiceeval.bridge.clock import Clock
from pytest_voiceeval.bridge.endpoint import Peer
from pytest_voiceeval.bridge.settings import CallSettings
from pytest_voiceeval.model.conversation import Conversation
from pytest_voiceeval.model.parts import Actions, Persona, Resources, Task
from pytest_voiceeval.model.signals import SuccessSignal
from pytest_voiceeval.model.turns import AGENT, USER
from pytest_voiceeval.scenarios.base import Scenario
from pytest_voiceeval.scenarios.rehearsal import Rehearsal, Say, Use
from pytest_voiceeval.testing import FakeBot, VirtualClock

KEY = "canary-5f1b-never-shown"


class Desk(Scenario):
    name = "bots__desk"
    domain = "bots_test"
    success_signals = (SuccessSignal.CLEAN_EXIT,)
    user_persona = agent_persona = Persona(role="person")
    user_task = agent_task = Task(goal="talk")
    user_actions = agent_actions = Actions()
    user_resources = agent_resources = Resources(tools={"EndConversationTool": {}, "SendRTVIMessageTool": {}})


class Greets(Desk):
    name = "bots__greets"
    rehearsal = Rehearsal(
        user=(), agent=(Say("Good morning. How can I help you?"), Use("EndConversationTool"))
    )


def access(base_url: str, **fields: Any) -> ModelAccess:
    """Return the access to a double; names of limits set these."""
    limits = replace(Limits(), **{name: fields.pop(name) for name in list(fields) if hasattr(Limits, name)})
    return ModelAccess(base_url, "m", **{"api_key": KEY, "key_env": "THE_KEY", "limits": limits, **fields})


def call(*acts: Act, clock: Clock | None = None, **fields: Any) -> tuple[Conversation, ModelDouble]:
    """Hold a call whose agent has a model that does ``acts``; return it, and the double."""
    double = ModelDouble(*acts)
    settings = {name: fields.pop(name) for name in ("on_interrupt", "inactivity_timeout") if name in fields}

    async def hold() -> Conversation:
        async with (
            double,
            running_bot(load_profile("local"), AGENT, access(double.base_url, **fields)) as bot,
            FakeBot(USER).serve() as user,
        ):
            return await hold_call(
                Desk(),
                user=Peer(USER, user, "user bot"),
                agent=Peer(AGENT, bot.url, "agent bot"),
                settings=CallSettings(max_duration=120.0, **settings),
            )

    return (clock or VirtualClock()).run(hold()), double


def call_with_agent(*acts: Act, agents_llm: RehearsalLlm | None = None) -> tuple[Conversation, ModelDouble]:
    """Hold a call of a rehearsed agent, which greets and ends, with a caller whose model does ``acts``."""
    double = ModelDouble(*acts)
    local = load_profile("local")
    rehearsed = local.model_copy(update={"llm": agents_llm or local.llm})

    async def hold() -> Conversation:
        async with (
            double,
            running_bot(local, USER, access(double.base_url)) as user,
            LocalBot(AGENT, rehearsed).open(Greets()) as agent,
        ):
            return await hold_call(
                Greets(),
                user=Peer(USER, user.url, "user bot"),
                agent=Peer(AGENT, agent, "agent bot"),
                settings=CallSettings(max_duration=200.0),
            )

    return VirtualClock().run(hold()), double
