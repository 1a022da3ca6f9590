"""What is asked of the bots after a call, how often, and what becomes of what does not come."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import AsyncExitStack
from typing import Any

import pytest
from scripted_calls import Greeting, agent_bot, hold, user_bot

from pytest_voiceeval.bridge.call import hold_call
from pytest_voiceeval.bridge.endpoint import Peer
from pytest_voiceeval.bridge.settings import CallSettings
from pytest_voiceeval.model.conversation import Conversation
from pytest_voiceeval.model.signals import SuccessSignal
from pytest_voiceeval.model.turns import AGENT, USER
from pytest_voiceeval.scoring.db_state import db_state_assertions, db_state_match
from pytest_voiceeval.scoring.evidence import unscorable
from pytest_voiceeval.testing import FakeBot, Utterance, exit_message
from pytest_voiceeval.wire.limits import MAX_MESSAGE_BYTES
from pytest_voiceeval.wire.rtvi import Envelope
from pytest_voiceeval.world.hashing import get_dict_hash

EXPECTED = {"reservations": {"ZFA04V": {"status": "cancelled"}}}
FOUND = {"reservations": {"ZFA04V": {"status": None}}}
LINE = 'reservations.ZFA04V.status: "cancelled" → null'


class Cancelled(Greeting):
    name = "pulls__cancelled"
    success_signals = (SuccessSignal.DB_STATE_MATCH, SuccessSignal.CLEAN_EXIT)
    expected_scenario_db = EXPECTED


class Asserted(Greeting):
    name = "pulls__asserted"
    success_signals = (SuccessSignal.DB_STATE_ASSERTION, SuccessSignal.CLEAN_EXIT)
    db_state_assertions = [  # noqa: RUF012 - as scenarios are written
        {"side": "agent", "func_name": "status", "assert_value": 1},
        {"side": "user", "func_name": "status", "assert_value": 1},
    ]


def summary(state: Any, /, **more: Any) -> Callable[[Any], Any]:
    """Return what answers a request for the summary as a bot with that database does."""

    def answer(arguments: Any) -> Any:
        found = {"actions": [{"name": "cancel"}], "db_hash": get_dict_hash(state) if state else None}
        return {**found, **({"db": state} if arguments["include_db"] else {}), **more}

    return answer


def agent_with(answer: Any, **options: Any) -> FakeBot:
    return agent_bot(answers={"get_scenario_summary": answer}, **options)


def asked(bot: FakeBot) -> list[bool]:
    return [arguments["include_db"] for name, arguments in bot.requests if name == "get_scenario_summary"]


def told(conversation: Conversation) -> str:
    return db_state_match(Cancelled(), conversation).explanation


def test_a_database_with_the_expected_hash_is_not_asked_for() -> None:
    user, agent = user_bot(), agent_with(summary(EXPECTED))
    conversation = hold(user, agent, Cancelled())
    assert (asked(user), asked(agent)) == ([False], [False])
    assert conversation.agent.db is None
    assert db_state_match(Cancelled(), conversation).passed is True


def test_one_with_another_hash_is_and_the_difference_is_told_by_path() -> None:
    user, agent = user_bot(), agent_with(summary(FOUND))
    conversation = hold(user, agent, Cancelled())
    assert (asked(user), asked(agent)) == ([False], [False, True])
    assert conversation.agent.db == FOUND
    assert told(conversation).splitlines() == ["the agent's database, expected → found:", LINE]


@pytest.mark.parametrize("db_hash", [None, 5], ids=["no database", "no hash"])
def test_a_bot_without_a_hash_is_not_asked_for_a_database(db_hash: Any) -> None:
    agent = agent_with({"actions": [], "db_hash": db_hash})
    conversation = hold(user_bot(), agent, Cancelled())
    assert asked(agent) == [False]
    assert told(conversation).endswith("the agent's bot reported none")


def test_a_scenario_that_expects_no_database_asks_for_none() -> None:
    agent = agent_with(summary(FOUND))
    assert hold(user_bot(), agent).agent.db is None
    assert asked(agent) == [False]


def test_assertions_have_both_databases_asked_for_at_once() -> None:
    user = user_bot(answers={"get_scenario_summary": summary({"a": 1})})
    agent = agent_with(summary(FOUND))
    conversation = hold(user, agent, Asserted())
    assert (asked(user), asked(agent)) == ([True], [True])
    assert (conversation.user.db, conversation.agent.db) == ({"a": 1}, FOUND)
    assert (conversation.user.db_hash, conversation.agent.db_hash) == (
        get_dict_hash({"a": 1}),
        get_dict_hash(FOUND),
    )
    assert not unscorable(Asserted(), conversation)


class Overfilling(FakeBot):
    """Hangs up when it is asked for its database, as a connection does that is sent too much."""

    async def _answer(self, connection: Any, message: Envelope) -> None:
        if (message.fields.get("d") or {}).get("include_db"):
            self.requests.append((message.fields["t"], message.fields["d"]))
            await connection.close()
        else:
            await super()._answer(connection, message)


def overfilling(side: Any, lines: list[Utterance]) -> FakeBot:
    return Overfilling(side, lines, answers={"get_scenario_summary": summary(FOUND)})


def test_a_database_that_does_not_come_leaves_the_rest_of_the_evidence_whole() -> None:
    agent = overfilling(AGENT, agent_bot().lines)
    conversation = hold(user_bot(), agent, Cancelled())
    assert asked(agent) == [False, True]
    assert [action.name for action in conversation.actions] == ["cancel"]
    assert not conversation.agent.pull_error
    assert told(conversation) == (
        f"expected a database with hash {get_dict_hash(EXPECTED)}, found {get_dict_hash(FOUND)}; "
        "the database itself did not come: the connection was lost (closed with code 1000)"
    )
    assert any("its database is missing" in line for line in conversation.events)


def test_a_database_that_is_wanted_and_does_not_come_is_asked_for_again_without_it() -> None:
    user, agent = overfilling(USER, user_bot().lines), overfilling(AGENT, agent_bot().lines)
    conversation = hold(user, agent, Asserted())
    for bot, side in ((user, USER), (agent, AGENT)):
        assert asked(bot) == [True, False]
        assert bot.connections == 2
        evidence = conversation.side(side)
        assert evidence.db_hash == get_dict_hash(FOUND)
        assert evidence.actions is not None
        assert evidence.db_error == "the connection was lost (closed with code 1000)"
        assert not evidence.pull_error
    # What is ours or the environment's fault is no verdict.
    assert "db_state_assertion cannot be scored, because the user's end state" in unscorable(
        Asserted(), conversation
    )


def test_a_bot_may_say_why_it_gives_no_database() -> None:
    agent = agent_with(summary(FOUND, db=None, db_error="too large"))
    assert told(hold(user_bot(), agent, Cancelled())).endswith("the database itself did not come: too large")
    silent = agent_with(lambda _: {"actions": [], "db_hash": get_dict_hash(FOUND)})
    assert "but not the database" in told(hold(user_bot(), silent, Cancelled()))


def test_a_bot_that_has_no_database_fails_assertions_on_it() -> None:
    conversation = hold(user_bot(), agent_with(summary(None)), Asserted())
    assert not unscorable(Asserted(), conversation)
    assert db_state_assertions(Asserted(), conversation).passed is False


def test_a_database_of_any_depth_costs_no_verdict() -> None:
    deep: Any = {}
    for _ in range(700):
        deep = {"d": deep}
    agent = agent_with({"actions": [], "db_hash": "ab", "db": deep})
    result = db_state_match(Cancelled(), hold(user_bot(), agent, Cancelled()))
    assert result.passed is False
    assert result.explanation


def test_a_database_of_more_than_a_message_holds_over_real_sockets() -> None:
    large = {"text": "x" * MAX_MESSAGE_BYTES}
    user = FakeBot(USER, [Utterance("Hi.", 0.3, 500)])
    agent = FakeBot(
        AGENT,
        [Utterance("Welcome.", 0.3, 300), Utterance("Bye.", 0.3, 350, late_sends=(exit_message(),))],
        answers={"get_scenario_summary": summary(large)},
    )

    async def call(scenario: Greeting) -> Conversation:
        async with AsyncExitStack() as stack:
            urls = [await stack.enter_async_context(bot.serve()) for bot in (user, agent)]
            return await hold_call(
                scenario,
                user=Peer(USER, urls[0], "user"),
                agent=Peer(AGENT, urls[1], "agent"),
                settings=CallSettings(max_duration=30.0),
            )

    conversation = asyncio.run(call(Asserted()))
    assert asked(agent) == [True, False]
    evidence = conversation.agent
    assert (evidence.db_hash, evidence.db) == (get_dict_hash(large), None)
    assert evidence.db_error == (
        f"the connection was lost (it sent a message of more than {MAX_MESSAGE_BYTES} bytes)"
    )
    assert [action.name for action in conversation.actions] == ["cancel"]
