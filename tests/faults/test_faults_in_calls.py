"""What goes wrong in a call: on virtual time, each told as what it is."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scripted_calls import Greeting, agent_bot, call, hold, user_bot

from pytest_voiceeval.audio.jitter import JitterBuffer
from pytest_voiceeval.bridge.events import Listener
from pytest_voiceeval.bridge.tape import Track
from pytest_voiceeval.errors import BotLostError, BotRefusedError, BotUnreachableError, DefinitionError
from pytest_voiceeval.model.conversation import Conversation
from pytest_voiceeval.model.signals import SuccessSignal
from pytest_voiceeval.model.stop_reason import StopReason
from pytest_voiceeval.model.turns import AGENT, USER
from pytest_voiceeval.testing import FakeBot, Utterance, VirtualClock
from pytest_voiceeval.wire.frames import Message, frames_pb2
from pytest_voiceeval.wire.rtvi import Envelope


def test_malformed_frames_are_counted_and_skipped() -> None:
    class Garbling(FakeBot):
        async def _say(self, connection: Any, line: Utterance) -> None:
            for garbage in (b"\xff\xff\xff", b"", "text", b"\x22\x04\x0a\x02xx", b"\x12\x03\x1a\x01\x00"):
                await connection.send(garbage)
            await super()._say(connection, line)

    conversation = hold(user_bot(), Garbling(AGENT, agent_bot().lines))
    assert conversation.stop_reason is StopReason.EXIT
    assert len(conversation.turns) == 3
    assert conversation.agent.skipped_frames == 10
    assert conversation.user.skipped_frames == 0


@pytest.mark.parametrize(
    ("answers", "told"),
    [
        ({"apply_initialization": {"success": False, "errors": ["no such table"]}}, "no such table"),
        ({"update_system_prompt": False}, "EndConversationTool"),
        ({"reset": ValueError("RuntimeError: broken")}, "RuntimeError: broken"),
        ({"update_system_prompt": ...}, "no answer to update_system_prompt within 15 s"),
    ],
)
def test_a_bot_that_refuses_its_set_up_is_an_error_that_names_it(answers: dict[str, Any], told: str) -> None:
    with pytest.raises(BotRefusedError) as caught:
        hold(user_bot(), agent_bot(answers=answers))
    assert told in str(caught.value)
    assert "agent bot at mem://agent" in str(caught.value)
    assert "expected" in str(caught.value)


def test_a_bot_that_cannot_be_reached_is_an_error_within_the_limit() -> None:
    async def refused(_url: str, _limit: float) -> Any:
        raise OSError("connection refused")

    with pytest.raises(
        BotUnreachableError, match=r"user bot at mem://user .* within 5 s: connection refused"
    ):
        hold(user_bot(), agent_bot(), opener=refused)


def test_a_bot_that_never_says_it_is_ready_is_an_error() -> None:
    class Dumb(FakeBot):
        async def _answer(self, connection: Any, message: Any) -> None:
            return

    with pytest.raises(BotUnreachableError, match=r"agent bot at mem://agent .*never said bot-ready"):
        hold(user_bot(), Dumb(AGENT))


class HangingUp(FakeBot):
    async def _say(self, connection: Any, line: Utterance) -> None:
        await super()._say(connection, line)
        if line.text == "Bye.":
            await connection.close()


def test_an_agent_that_hangs_up_ends_the_call_and_is_asked_for_its_evidence_again() -> None:
    agent = HangingUp(AGENT, [Utterance("Bye.", 1.0)])
    conversation = hold(user_bot(), agent)
    assert conversation.stop_reason is StopReason.AGENT_HANGUP
    assert [turn.text for turn in conversation.turns] == ["Bye."]
    assert agent.connections == 2
    assert conversation.agent.actions == ()


def test_a_simulated_user_that_hangs_up_is_an_error_and_what_there_was_is_kept() -> None:
    kept: list[Conversation] = []
    with pytest.raises(BotLostError, match="user bot at mem://user went away"):
        hold(HangingUp(USER, [Utterance("Bye.", 1.0)]), agent_bot(), on_interrupt=kept.append)
    (conversation,) = kept
    assert conversation.stop_reason is StopReason.USER_HANGUP
    assert [turn.text for turn in conversation.turns] == ["Welcome.", "Bye."]


def test_a_cancelled_call_hands_over_what_it_has_and_leaves_no_task() -> None:
    kept: list[Conversation] = []

    async def interrupted() -> set[Any]:
        task = asyncio.create_task(
            call(user_bot(), FakeBot(AGENT, [Utterance("Hm.", 30)]), on_interrupt=kept.append)
        )
        await asyncio.sleep(5)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await asyncio.sleep(1)
        return {task for task in asyncio.all_tasks() if task is not asyncio.current_task()}

    assert VirtualClock().run(interrupted()) == set()
    assert kept[0].duration_seconds == pytest.approx(5, abs=0.1)


class Reporting(FakeBot):
    async def _say(self, connection: Any, line: Utterance) -> None:
        await self._tell(connection, "error", {"error": "404: no such model", "fatal": False})


def test_a_call_with_an_agent_that_reports_an_error_does_not_wait_for_long() -> None:
    conversation = hold(user_bot(), Reporting(AGENT, [Utterance("Hm.")]))
    assert conversation.stop_reason is StopReason.INACTIVITY
    assert conversation.duration_seconds < 20
    assert conversation.agent.errors == ("404: no such model",)


def test_a_simulated_user_that_reports_an_error_and_falls_silent_is_an_error() -> None:
    with pytest.raises(
        BotLostError, match=r"user bot at mem://user fell silent.* reported: 404: no such model"
    ):
        hold(Reporting(USER, [Utterance("Hm.")]), agent_bot())


def test_an_error_that_does_not_keep_a_bot_from_talking_is_only_noted() -> None:
    class Grumbling(FakeBot):
        async def _say(self, connection: Any, line: Utterance) -> None:
            await self._tell(connection, "error", {"error": "slow network"})
            await super()._say(connection, line)

    conversation = hold(user_bot(), Grumbling(AGENT, agent_bot().lines))
    assert conversation.stop_reason is StopReason.EXIT
    assert conversation.agent.errors == ("slow network", "slow network")


ODD = st.recursive(
    st.none() | st.booleans() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["text", "ttfb", "tokens"]), inner)
    ),
    max_leaves=6,
)


@given(
    kind=st.sampled_from(
        ["metrics", "server-message", "bot-tts-text", "bot-llm-text", "user-transcription", "x"]
    ),
    data=ODD,
)
@settings(max_examples=200)
def test_a_message_of_any_shape_is_digested(kind: str, data: Any) -> None:
    track = Track(16_000)
    listener = Listener(AGENT, JitterBuffer(16_000, 320), track, now=lambda: 1.0, note=str)
    listener.hear(Message(Envelope(type=kind, data=data)))
    assert listener.tokens.prompt >= 0


def test_numbers_that_json_does_not_have_become_null_in_the_evidence() -> None:
    class Infinite(FakeBot):
        async def _answer(self, connection: Any, message: Envelope) -> None:
            if message.fields.get("t") == "get_scenario_summary":
                text = (
                    f'{{"label":"rtvi-ai","type":"server-response","id":"{message.id}","data":{{"t":"x","d":'
                )
                text += '{"actions":[{"name":"a","arguments":{"n":NaN,"m":1e999}}],"db_hash":null}}}'
                await connection.send(frame_of(text))
            else:
                await super()._answer(connection, message)

    agent = Infinite(
        AGENT, agent_bot().lines, answers={"get_context_history": {"context": "[{'n': 1e999, (1, 2): 3}]"}}
    )
    conversation = hold(user_bot(), agent)
    assert [action.arguments for action in conversation.actions] == [{"n": None, "m": None}]
    assert conversation.agent.context == [{"n": None, "(1, 2)": 3}]


def frame_of(text: str) -> bytes:
    """Return a message frame whose text is sent as it stands."""
    message = frames_pb2.MessageFrame(data=text)
    content: bytes = frames_pb2.Frame(message=message).SerializeToString()
    return content


def test_a_scenario_whose_worlds_cannot_be_set_up_is_refused_before_any_connection() -> None:
    class TwoWorlds(Greeting):
        name = "bridge__two_worlds"
        success_signals = (SuccessSignal.CLEAN_EXIT,)

        def sync_state(self, agent_db: Any, user_db: Any) -> Any:
            return {"agent": {}, "user": {}}

    user, agent = user_bot(), agent_bot()
    with pytest.raises(DefinitionError, match="sync_state needs both worlds"):
        hold(user, agent, TwoWorlds())
    assert user.connections == agent.connections == 0


def test_an_initialization_action_of_an_unknown_side_is_named() -> None:
    scenario = Greeting(initialization_actions=[{"side": "bot", "func_name": "f", "arguments": {}}])
    with pytest.raises(DefinitionError, match="'f' has side 'bot'"):
        hold(user_bot(), agent_bot(), scenario)
