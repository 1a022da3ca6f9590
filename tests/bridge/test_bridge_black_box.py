"""Agents whose prompt, tools and world are their own, on virtual time."""

from __future__ import annotations

import asyncio
import math
from typing import Any

import pytest
from scripted_calls import Greeting, user_bot

from pytest_voiceeval.bridge.call import hold_call
from pytest_voiceeval.bridge.endpoint import Peer
from pytest_voiceeval.bridge.opening import GREETING_SECONDS, SPEAK_FIRST
from pytest_voiceeval.bridge.settings import CallSettings
from pytest_voiceeval.bridge.setup import RECOGNITION_SECONDS
from pytest_voiceeval.errors import BotRefusedError
from pytest_voiceeval.model.conversation import Conversation
from pytest_voiceeval.model.stop_reason import StopReason
from pytest_voiceeval.model.turns import AGENT, USER
from pytest_voiceeval.testing import FakeBot, Utterance, VirtualClock, exit_message
from pytest_voiceeval.wire.dialect import Dialect, Mode

LINES = [Utterance("Welcome.", 1.0), Utterance("Good bye.", 0.8)]


class OwnAgent(FakeBot):
    """An agent in production: it greets when it is ready, answers no request, hangs up after its lines."""

    def __init__(self, lines: list[Utterance], *, silent: bool = False, **options: Any) -> None:
        answers = options.pop("answers", {"reset": ... if silent else ValueError("unknown message type")})
        super().__init__(AGENT, lines, answers=answers, **options)
        self.texts: list[str] = []
        self.hangs_up = True
        self.greets = True

    async def _answer(self, connection: Any, message: Any) -> None:
        if message.type == "send-text":
            self.texts.append(message.fields["content"])
        await super()._answer(connection, message)
        if message.type == "client-ready" and self.greets:
            self._say_next(connection)

    async def _say(self, connection: Any, line: Utterance) -> None:
        await super()._say(connection, line)
        if self.hangs_up and line is self.lines[-1]:
            await connection.close()


def hold(user: FakeBot, agent: Any, mode: Mode = "black-box", **settings: Any) -> Conversation:
    async def opener(url: str, limit: float) -> Any:
        return await {"mem://user": user, "mem://agent": agent}[url].open(url, limit)

    async def call() -> Conversation:
        return await hold_call(
            settings.pop("scenario", None) or Greeting(),
            user=Peer(USER, "mem://user", "fake user"),
            agent=Peer(AGENT, "mem://agent", "fake agent", dialect=Dialect(mode=mode)),
            settings=CallSettings(**{"max_duration": 60.0, "opener": opener, **settings}),
        )

    return VirtualClock().run(call())


def names(bot: FakeBot) -> list[str]:
    return [name for name, _ in bot.requests]


def test_a_black_box_is_called_and_nothing_is_asked_of_it() -> None:
    agent = OwnAgent(LINES)
    conversation = hold(user_bot(), agent)
    assert (names(agent), agent.texts) == ([], [])
    assert conversation.agent_is_black_box
    assert [(turn.speaker, turn.text) for turn in conversation.turns] == [
        (AGENT, "Welcome."),
        (USER, "Hello there."),
        (AGENT, "Good bye."),
    ]
    assert conversation.stop_reason is StopReason.AGENT_HANGUP
    assert conversation.agent_closed_normally
    assert conversation.agent.actions is None
    assert conversation.agent.pull_error == ""
    assert len(conversation.latencies) == 1


def test_the_user_of_a_black_box_is_prepared_and_pulled_as_ever() -> None:
    user = user_bot()
    hold(user, OwnAgent(LINES))
    assert names(user) == [
        *("reset", "update_system_prompt", "apply_initialization"),
        *("get_context_history", "get_scenario_summary"),
    ]


def test_the_first_word_of_a_black_box_is_heard() -> None:
    conversation = hold(user_bot(), OwnAgent([Utterance("Welcome to the shop.", 2.0), *LINES[1:]]))
    first = conversation.turns[0]
    assert first.end - first.start == pytest.approx(2.0, abs=0.02)
    assert first.start < 0.3


@pytest.mark.parametrize("silent", [False, True], ids=["answers with an error", "says nothing"])
def test_a_black_box_is_recognised_by_its_answer_to_the_first_request(silent: bool) -> None:
    agent = OwnAgent(LINES, silent=silent)
    conversation = hold(user_bot(), agent, "auto")
    assert names(agent) == ["reset"]
    assert conversation.agent_is_black_box
    assert agent.connections == 1
    assert [turn.text for turn in conversation.turns] == ["Welcome.", "Hello there.", "Good bye."]
    (note,) = [line for line in conversation.events if "is a black box" in line]
    assert ("unknown message type" in note) is not silent
    assert (f"no answer to reset within {RECOGNITION_SECONDS:g} s" in note) is silent


