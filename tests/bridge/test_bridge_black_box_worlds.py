"""Two worlds of which one is a black box's own: the user's is kept, as far as the bridge can know."""

from __future__ import annotations

from typing import Any

from test_bridge_sync import Lamps, applied, domain, user_bot  # noqa: F401 - the fixture registers the tools

from pytest_voiceeval.bridge.call import hold_call
from pytest_voiceeval.bridge.endpoint import Peer
from pytest_voiceeval.bridge.settings import CallSettings
from pytest_voiceeval.model.conversation import Conversation
from pytest_voiceeval.model.stop_reason import StopReason
from pytest_voiceeval.model.turns import AGENT, USER
from pytest_voiceeval.testing import FakeBot, FakePcmAgent, Utterance, VirtualClock
from pytest_voiceeval.wire.dialect import Dialect

LINES = [Utterance("Welcome.", 1.0), Utterance("Open the shutter.", 1.0), Utterance("Good bye.", 0.8)]


def held(user: FakeBot) -> Conversation:
    agent = FakePcmAgent(LINES, hangs_up=True)

    async def opener(url: str, limit: float) -> Any:
        return await (user if url == "mem://user" else agent).open(url, limit)

    async def call() -> Conversation:
        return await hold_call(
            Lamps(),
            user=Peer(USER, "mem://user", "fake user"),
            agent=Peer(AGENT, "mem://agent", "fake agent", dialect=Dialect("pcm", "auto")),
            settings=CallSettings(max_duration=60, opener=opener, clock="charged"),
        )

    return VirtualClock().run(call())


def test_the_users_world_is_brought_in_step_before_the_call() -> None:
    user = user_bot()
    conversation = held(user)
    assert user.deltas == [{"room": "dark"}]
    assert conversation.stop_reason is StopReason.AGENT_HANGUP
    assert conversation.drift == ()


def test_what_the_user_does_reaches_its_own_world_and_parts_nothing() -> None:
    user = user_bot(applied("open_shutter"))
    conversation = held(user)
    assert user.deltas == [{"room": "dark"}, {"room": "bright"}]
    assert conversation.drift == ()
    assert conversation.user.db_hash is not None
