"""Turns as they are spoken."""

from __future__ import annotations

import pytest

from pytest_voiceeval.bridge.live import LiveTurns
from pytest_voiceeval.bridge.tape import Mark, MarkKind
from pytest_voiceeval.model.live import LiveTurn
from pytest_voiceeval.model.turns import Side

Told = tuple[Side, MarkKind, float, str]


def turns(*marks: Told) -> list[tuple[int, Side, float, str]]:
    """Return what was told after how many marks; the end of the call counts as one."""
    found: list[tuple[int, Side, float, str]] = []
    number = 0

    def tell(turn: LiveTurn) -> None:
        assert turn.scenario == "shop"
        found.append((number, turn.speaker, turn.at, turn.text))

    live = LiveTurns("shop", tell)
    for number, (side, kind, at, text) in enumerate(marks, 1):  # noqa: B007 - tell reads it
        live.mark(side, Mark(kind, at, text))
    number += 1
    live.end()
    return found


STARTED: Told = ("agent", "started", 1.0, "")
STOPPED: Told = ("agent", "stopped", 2.0, "")


@pytest.mark.parametrize(
    ("marks", "told"),
    [
        pytest.param(
            [STARTED, ("agent", "text", 1.1, "Hello."), ("agent", "text", 1.5, "You?"), STOPPED],
            [(4, "agent", 1.0, "Hello. You?")],
            id="told when its bot stops",
        ),
        pytest.param(
            [STARTED, STOPPED, ("agent", "text", 2.1, "Late."), ("user", "started", 3.0, "")],
            [(4, "agent", 2.1, "Late.")],
            id="a text that comes late is told when the other side begins",
        ),
        pytest.param(
            [("agent", "text", 1.0, "One."), ("agent", "text", 2.0, "Two."), ("user", "text", 3.0, "Three.")],
            [(3, "agent", 1.0, "One. Two."), (4, "user", 3.0, "Three.")],
            id="bots that announce nothing",
        ),
        pytest.param(
            [("agent", "text", 0.9, "Early."), STARTED, ("agent", "text", 1.5, "More.")],
            [(4, "agent", 0.9, "Early. More.")],
            id="the end of the call ends a turn",
        ),
        pytest.param(
            [
                STARTED,
                ("agent", "text", 1.1, "Well"),
                ("user", "started", 1.5, ""),
                ("user", "text", 1.6, "Stop."),
                ("agent", "interrupted", 1.7, ""),
                ("user", "stopped", 1.9, ""),
                STOPPED,
            ],
            [(6, "user", 1.5, "Stop."), (7, "agent", 1.0, "Well")],
            id="both speak at once",
        ),
        pytest.param([STARTED, STOPPED], [], id="nothing was said"),
    ],
)
def test_each_turn_is_told_once_and_as_soon_as_it_is_over(
    marks: list[Told], told: list[tuple[int, Side, float, str]]
) -> None:
    assert turns(*marks) == told
