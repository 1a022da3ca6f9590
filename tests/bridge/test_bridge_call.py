"""Whole calls between scripted bots, on virtual time."""

from __future__ import annotations

import asyncio
from typing import Any

import numpy as np
import pytest
from scripted_calls import agent_bot, end_of_speech, hold, user_bot

from pytest_voiceeval.bridge.limits import FAREWELL_SECONDS
from pytest_voiceeval.errors import BotLostError
from pytest_voiceeval.model.stop_reason import StopReason
from pytest_voiceeval.model.turns import AGENT, USER
from pytest_voiceeval.testing import FakeBot, Utterance, exit_message
from pytest_voiceeval.wire.frames import encode_interruption


def test_a_call_gives_turns_texts_and_a_clean_end() -> None:
    user, agent = user_bot(), agent_bot()
    conversation = hold(user, agent)
    assert conversation.stop_reason is StopReason.EXIT
    assert [(turn.speaker, turn.text) for turn in conversation.turns] == [
        (AGENT, "Welcome."),
        (USER, "Hello there."),
        (AGENT, "Good bye."),
    ]
    assert [turn.end - turn.start for turn in conversation.turns] == pytest.approx([1.0, 1.2, 0.8], abs=0.005)
    assert not any(turn.cut_off for turn in conversation.turns)


def test_response_latency_is_what_the_bots_know_to_within_5_ms() -> None:
    user, agent = user_bot(), agent_bot(answer_after=0.8)
    (latency,) = hold(user, agent).latencies
    assert latency.seconds == pytest.approx(agent.spoken[1][0] - end_of_speech(agent.heard), abs=0.005)
    assert (latency.user_text, latency.agent_text) == ("Hello there.", "Good bye.")


def test_the_recording_holds_both_sides_aligned_with_the_turns() -> None:
    conversation = hold(user_bot(), agent_bot())
    stereo = np.frombuffer(conversation.recording.pcm, "<i2").reshape(-1, 2)
    assert len(stereo) == round(conversation.duration_seconds * 16_000)
    for turn in conversation.turns:
        own, silent = (0, 1) if turn.speaker == USER else (1, 0)
        part = stereo[round(turn.start * 16_000) : round(turn.end * 16_000)]
        assert np.abs(part[:, own].astype(int)).max() > 15_000
        assert not part[:, silent].any()


def test_what_one_bot_says_is_what_the_other_hears() -> None:
    user, agent = user_bot(rate_hz=16_000), agent_bot()
    hold(user, agent)
    heard = np.concatenate([np.frombuffer(pcm, "<i2") for _, pcm in agent.heard])
    loud = np.flatnonzero(np.abs(heard.astype(int)) > 200)
    times = np.arange(round(1.2 * 16_000)) / 16_000
    said = (16_000 * np.sin(2 * np.pi * 500 * times)).astype("<i2")
    np.testing.assert_allclose(heard[loud[0] - 1 : loud[0] - 1 + len(said)], said, atol=2)


def test_the_goodbye_that_is_spoken_after_exit_is_heard_out() -> None:
    agent = agent_bot(
        lines=[Utterance("Welcome.", 1.0), Utterance("Thanks, good bye.", 3.0, sends=(exit_message(),))]
    )
    conversation = hold(user_bot(), agent)
    assert conversation.stop_reason is StopReason.EXIT
    assert conversation.turns[-1].text == "Thanks, good bye."
    assert conversation.turns[-1].end - conversation.turns[-1].start == pytest.approx(3.0, abs=0.01)
    assert conversation.duration_seconds - conversation.turns[-1].end < 0.3


def test_a_goodbye_that_is_still_being_synthesized_is_waited_for() -> None:
    class Thoughtful(FakeBot):
        async def _say(self, connection: Any, line: Utterance) -> None:
            if line.sends:
                await self._tell(connection, "bot-llm-text", {"text": line.text})
                for payload in line.sends:
                    await self._tell(connection, "server-message", payload)
                await asyncio.sleep(1.5)
                line = Utterance(line.text, line.seconds)
            await super()._say(connection, line)

    lines = [Utterance("Welcome.", 1.0), Utterance("Good bye.", 0.8, sends=(exit_message(),))]
    conversation = hold(user_bot(), Thoughtful(AGENT, lines))
    assert conversation.turns[-1].text == "Good bye."
    assert conversation.duration_seconds - conversation.turns[-1].end < 0.3


def test_an_agent_with_nothing_left_to_say_is_hung_up_on_at_once() -> None:
    conversation = hold(user_bot(), agent_bot())
    assert conversation.duration_seconds - conversation.turns[-1].end < 0.35