def test_what_it_says_while_it_is_being_recognised_is_heard_from_the_beginning() -> None:
    agent = OwnAgent([Utterance("Welcome to the shop, what is it?", 3.0), *LINES[1:]], silent=True)
    first = hold(user_bot(), agent, "auto").turns[0]
    assert first.end - first.start == pytest.approx(3.0, abs=0.02)


def test_an_agent_that_answers_the_first_request_is_evaluated() -> None:
    agent = FakeBot(AGENT, [*LINES[:1], Utterance("Good bye.", 0.8, late_sends=(exit_message(),))])
    conversation = hold(user_bot(), agent, "auto")
    assert not conversation.agent_is_black_box
    assert len(names(agent)) == 5
    assert conversation.stop_reason is StopReason.EXIT
    assert [turn.text for turn in conversation.turns] == ["Welcome.", "Hello there.", "Good bye."]


@pytest.mark.parametrize(
    "answers",
    [{"reset": False}, {"update_system_prompt": ValueError("no such tool")}],
    ids=["false", "later"],
)
def test_an_agent_that_knows_the_requests_and_refuses_one_is_no_black_box(answers: dict[str, Any]) -> None:
    with pytest.raises(BotRefusedError):
        hold(user_bot(), FakeBot(AGENT, LINES, answers=answers), "auto")


def test_an_evaluated_agent_that_answers_with_an_error_is_refused() -> None:
    with pytest.raises(BotRefusedError, match="unknown message type"):
        hold(user_bot(), OwnAgent(LINES), "evaluated")


def test_an_agent_that_answers_too_late_is_no_black_box_either() -> None:
    class Slow(FakeBot):
        async def _answer(self, connection: Any, message: Any) -> None:
            if message.type == "client-message":
                await asyncio.sleep(RECOGNITION_SECONDS + 1)
            await super()._answer(connection, message)

    with pytest.raises(BotRefusedError, match="taken for a black box, as it did not answer reset in time"):
        hold(user_bot(), Slow(AGENT, LINES), "auto")


def test_an_agent_that_goes_away_when_it_is_asked_is_no_black_box() -> None:
    class Leaving(OwnAgent):
        async def _answer(self, connection: Any, message: Any) -> None:
            if message.type == "client-message":
                await connection.close()
            else:
                await super()._answer(connection, message)

    with pytest.raises(BotRefusedError, match="the connection was lost"):
        hold(user_bot(), Leaving(LINES), "auto")


def test_the_user_is_told_to_speak_first_where_the_agent_is_silent() -> None:
    agent = OwnAgent([Utterance("You are welcome.", 1.0)])
    agent.greets = False
    texts: list[str] = []

    class Told(FakeBot):
        async def _answer(self, connection: Any, message: Any) -> None:
            if message.type == "send-text":
                texts.append(message.fields["content"])
            await super()._answer(connection, message)

    conversation = hold(Told(USER, [Utterance("Hello there.", 1.0)]), agent)
    assert texts == [SPEAK_FIRST]
    assert [turn.speaker for turn in conversation.turns] == [USER, AGENT]
    assert conversation.turns[0].start == pytest.approx(GREETING_SECONDS, abs=0.2)
    assert any("told to speak first" in line for line in conversation.events)


def test_the_user_is_not_told_to_speak_where_the_agent_greets() -> None:
    user = user_bot(lines=[Utterance("Hello there.", 1.0), Utterance("This would be too much.", 1.0)])
    conversation = hold(user, OwnAgent(LINES, answer_after=8.0))
    assert [turn.text for turn in conversation.turns] == ["Welcome.", "Hello there.", "Good bye."]


def test_where_nobody_speaks_at_all_the_call_ends() -> None:
    conversation = hold(FakeBot(USER), FakeBot(AGENT), inactivity_timeout=20.0)
    assert conversation.stop_reason is StopReason.INACTIVITY


def test_words_that_the_agent_does_not_tell_are_those_that_the_user_understood() -> None:
    class Hearing(FakeBot):
        async def _say(self, connection: Any, line: Utterance) -> None:
            await self._tell(connection, "user-transcription", {"text": "Well", "final": False})
            await self._tell(connection, "user-transcription", {"text": "Well come.", "final": True})
            await super()._say(connection, line)

    agent = OwnAgent([Utterance("", 1.0), Utterance("", 0.8)])
    conversation = hold(Hearing(USER, [Utterance("Hello there.", 1.2)]), agent)
    assert [turn.text for turn in conversation.turns] == ["Well come.", "Hello there.", "[NOT UNDERSTOOD]"]


def reporting(*messages: tuple[str, Any]) -> OwnAgent:
    class Reporting(OwnAgent):
        async def _say(self, connection: Any, line: Utterance) -> None:
            if line is self.lines[0]:
                for kind, data in messages:
                    await self._tell(connection, kind, data)
            await super()._say(connection, line)

    return Reporting(LINES)


