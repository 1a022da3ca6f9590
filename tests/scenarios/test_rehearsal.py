from __future__ import annotations

from typing import Any

import pytest

from pytest_voiceeval import Rehearsal, Say, Use
from pytest_voiceeval.errors import UnknownNameError
from pytest_voiceeval.scenarios.rehearsal import REHEARSALS, Line, line_for, sabotage

END = Use("EndConversationTool")
BOOK = Use("BookTool", {"guest": {"names": ["Ann", "Bob"]}, "nights": 2})
GOLD = Rehearsal(
    user=(Say("A room please."), Say("Thank you and goodbye.")),
    agent=(Say("Good evening."), Use("ListRoomsTool"), BOOK, Say("It is yours."), END),
)


def message(role: str, **more: Any) -> dict[str, Any]:
    return {"role": role, "content": "x"} | more


def test_lines_of_a_side() -> None:
    assert GOLD.lines("user") is GOLD.user
    assert GOLD.lines("agent") is GOLD.agent


@pytest.mark.parametrize(
    ("roles", "line"),
    [
        ("", GOLD.agent[0]),
        ("system user", GOLD.agent[0]),
        ("system user assistant user", GOLD.agent[1]),
        ("system user assistant user assistant tool", GOLD.agent[2]),
        ("system user assistant assistant assistant", GOLD.agent[3]),
        ("user " + "assistant " * 4, END),
        ("user " + "assistant " * 5, None),
        ("user " + "assistant " * 9, None),
    ],
)
def test_the_next_line_follows_from_the_number_of_assistant_messages(roles: str, line: Line | None) -> None:
    assert line_for(GOLD.agent, [message(role) for role in roles.split()]) is line


def test_a_message_without_a_role_does_not_count() -> None:
    assert line_for(GOLD.agent, [{}]) is GOLD.agent[0]
    assert line_for([], []) is None


def sabotaged(variant: str) -> tuple[Line, ...]:
    result = sabotage(GOLD, variant)
    assert result.user == GOLD.user
    return result.agent


def test_variants_by_name() -> None:
    assert REHEARSALS == ("gold", "mute", "no-exit", "drop-last-write", "wrong-argument", "do-nothing")
    with pytest.raises(UnknownNameError, match="no rehearsal 'silent'; choose one of: gold, mute"):
        sabotage(GOLD, "silent")


def test_gold_is_unchanged() -> None:
    assert sabotage(GOLD, "gold") == GOLD


def test_mute_says_nothing() -> None:
    assert sabotaged("mute") == (Say(""),) * 5


def test_no_exit_leaves_out_the_end_of_the_call() -> None:
    assert sabotaged("no-exit") == GOLD.agent[:4]


def test_do_nothing_talks_and_ends_the_call() -> None:
    assert sabotaged("do-nothing") == (Say("Good evening."), Say("It is yours."), END)


def test_drop_last_write_leaves_out_the_last_tool_before_the_end() -> None:
    assert sabotaged("drop-last-write") == (GOLD.agent[0], GOLD.agent[1], GOLD.agent[3], END)


def test_wrong_argument_spoils_the_first_leaf_of_the_last_arguments() -> None:
    spoiled = Use("BookTool", {"guest": {"names": ["wrong Ann", "Bob"]}, "nights": 2})
    assert sabotaged("wrong-argument") == (*GOLD.agent[:2], spoiled, *GOLD.agent[3:])
    assert BOOK.arguments["guest"]["names"] == ["Ann", "Bob"]


@pytest.mark.parametrize(
    ("value", "wrong"), [(1, 2), (1.5, 2.5), (True, False), ("a", "wrong a"), (None, "wrong None")]
)
def test_a_wrong_value_has_the_type_of_the_right_one_where_there_is_one(value: Any, wrong: Any) -> None:
    rehearsal = Rehearsal(user=(), agent=(Use("T", {"empty": {}, "x": value}),))
    assert sabotage(rehearsal, "wrong-argument").agent == (Use("T", {"empty": {}, "x": wrong}),)


def test_a_rehearsal_without_tools_stays_as_it_is() -> None:
    talk = Rehearsal(user=(), agent=(Say("Good evening."), Use("T"), END))
    assert sabotage(talk, "wrong-argument") == talk
    assert sabotage(Rehearsal((), (Say("x"),)), "drop-last-write").agent == (Say("x"),)


def test_a_rehearsal_may_tell_which_calls_write() -> None:
    write = Use("BookTool", {"guest": "Ann"}, writes=True)
    look = Use("ListTool", {"floor": 1}, writes=False)
    told = Rehearsal(user=(), agent=(look, write, look, END))
    assert sabotage(told, "drop-last-write").agent == (look, look, END)
    spoilt = Use("BookTool", {"guest": "wrong Ann"}, writes=True)
    assert sabotage(told, "wrong-argument").agent == (look, spoilt, look, END)
    looking = Rehearsal(user=(), agent=(look, END))
    assert sabotage(looking, "drop-last-write") == sabotage(looking, "wrong-argument") == looking


def test_a_handover_ends_the_call_as_the_tool_for_that_does() -> None:
    over = Use("HandOverTool", {"why": "stuck"}, ends=True)
    lines = Rehearsal(user=(), agent=(Use("LookTool"), Say("Please hold."), over))
    assert sabotage(lines, "no-exit").agent == lines.agent[:2]
    assert sabotage(lines, "do-nothing").agent == lines.agent[1:]
    assert sabotage(lines, "drop-last-write").agent == lines.agent[1:]


TWO_SIDES = Rehearsal(
    user=(Say("It is dark."), Use("open_shutter", {"room": "hall"}), Say("I have opened it."), Say("Bye.")),
    agent=(Say("Hello."), Use("switch_lamp"), Say("Please open the shutter."), Say("Good."), END),
)


def test_the_last_write_may_be_the_callers() -> None:
    dropped = sabotage(TWO_SIDES, "drop-last-write")
    assert dropped.agent == TWO_SIDES.agent
    assert dropped.user == (TWO_SIDES.user[0], *TWO_SIDES.user[2:])


def test_the_last_write_is_the_agents_where_it_comes_later() -> None:
    later = TWO_SIDES.with_lines("agent", (*TWO_SIDES.agent[:3], Use("lock"), *TWO_SIDES.agent[3:]))
    assert sabotage(later, "drop-last-write") == TWO_SIDES


def test_the_callers_arguments_are_spoiled_where_they_are_the_last() -> None:
    spoiled = sabotage(TWO_SIDES, "wrong-argument")
    assert spoiled.user[1] == Use("open_shutter", {"room": "wrong hall"})


def test_nobody_does_anything_where_the_agent_brings_nothing_about() -> None:
    idle = sabotage(TWO_SIDES, "do-nothing")
    assert not [line for line in (*idle.user, *idle.agent) if isinstance(line, Use) and line != END]