def test_set_up_happens_in_order_and_only_once_over_one_connection() -> None:
    user, agent = user_bot(), agent_bot()
    hold(user, agent)
    for bot in (user, agent):
        assert [name for name, _ in bot.requests] == [
            "reset",
            "update_system_prompt",
            "apply_initialization",
            "get_context_history",
            "get_scenario_summary",
        ]
        assert bot.connections == 1
    prompt = dict(agent.requests)["update_system_prompt"]
    assert prompt["tools"] == '{"EndConversationTool": {}}'
    assert (prompt["add_suffix"], prompt["tool_domain"]) == (False, "default")
    assert "Greet." in prompt["prompt"]


def test_a_silent_call_ends_by_inactivity_and_a_long_one_by_its_limit() -> None:
    mute = FakeBot(AGENT)
    conversation = hold(user_bot(), mute, inactivity_timeout=20.0)
    assert (conversation.stop_reason, conversation.turns) == (StopReason.INACTIVITY, ())
    assert conversation.duration_seconds == pytest.approx(20.0, abs=0.05)
    assert conversation.latencies == []
    conversation = hold(user_bot(), FakeBot(AGENT), inactivity_timeout=None, max_duration=30.0)
    assert conversation.stop_reason is StopReason.TIMEOUT
    assert conversation.duration_seconds == pytest.approx(30.0, abs=0.05)


def test_a_turn_that_the_limit_cuts_off_says_so() -> None:
    agent = agent_bot(lines=[Utterance("And so on.", 100.0)])
    conversation = hold(user_bot(), agent, max_duration=10.0)
    (turn,) = conversation.turns
    assert turn.cut_off
    assert turn.end == pytest.approx(10.0, abs=0.05)


def test_evidence_is_pulled_and_pushed_answers_are_kept() -> None:
    record = {"action_type": "a", "name": "order", "arguments": {"n": 1}, "result": {}}
    agent = agent_bot(
        lines=[
            Utterance(
                "Done.", 1.0, sends=({"text": '<final_response>{"a": 1}</final_response>'}, {"text": "noise"})
            ),
            Utterance("Bye.", 0.5, late_sends=(exit_message(),)),
        ],
        answers={
            "get_scenario_summary": {"actions": [record], "db_hash": "ab"},
            "get_context_history": {"context": "[{'role': 'system', 'content': None}]"},
        },
    )
    conversation = hold(user_bot(), agent)
    assert conversation.pushed == ('{"a": 1}',)
    assert [action.to_json() for action in conversation.actions] == [{"side": "agent", **record}]
    assert conversation.agent.db_hash == "ab"
    assert conversation.agent.context == [{"role": "system", "content": None}]
    assert conversation.user.actions == ()
    assert not conversation.agent.pull_error


def test_exit_of_the_user_bot_is_noted_and_does_not_end_the_call() -> None:
    user = user_bot(lines=[Utterance("Hello.", 1.0, sends=(exit_message(),))])
    conversation = hold(user, agent_bot())
    assert conversation.simulator_end_reported
    assert conversation.stop_reason is StopReason.EXIT
    assert conversation.turns[-1].speaker == AGENT


class Leaving(FakeBot):
    """A simulated user that hangs up once it has said what it has to say."""

    async def _say(self, connection: Any, line: Utterance) -> None:
        await super()._say(connection, line)
        await connection.close()


def goodbye(*, late: bool = True) -> list[Utterance]:
    sends = {"late_sends" if late else "sends": (exit_message(), exit_message())}
    return [Utterance("Thanks, goodbye.", 1.0, **sends)]


def test_a_call_that_the_user_has_ended_ends_soon_if_nobody_says_anything_more() -> None:
    user, agent = user_bot(lines=goodbye()), agent_bot(lines=[Utterance("Welcome.", 1.0)])
    conversation = hold(user, agent, max_duration=600)
    assert (conversation.stop_reason, conversation.simulator_end_reported) == (StopReason.INACTIVITY, True)
    spoken_until = conversation.turns[-1].end
    assert conversation.duration_seconds == pytest.approx(spoken_until + FAREWELL_SECONDS, abs=0.3)
    notes = [line for line in conversation.events if "[USER] ended the call; 10 s of silence end it" in line]
    assert len(notes) == 1


def test_the_agent_has_time_to_answer_the_users_goodbye_and_to_end_the_call_itself() -> None:
    agent = agent_bot(answer_after=8.0)
    conversation = hold(user_bot(lines=goodbye()), agent)
    assert (conversation.stop_reason, conversation.simulator_end_reported) == (StopReason.EXIT, True)
    assert conversation.turns[-1].text == "Good bye."


@pytest.mark.parametrize(
    ("limit", "seconds"), [(None, FAREWELL_SECONDS), (4.0, 4.0), (120.0, FAREWELL_SECONDS)]
)
def test_the_shorter_silence_ends_a_call_that_the_user_has_ended(limit: float | None, seconds: float) -> None:
    user, agent = user_bot(lines=goodbye(late=False)), agent_bot(lines=[Utterance("Welcome.", 1.0)])
    conversation = hold(user, agent, max_duration=600, inactivity_timeout=limit)
    assert conversation.stop_reason is StopReason.INACTIVITY
    assert conversation.duration_seconds == pytest.approx(conversation.turns[-1].end + seconds, abs=0.3)