PLACED = {"tool_call_id": "1", "function_name": "place_order", "arguments": {"pizza": "pepperoni"}}


def test_tool_calls_that_a_black_box_reports_are_its_actions() -> None:
    agent = reporting(
        ("llm-function-call-started", {"function_name": "place_order"}),
        ("llm-function-call-in-progress", PLACED),
        ("llm-function-call-in-progress", {**PLACED, "tool_call_id": "2", "arguments": {}}),
        ("llm-function-call-stopped", {"tool_call_id": "1", "cancelled": False, "result": {"id": 7}}),
        ("llm-function-call-stopped", {"tool_call_id": "2", "cancelled": True}),
        ("llm-function-call", {"tool_call_id": "3", "function_name": "look", "args": {"at": "menu"}}),
    )
    conversation = hold(user_bot(), agent)
    assert conversation.agent.actions is not None
    assert [action.record for action in conversation.agent.actions] == [
        {
            "action_type": "place_order",
            "name": "place_order",
            "arguments": {"pizza": "pepperoni"},
            "result": {"id": 7},
        },
        {"action_type": "look", "name": "look", "arguments": {"at": "menu"}},
    ]


@pytest.mark.parametrize(
    "end",
    [
        {"cancelled": True},
        {"cancelled": False, "result": {"status": "error", "message": "no such pizza"}},
        {"cancelled": False, "result": '{"error": "closed"}'},
    ],
)
def test_an_agent_that_reports_calls_and_did_nothing_by_them_did_nothing(end: dict[str, Any]) -> None:
    agent = reporting(
        ("llm-function-call-in-progress", PLACED),
        ("llm-function-call-stopped", {"tool_call_id": "1", **end}),
    )
    assert hold(user_bot(), agent).agent.actions == ()


def test_calls_that_are_reported_without_arguments_beside_others_are_told_as_missing() -> None:
    bare = {"tool_call_id": "2", "function_name": "lookup"}
    agent = reporting(("llm-function-call-in-progress", PLACED), ("llm-function-call-in-progress", bare))
    evidence = hold(user_bot(), agent).agent
    assert evidence.actions is not None
    assert [action.name for action in evidence.actions] == ["place_order"]
    assert evidence.pull_error == "1 tool call(s) were reported without name or arguments"


@pytest.mark.parametrize(
    "data",
    [
        {"tool_call_id": "1"},
        {"tool_call_id": "1", "function_name": "order"},
        {},
        None,
        "x",
        {"tool_call_id": 3},
    ],
)
def test_tool_calls_without_name_or_arguments_are_no_evidence(data: Any) -> None:
    conversation = hold(user_bot(), reporting(("llm-function-call-in-progress", data)))
    assert conversation.agent.actions is None


def test_an_evaluated_agents_reported_tool_calls_are_not_its_actions() -> None:
    class Reporting(FakeBot):
        async def _say(self, connection: Any, line: Utterance) -> None:
            await self._tell(connection, "llm-function-call-in-progress", PLACED)
            await super()._say(connection, line)

    agent = Reporting(AGENT, [*LINES[:1], Utterance("Good bye.", 0.8, late_sends=(exit_message(),))])
    assert hold(user_bot(), agent, "auto").agent.actions == ()


def test_whether_a_black_box_has_closed_its_connection_is_told() -> None:
    assert hold(user_bot(), OwnAgent(LINES[:1]), inactivity_timeout=10).agent_closed_normally
    patient = OwnAgent(LINES)
    patient.hangs_up = False
    conversation = hold(user_bot(), patient, inactivity_timeout=10)
    assert (conversation.stop_reason, conversation.agent_closed_normally) == (StopReason.INACTIVITY, False)


def test_the_last_words_are_waited_for_until_the_user_has_understood_them() -> None:
    class Hearing(FakeBot):
        """Understands what was said a second after the silence behind it."""

        def _listen(self, connection: Any, frame: Any, quiet_since: float) -> float:
            quiet_since = super()._listen(connection, frame, quiet_since)
            if self.heard[-1][1].strip(b"\0"):
                self.due = self.heard[-1][0] + 1.0
            elif self.heard[-1][0] >= getattr(self, "due", math.inf):
                self.due = math.inf
                words = {"text": f"Words {len(self.spoken)}.", "final": True}
                self.telling = asyncio.ensure_future(self._tell(connection, "user-transcription", words))
            return quiet_since

    agent = OwnAgent([Utterance("", 1.0), Utterance("", 0.8)])
    conversation = hold(Hearing(USER, [Utterance("Hello there.", 1.2)], answer_after=1.5), agent)
    assert [turn.text for turn in conversation.turns] == ["Words 0.", "Hello there.", "Words 1."]
    end = conversation.turns[-1].end
    assert end + 0.9 < conversation.duration_seconds < end + 1.3
