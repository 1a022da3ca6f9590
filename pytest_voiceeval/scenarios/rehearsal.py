"""Rehearsals: what each side says and does when a script plays the model's part, and sabotages of it."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from pytest_voiceeval.errors import UnknownNameError
from pytest_voiceeval.model.turns import Side

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
        return self.user if side == "user" else self.agent


def line_for(rehearsal_lines: Sequence[Line], messages: Sequence[Mapping[str, Any]]) -> Line | None:
    """Return the line that is next after ``messages`` (OpenAI form); ``None`` after the last.

    As many lines are behind us as there are assistant messages: the request alone tells.
    """
    spoken = sum(message.get("role") == "assistant" for message in messages)
    return rehearsal_lines[spoken] if spoken < len(rehearsal_lines) else None


def sabotage(rehearsal: Rehearsal, variant: str) -> Rehearsal:
    """Return ``rehearsal`` with the agent's lines changed as ``variant`` says (one of ``REHEARSALS``).

    Raises:
        UnknownNameError: if there is no such variant.
    """
    try:
        change = _VARIANTS[variant]
    except KeyError:
        names = ", ".join(REHEARSALS)
        raise UnknownNameError(f"no rehearsal '{variant}'; choose one of: {names}") from None
    return replace(rehearsal, agent=change(rehearsal.agent))


Lines = tuple[Line, ...]


def _gold(lines: Lines) -> Lines:
    return lines


def _mute(lines: Lines) -> Lines:
    return tuple(Say("") for _ in lines)


def _no_exit(lines: Lines) -> Lines:
    return tuple(line for line in lines if not _ends(line))


def _do_nothing(lines: Lines) -> Lines:
    return tuple(line for line in lines if isinstance(line, Say) or _ends(line))


def _drop_last_write(lines: Lines) -> Lines:
    for place in reversed(_writes(lines)):
        return lines[:place] + lines[place + 1 :]
    return lines


def _wrong_argument(lines: Lines) -> Lines:
    for place, line in reversed(_writes(lines).items()):
        arguments = copy.deepcopy(dict(line.arguments))
        if _spoil_first_leaf(arguments):
            return (*lines[:place], replace(line, arguments=arguments), *lines[place + 1 :])
    return lines


def _writes(lines: Lines) -> dict[int, Use]:
    """Return the calls that change the world, or may, by their place: see ``Use.writes``."""
    calls = {i: line for i, line in enumerate(lines) if isinstance(line, Use) and not _ends(line)}
    is_told = any(line.writes is not None for line in calls.values())
    return {i: line for i, line in calls.items() if line.writes or not is_told}


_VARIANTS = {
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
