"""A simulated user that has lost its role, or hears what nobody said: never held against the agent."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from faulty_bots import Hallucinating, Soundless, Unheard
from scripted_calls import Greeting, agent_bot, hold, user_bot

from pytest_voiceeval.errors import BotLostError
from pytest_voiceeval.model.conversation import Conversation
from pytest_voiceeval.model.stop_reason import StopReason
from pytest_voiceeval.model.turns import AGENT, USER, Turn
from pytest_voiceeval.run.echoes import echoed_turns, echoing_caller
from pytest_voiceeval.run.evaluate import evaluate_conversation
from pytest_voiceeval.run.settings import RunSettings
from pytest_voiceeval.testing import FakeBot, Utterance, exit_message

WELCOME = "Welcome to the shop. How can I help you?"


def evaluated(conversation: Conversation, folder: Path) -> dict[str, Any]:
    settings = RunSettings(min_agent_turns=0)
    evaluate_conversation(Greeting(), conversation, settings=settings, folder=folder)
    return dict(json.loads((folder / "metrics.json").read_text(encoding="utf-8")))


def lines(side: str, *texts: str, **last: Any) -> list[Utterance]:
    hz = 500 if side == USER else 300
    return [
        Utterance(text, 0.5, hz, **(last if number == len(texts) else {}))
        for number, text in enumerate(texts, 1)
    ]


def echoing(*, ends: bool) -> Conversation:
    last = {"late_sends": (exit_message(),)} if ends else {}
    agent = FakeBot(AGENT, lines(AGENT, WELCOME, "Could you say that again, please?", "Good bye.", **last))
    user = FakeBot(USER, lines(USER, WELCOME.upper(), "Could you say that again -- please!"))
    return hold(user, agent, inactivity_timeout=10.0)


def test_a_user_that_repeats_a_failing_agent_is_an_error_with_its_turn(tmp_path: Path) -> None:
    with pytest.raises(BotLostError) as caught:
        evaluated(echoing(ends=False), tmp_path)
    first, blame, where, event = str(caught.value).splitlines()
    assert "the simulated user repeated the agent word by word in 2 of its 2 turns" in first
    assert blame == "  whose fault: the simulated user's; no verdict on the agent"
    assert where.startswith("  where: ")
    assert event.startswith("  last event: ")
    assert not (tmp_path / "metrics.json").exists()
    assert (tmp_path / "conversation_log.txt").exists()


def test_one_that_repeats_an_agent_that_does_all_right_is_only_counted(tmp_path: Path) -> None:
    metrics = evaluated(echoing(ends=True), tmp_path)
    assert metrics["simulator_echoes"] == 2
    assert metrics["is_successful"] is True


@pytest.mark.parametrize(
    ("said", "echoes"),
    [
        ([(AGENT, "One two three four."), (USER, "One two three four.")], 1),
        ([(AGENT, "Good bye then."), (USER, "Good bye then.")], 0),
        ([(USER, "One two three four."), (AGENT, "One two three four.")], 0),
        ([(AGENT, "Is it A 1 2 3?"), (USER, "It is A 1 2 3.")], 0),
        ([(AGENT, ""), (USER, "")], 0),
    ],
)
def test_an_echo_is_all_of_what_the_agent_said_right_before(said: list[Any], echoes: int) -> None:
    turns = [Turn(side, float(at), at + 0.5, text) for at, (side, text) in enumerate(said)]
    assert len(echoed_turns(turns)) == echoes


def test_one_echo_is_no_fault() -> None:
    agent = FakeBot(AGENT, lines(AGENT, WELCOME))
    conversation = hold(FakeBot(USER, lines(USER, WELCOME)), agent, inactivity_timeout=5.0)
    assert len(echoed_turns(conversation.turns)) == 1
    assert not echoing_caller(conversation)


def test_words_that_a_side_heard_in_silence_are_counted(tmp_path: Path) -> None:
    user = Hallucinating(USER, lines(USER, "Hello there."))
    conversation = hold(user, agent_bot(lines=lines(AGENT, WELCOME)), inactivity_timeout=30.0)
    assert conversation.stop_reason is StopReason.INACTIVITY
    assert (conversation.user.phantoms, conversation.agent.phantoms) == (3, 0)
    assert evaluated(conversation, tmp_path)["phantom_transcripts"] == {"user": 3}


class Transcribing(FakeBot):
    """Tells what it has heard a second after it was said."""

    async def _say(self, connection: Any, line: Utterance) -> None:
        await asyncio.sleep(1.0)
        await self._tell(connection, "user-transcription", {"text": "What was said.", "final": True})
        await super()._say(connection, line)


def test_words_that_were_said_are_not(tmp_path: Path) -> None:
    conversation = hold(Transcribing(USER, user_bot().lines), agent_bot())
    assert any("STT final] 'What was said.'" in line for line in conversation.events)
    assert conversation.user.phantoms == 0
    assert "phantom_transcripts" not in evaluated(conversation, tmp_path)


def test_blank_transcripts_are_no_words_and_make_no_turn() -> None:
    conversation = hold(Unheard(USER, user_bot().lines), agent_bot())
    assert [turn.text for turn in conversation.turns] == ["Welcome.", "Hello there.", "Good bye."]
    assert conversation.user.phantoms == 0


def test_what_is_told_and_never_heard_is_a_turn_without_length() -> None:
    conversation = hold(user_bot(), Soundless(AGENT, agent_bot().lines), inactivity_timeout=5.0)
    (turn,) = conversation.turns
    assert (turn.text, turn.start) == ("Welcome.", turn.end)
