"""The bridge over real loopback sockets."""

from __future__ import annotations

import socket

import pytest
from scripted_calls import Greeting, agent_bot, user_bot

from pytest_voiceeval.bridge.call import hold_call
from pytest_voiceeval.bridge.clock import RealClock
from pytest_voiceeval.bridge.endpoint import Peer
from pytest_voiceeval.bridge.settings import CallSettings
from pytest_voiceeval.errors import BotUnreachableError
from pytest_voiceeval.model.conversation import Conversation
from pytest_voiceeval.model.stop_reason import StopReason
from pytest_voiceeval.model.turns import AGENT, USER
from pytest_voiceeval.testing import FakeBot, Utterance, VirtualClock, exit_message


async def call(user: FakeBot, agent: FakeBot) -> Conversation:
    async with user.serve() as user_url, agent.serve() as agent_url:
        return await hold_call(
            Greeting(),
            user=Peer(USER, user_url, "fake user"),
            agent=Peer(AGENT, agent_url, "fake agent"),
            settings=CallSettings(max_duration=30),
        )


def test_a_call_over_sockets_on_virtual_time_is_like_one_in_memory() -> None:
    conversation = VirtualClock().run(call(user_bot(), agent_bot()))
    assert conversation.stop_reason is StopReason.EXIT
    assert [turn.text for turn in conversation.turns] == ["Welcome.", "Hello there.", "Good bye."]
    assert [turn.end - turn.start for turn in conversation.turns] == pytest.approx([1.0, 1.2, 0.8], abs=0.005)


def test_a_short_call_over_sockets_in_real_time() -> None:
    agent = agent_bot(lines=[Utterance("Hi.", 0.3, late_sends=(exit_message(),))])
    conversation = RealClock().run(call(user_bot(), agent))
    assert conversation.stop_reason is StopReason.EXIT
    assert [turn.text for turn in conversation.turns] == ["Hi."]


def test_messages_of_16_mib_pass_both_ways() -> None:
    big = "x" * (15 * 1024 * 1024)

    class Large(Greeting):
        name = "bridge__large"
        success_signals = Greeting.success_signals
        general_prompt = big

    agent = agent_bot(
        answers={"get_context_history": {"context": f"[{{'role': 'system', 'content': '{big}'}}]"}}
    )

    async def large() -> Conversation:
        async with user_bot().serve() as user_url, agent.serve() as agent_url:
            return await hold_call(
                Large(),
                user=Peer(USER, user_url, "fake user"),
                agent=Peer(AGENT, agent_url, "fake agent"),
                settings=CallSettings(max_duration=30),
            )

    conversation = VirtualClock().run(large())
    assert len(dict(agent.requests)["update_system_prompt"]["prompt"]) > len(big)
    assert conversation.agent.context == [{"role": "system", "content": big}]


def test_a_port_where_nobody_listens_is_told_with_its_url() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]

    async def main() -> Conversation:
        url = f"ws://127.0.0.1:{port}"
        return await hold_call(
            Greeting(),
            user=Peer(USER, url, "nobody"),
            agent=Peer(AGENT, url, "nobody"),
            settings=CallSettings(max_duration=30, connect_timeout=0.5),
        )

    with pytest.raises(
        BotUnreachableError, match=rf"bot at ws://127.0.0.1:{port} could not be reached within 0.5 s"
    ):
        RealClock().run(main())
