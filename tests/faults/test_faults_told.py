"""Each call that ends badly tells by what, in which turn, and after which event; in one form."""

from __future__ import annotations

from typing import Any

import pytest
from scripted_calls import agent_bot, hold, user_bot

from pytest_voiceeval.bridge.ending import told
from pytest_voiceeval.errors import BotLostError, BotRefusedError, DefinitionError
from pytest_voiceeval.model.ending import Ending
from pytest_voiceeval.model.stop_reason import StopReason
from pytest_voiceeval.model.turns import AGENT, USER
from pytest_voiceeval.testing import FakeBot, Utterance

HOW = Ending("gone", '3.4 s into the call, after turn 2, the user\'s: "Bye."', "3.391 s, the user: type=x")


class Leaving(FakeBot):
    """Hangs up once it has said what it has to say."""

    async def _say(self, connection: Any, line: Utterance) -> None:
        await super()._say(connection, line)
        await connection.close()


def test_an_error_of_a_bot_is_extended_and_keeps_its_cause() -> None:
    error = BotLostError("the user bot went away")
    error.__cause__ = OSError("broken pipe")
    complete = told(error, HOW)
    assert isinstance(complete, BotLostError)
    assert complete.__cause__ is error.__cause__
    assert str(complete).splitlines() == [
        "the user bot went away",
        "  whose fault: the simulated user's; no verdict on the agent",
        '  where: 3.4 s into the call, after turn 2, the user\'s: "Bye."',
        "  last event: 3.391 s, the user: type=x",
    ]


def test_an_error_of_ours_gets_a_note_and_keeps_its_text() -> None:
    error = told(ZeroDivisionError("division by zero"), HOW)
    assert str(error) == "division by zero"
    assert error.__notes__[0].splitlines()[0] == (
        "  whose fault: pytest-voiceeval's own; no verdict on the agent"
    )


def test_an_error_of_a_scenario_says_all_there_is_to_say() -> None:
    error = DefinitionError("scenario x: no such tool")
    assert told(error, HOW) is error


def test_what_fails_before_the_call_says_so_and_has_no_event() -> None:
    with pytest.raises(BotRefusedError) as caught:
        hold(user_bot(), agent_bot(answers={"reset": False}))
    assert str(caught.value).splitlines()[1:] == [
        "  whose fault: the environment's; no verdict on the agent",
        "  where: before the call began, while the bots were prepared",
    ]


def test_a_user_that_leaves_is_told_with_its_turn() -> None:
    with pytest.raises(BotLostError) as caught:
        hold(Leaving(USER, [Utterance("Hello.", 1.0)]), agent_bot(answer_after=3.0))
    first, blame, where, event = str(caught.value).splitlines()
    assert first.startswith("the user bot at mem://user went away: closed with code 1000; expected")
    assert blame == "  whose fault: the simulated user's; no verdict on the agent"
    assert where.endswith(' s into the call, after turn 2, the user\'s: "Hello."')
    assert event.endswith(" s, the user: type=bot-stopped-speaking")


def test_an_agent_that_leaves_is_told_with_its_turn_too() -> None:
    conversation = hold(user_bot(), Leaving(AGENT, [Utterance("Bye.", 1.0)]))
    assert conversation.stop_reason is StopReason.AGENT_HANGUP
    assert conversation.ending.cause == "the agent went away: closed with code 1000"
    assert conversation.ending.where.endswith(' s into the call, after turn 1, the agent\'s: "Bye."')
    assert conversation.ending.last_event.endswith(" s, the agent: type=bot-stopped-speaking")
    assert any(
        line.endswith("[AGENT_HANGUP]: the agent went away: closed with code 1000")
        for line in conversation.events
    )


def test_the_ending_is_the_same_when_it_is_read_again() -> None:
    assert Ending.of_json(HOW.to_json()) == HOW
    assert Ending.of_json(None) == Ending.of_json({"where": None}) == Ending()
