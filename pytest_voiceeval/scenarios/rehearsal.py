"""Rehearsals: what each side says and does when a script plays the model's part, and sabotages of it."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from pytest_voiceeval.errors import UnknownNameError
from pytest_voiceeval.model.turns import AGENT, SIDES, USER, Side

END_TOOL = "EndConversationTool"


@dataclass(frozen=True)
class Say:
    """One answer of the model in words; it is followed by the other side's turn."""

    text: str


@dataclass(frozen=True)
class Use:
    """One tool call of the model; its result is followed at once by the next line.

    Attributes:
        tool: what the model calls it by.
        arguments: of the call.
        writes: the call changes the world. Where a rehearsal says so of none of its calls, any may.
        ends: the call ends the conversation, as a handover does; ``EndConversationTool`` does anyway.
    """

    tool: str
    arguments: Mapping[str, Any] = field(default_factory=dict)
    writes: bool | None = None
    ends: bool = False


Line = Say | Use


@dataclass(frozen=True)
class Rehearsal:
    """The lines of both sides, in order; one line is one answer of that side's model.

    The agent's first line answers the "Hello" that opens every call; the user's first line answers
    the agent's greeting.
    """

    user: tuple[Line, ...]
    agent: tuple[Line, ...]

    def lines(self, side: Side) -> tuple[Line, ...]:
        """Return the lines of ``side``."""
        return self.user if side == USER else self.agent

    def with_lines(self, side: Side, lines: tuple[Line, ...]) -> Rehearsal:
        """Return a rehearsal with other lines of ``side``."""
        return replace(self, user=lines) if side == USER else replace(self, agent=lines)


def line_for(rehearsal_lines: Sequence[Line], messages: Sequence[Mapping[str, Any]]) -> Line | None:
    """Return the line that is next after ``messages`` (OpenAI form); ``None`` after the last.

    As many lines are behind us as there are assistant messages: the request alone tells.
    """
    spoken = sum(message.get("role") == "assistant" for message in messages)
    return rehearsal_lines[spoken] if spoken < len(rehearsal_lines) else None


def sabotage(rehearsal: Rehearsal, variant: str) -> Rehearsal:
    """Return ``rehearsal`` changed as ``variant`` says (one of ``REHEARSALS``).

    What is said stays, but for ``mute``. Where the caller has tools that change the world, they count as much
    as the agent's: nobody does what the agent did not bring about.

    Raises:
        UnknownNameError: if there is no such variant.
    """
    try:
        change = _VARIANTS[variant]
    except KeyError:
        names = ", ".join(REHEARSALS)
        raise UnknownNameError(f"no rehearsal '{variant}'; choose one of: {names}") from None
    return change(rehearsal)


Lines = tuple[Line, ...]


def _gold(rehearsal: Rehearsal) -> Rehearsal:
    return rehearsal


def _mute(rehearsal: Rehearsal) -> Rehearsal:
    return replace(rehearsal, agent=tuple(Say("") for _ in rehearsal.agent))


def _no_exit(rehearsal: Rehearsal) -> Rehearsal:
    return replace(rehearsal, agent=tuple(line for line in rehearsal.agent if not _ends(line)))


def _do_nothing(rehearsal: Rehearsal) -> Rehearsal:
    def idle(lines: Lines) -> Lines:
        return tuple(line for line in lines if isinstance(line, Say) or _ends(line))

    return Rehearsal(user=idle(rehearsal.user), agent=idle(rehearsal.agent))


def _drop_last_write(rehearsal: Rehearsal) -> Rehearsal:
    for side, place, _ in _writes_from_last(rehearsal):
        lines = rehearsal.lines(side)
        return rehearsal.with_lines(side, lines[:place] + lines[place + 1 :])
    return rehearsal


def _wrong_argument(rehearsal: Rehearsal) -> Rehearsal:
    for side, place, line in _writes_from_last(rehearsal):
        arguments = copy.deepcopy(dict(line.arguments))
        if _spoil_first_leaf(arguments):
            lines = rehearsal.lines(side)
            spoiled = replace(line, arguments=arguments)
            return rehearsal.with_lines(side, (*lines[:place], spoiled, *lines[place + 1 :]))
    return rehearsal


def _writes_from_last(rehearsal: Rehearsal) -> list[tuple[Side, int, Use]]:
    """Return the calls that change the world, or may (see ``Use.writes``), by side and place, last first."""
    calls = [
        (turn, side, place, line)
        for side in SIDES
        for turn, place, line in _calls(rehearsal.lines(side), agent=side == AGENT)
    ]
    is_told = any(line.writes is not None for *_, line in calls)
    from_last = sorted(calls, key=lambda call: (call[0], call[2]), reverse=True)
    return [(side, place, line) for _, side, place, line in from_last if line.writes or not is_told]


def _calls(lines: Lines, *, agent: bool) -> Iterator[tuple[int, int, Use]]:
    """Yield the turn of the conversation, the place among the lines, and the call itself.

    The agent has the first turn, and the sides take turns with each text.
    """
    turn = 0 if agent else 1
    for place, line in enumerate(lines):
        if isinstance(line, Say):
            turn += 2
        elif not _ends(line):
            yield turn, place, line


_VARIANTS: dict[str, Callable[[Rehearsal], Rehearsal]] = {
    "gold": _gold,
    "mute": _mute,
    "no-exit": _no_exit,
    "drop-last-write": _drop_last_write,
    "wrong-argument": _wrong_argument,
    "do-nothing": _do_nothing,
}
REHEARSALS = tuple(_VARIANTS)


def _ends(line: Line) -> bool:
    return isinstance(line, Use) and (line.ends or line.tool == END_TOOL)


def _spoil_first_leaf(node: dict[str, Any] | list[Any]) -> bool:
    """Make the first scalar in ``node`` (depth first) wrong, in place; return whether there was one."""
    places: list[tuple[Any, Any]] = list(node.items() if isinstance(node, dict) else enumerate(node))
    for key, value in places:
        if isinstance(value, dict | list):
            if _spoil_first_leaf(value):
                return True
        else:
            node[key] = _wrong(value)
            return True
    return False


def _wrong(value: Any) -> Any:
    if isinstance(value, bool):
        return not value
    if isinstance(value, int | float):
        return value + 1
    return f"wrong {value}"