def test_a_user_that_hangs_up_after_it_has_ended_the_call_is_no_error() -> None:
    user = Leaving(USER, goodbye(), answers={"get_scenario_summary": {"actions": [{"name": "reboot"}]}})
    conversation = hold(user, agent_bot(lines=[Utterance("Welcome.", 1.0)]), max_duration=600)
    assert (conversation.stop_reason, conversation.simulator_end_reported) == (StopReason.INACTIVITY, True)
    assert [action.name for action in conversation.actions] == ["reboot"]
    answered = hold(Leaving(USER, goodbye()), agent_bot())
    assert answered.stop_reason is StopReason.EXIT


def test_a_user_that_hangs_up_without_a_word_is_an_error_still() -> None:
    with pytest.raises(BotLostError, match="went away"):
        hold(Leaving(USER, [Utterance("Hello.", 1.0)]), agent_bot(answer_after=3.0))


def test_replies_of_a_model_whose_endpoint_counts_no_tokens_are_counted() -> None:
    class Thinking(FakeBot):
        async def _say(self, connection: Any, line: Utterance) -> None:
            for _ in range(2):  # the first one called a tool
                await self._tell(connection, "bot-llm-started", None)
            await super()._say(connection, line)

    agent = Thinking(AGENT, agent_bot().lines)
    tokens = hold(user_bot(), agent).agent.tokens
    assert (tokens.n_calls, tokens.prompt, tokens.completion) == (2 * len(agent.lines), 0, 0)


def test_tokens_are_counted_by_side() -> None:
    metrics = {
        "tokens": [
            {"prompt_tokens": 5, "completion_tokens": 2},
            {"prompt_tokens": None},
            {"prompt_tokens": "x"},
        ]
    }

    class Counting(FakeBot):
        async def _say(self, connection: Any, line: Utterance) -> None:
            await self._tell(connection, "metrics", metrics)
            await super()._say(connection, line)

    agent = Counting(AGENT, agent_bot().lines)
    conversation = hold(user_bot(), agent)
    assert conversation.agent.tokens.n_calls == 4
    assert (conversation.agent.tokens.prompt, conversation.agent.tokens.completion) == (10, 4)
    assert conversation.user.tokens.n_calls == 0


def test_a_goodbye_of_two_sentences_is_heard_out_though_nothing_announces_it() -> None:
    class Pausing(FakeBot):
        async def _say(self, connection: Any, line: Utterance) -> None:
            await super()._say(connection, line)
            if line.sends:
                await asyncio.sleep(0.1)
                await super()._say(connection, Utterance("Bye.", 0.5))

    lines = [Utterance("Welcome.", 1.0), Utterance("Thanks.", 0.5, sends=(exit_message(),))]
    conversation = hold(user_bot(announces=False), Pausing(AGENT, lines, announces=False))
    assert conversation.turns[-1].end - conversation.turns[-1].start == pytest.approx(1.15, abs=0.1)


def test_bots_that_announce_nothing_still_have_turns() -> None:
    conversation = hold(user_bot(announces=False), agent_bot(announces=False))
    assert [(turn.speaker, turn.text) for turn in conversation.turns] == [
        (AGENT, "Welcome."),
        (USER, "Hello there."),
        (AGENT, "Good bye."),
    ]


def test_a_barge_in_drops_what_was_not_played_yet() -> None:
    class Cut(FakeBot):
        async def _say(self, connection: Any, line: Utterance) -> None:
            speaking = asyncio.create_task(super()._say(connection, line))
            await asyncio.sleep(1.0)
            speaking.cancel()
            await connection.send(encode_interruption())
            await self._tell(connection, "bot-stopped-speaking", None)

    conversation = hold(
        user_bot(lines=[Utterance("", 0)]), Cut(AGENT, [Utterance("Long.", 9.0)]), inactivity_timeout=5
    )
    (turn,) = conversation.turns
    assert turn.cut_off
    assert turn.end - turn.start == pytest.approx(0.93, abs=0.03)


@pytest.mark.parametrize("chunk_seconds", [0.01, 0.016, 0.1])
@pytest.mark.parametrize("rate_hz", [16_000, 22_050, 24_000])
def test_any_size_of_chunk_comes_through_whole(chunk_seconds: float, rate_hz: int) -> None:
    agent = agent_bot(chunk_seconds=chunk_seconds, rate_hz=rate_hz)
    conversation = hold(user_bot(), agent)
    assert [turn.end - turn.start for turn in conversation.turns] == pytest.approx([1.0, 1.2, 0.8], abs=0.005)
