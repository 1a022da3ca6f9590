"""Turns of bots that announce their speech late, early, or never."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scripted_calls import hold

from pytest_voiceeval.audio.jitter import PlayedFrame
from pytest_voiceeval.bridge.stretches import Stretch, is_answered, stretches_of
from pytest_voiceeval.bridge.tape import Mark, Sound, Tape
from pytest_voiceeval.bridge.turns import side_turns, turns_of
from pytest_voiceeval.model.turns import AGENT, USER, Side, Turn, other, response_latencies
from pytest_voiceeval.testing import FakeBot, Utterance, exit_message

HELD_BACK = 0.08
FRAME = 0.02


@dataclass(frozen=True)
class Said:
    """An utterance, and how much later than it its start and its end are announced; ``None``: never."""

    start: float
    end: float
    delays: tuple[float, float] | None = None

    def marks(self) -> list[Mark]:
        if self.delays is None:
            return []
        started = self.start + self.delays[0]
        return [Mark("started", started), Mark("stopped", max(self.end + self.delays[1], started))]


def stretches(script: Sequence[Said]) -> list[Stretch]:
    sounds = []
    for said in script:
        for i in range(math.ceil((said.end - said.start) / FRAME - 1e-6)):
            at = said.start + i * FRAME
            end = min(at + FRAME, said.end)
            sounds.append(Sound(at + HELD_BACK, end + HELD_BACK, at))
    return stretches_of(sounds)


def turns_between(user: Sequence[Said], agent: Sequence[Said]) -> list[Turn]:
    speech = {USER: stretches(user), AGENT: stretches(agent)}
    turns: list[Turn] = []
    scripts: tuple[tuple[Side, Sequence[Said]], ...] = ((USER, user), (AGENT, agent))
    for side, script in scripts:
        marks = sorted((mark for said in script for mark in said.marks()), key=lambda mark: mark.at)
        turns += side_turns(side, marks, speech[side], speech[other(side)])
    return sorted(turns, key=lambda turn: turn.start)


def spoken(turns: Sequence[Turn], side: Side = USER) -> list[tuple[float | None, float]]:
    return [(turn.spoken_at, turn.end - HELD_BACK) for turn in turns if turn.speaker == side]


def script(spans: Sequence[tuple[float, float]], delays: tuple[float, float] | None) -> list[Said]:
    return [Said(start, end, delays) for start, end in spans]


IN_TIME = (-0.0001, 0.0)
LATE = (0.25, 0.8)
QUICK_AGENT = [(0.5, 1.0), (1.6, 1.8), (2.2, 2.4), (2.8, 3.0)]
QUICK_USER = [(1.2, 1.5), (1.9, 2.1), (2.5, 2.7)]


@pytest.mark.parametrize(
    ("user", "agent", "seconds"),
    [
        pytest.param(
            script([(1.2, 1.5), (2.2, 2.5), (3.2, 3.5)], (0.02, 0.8)),
            script([(0.5, 1.0), (1.8, 2.1), (2.8, 3.1), (3.8, 4.2)], (0.02, 0.8)),
            0.22,
            id="ends-late",
        ),
        pytest.param(
            script([(1.2, 1.5), (2.4, 2.7), (3.6, 3.9)], LATE),
            script([(0.5, 1.0), (1.8, 2.2), (3.0, 3.4), (4.2, 4.6)], LATE),
            0.22,
            id="late",
        ),
        pytest.param(
            script([(1.2, 1.5), (2.4, 2.7), (3.6, 3.9)], (0.6, 1.5)),
            script([(0.5, 1.0), (1.8, 2.2), (3.0, 3.4), (4.2, 4.6)], (0.6, 1.5)),
            0.22,
            id="later-than-the-sound",
        ),
        pytest.param(
            script([(1.2, 1.6), (2.3, 2.7), (3.4, 3.8)], None),
            script([(0.5, 1.0), (1.8, 2.1), (2.9, 3.2), (4.0, 4.3)], IN_TIME),
            0.12,
            id="user-never",
        ),
        pytest.param(script(QUICK_USER, None), script(QUICK_AGENT, None), 0.02, id="never"),
        pytest.param(script(QUICK_USER, (-0.3, -0.2)), script(QUICK_AGENT, (-0.3, -0.2)), 0.02, id="early"),
    ],
)
def test_a_quick_exchange_gives_every_latency_whenever_it_is_announced(
    user: list[Said], agent: list[Said], seconds: float
) -> None:
    turns = turns_between(user, agent)
    assert spoken(turns, USER) == [(said.start, pytest.approx(said.end)) for said in user]
    assert spoken(turns, AGENT) == [(said.start, pytest.approx(said.end)) for said in agent]
    assert [latency.seconds for latency in response_latencies(turns)] == pytest.approx([seconds] * 3)


DELAYS = st.tuples(st.integers(0, 500), st.integers(-200, 1000)).map(lambda ms: (ms[0] / 1e3, ms[1] / 1e3))


@st.composite
def dialogues(draw: st.DrawFn) -> dict[Side, list[Said]]:
    """Draw what two sides say by turns, with pauses of each side of 0.25 s and more."""
    announces = {side: draw(st.booleans()) for side in (USER, AGENT)}
    said: dict[Side, list[Said]] = {USER: [], AGENT: []}
    side, at = draw(st.sampled_from([USER, AGENT])), 500
    for _ in range(draw(st.integers(2, 10))):
        end = at + draw(st.integers(300, 3000))
        said[side].append(Said(at / 1e3, end / 1e3, draw(DELAYS) if announces[side] else None))
        side, at = other(side), end + draw(st.integers(-20, 1500))
    return said


@given(dialogues())
def test_there_are_as_many_turns_as_utterances_and_each_begins_with_its_own_sound(
    said: dict[Side, list[Said]],
) -> None:
    turns = turns_between(said[USER], said[AGENT])
    for side, utterances in said.items():
        found = [(turn.spoken_at, turn.end) for turn in turns if turn.speaker == side]
        assert [start for start, _ in found] == [utterance.start for utterance in utterances]
        ends = [utterance.end + HELD_BACK for utterance in utterances]
        assert [end for _, end in found] == pytest.approx(ends)


@pytest.mark.parametrize("pause", [0.25, 0.5])
def test_a_late_start_begins_with_its_sound_also_where_nobody_answered(pause: float) -> None:
    second = Said(2.0 + pause, 3.5, LATE)
    turns = turns_between([Said(1.0, 2.0, LATE), second], [])
    assert spoken(turns) == [(1.0, pytest.approx(2.0)), (second.start, pytest.approx(3.5))]


def test_a_start_within_speech_parts_it_where_it_is_announced() -> None:
    speech = stretches([Said(1.0, 3.0)])
    before_the_sound = [Mark("started", 0.99), Mark("started", 2.0), Mark("stopped", 3.0)]
    within_it = [Mark("started", 1.1), Mark("started", 2.0), Mark("stopped", 3.0)]
    for marks in (before_the_sound, within_it):
        turns = side_turns(USER, marks, speech)
        assert spoken(turns) == [
            (1.0, pytest.approx(2.0, abs=FRAME)),
            (pytest.approx(2.0, abs=FRAME), pytest.approx(3.0)),
        ]


def test_an_end_that_comes_after_the_next_start_does_not_end_that_turn() -> None:
    marks = [Mark("started", 1.02), Mark("started", 2.72), Mark("stopped", 2.8), Mark("stopped", 6.8)]
    turns = side_turns(USER, marks, stretches([Said(1.0, 2.0), Said(2.7, 3.0), Said(4.0, 6.0)]))
    assert spoken(turns) == [(1.0, pytest.approx(2.0)), (2.7, pytest.approx(6.0))]


def test_an_end_of_nothing_changes_nothing() -> None:
    marks = [Mark("started", 1.0), Mark("started", 2.0), *(Mark("stopped", at) for at in (2.5, 3.0, 6.0))]
    turns = side_turns(USER, marks, stretches([Said(1.0, 1.5), Said(2.0, 2.5), Said(5.0, 6.0)]))
    assert [turn.spoken_at for turn in turns] == [1.0, 2.0, 5.0]


def test_a_start_far_within_speech_of_an_announced_turn_parts_it_there() -> None:
    marks = [Mark("started", 1.0), Mark("started", 4.5), Mark("stopped", 5.0)]
    turns = side_turns(USER, marks, stretches([Said(1.0, 2.0), Said(3.0, 5.0)]))
    assert [turn.spoken_at for turn in turns] == [1.0, pytest.approx(4.5, abs=FRAME)]


def test_a_start_far_before_any_sound_does_not_keep_the_next_one_from_its_sound() -> None:
    marks = [Mark("started", 1.0), Mark("text", 1.1, "Hm."), Mark("started", 3.25), Mark("stopped", 4.0)]
    turns = side_turns(USER, marks, stretches([Said(3.0, 4.0)]))
    assert [(turn.start, turn.end) for turn in turns] == [(1.0, 1.0), (3.0 + HELD_BACK, pytest.approx(4.08))]


def test_long_speech_of_which_the_start_is_announced_behind_it_is_that_turn() -> None:
    turns = side_turns(USER, [Mark("started", 3.3), Mark("text", 3.4, "One.")], stretches([Said(1.0, 3.0)]))
    assert [(turn.spoken_at, turn.text) for turn in turns] == [(1.0, "One.")]


def test_speech_without_a_pause_is_one_turn_however_early_its_end_is_announced() -> None:
    turns = turns_between([Said(1.0, 6.0, (0.0, -4.0))], [])
    assert spoken(turns) == [(1.0, pytest.approx(6.0))]


def test_a_text_stays_with_the_turn_that_was_announced_last() -> None:
    marks = [
        Mark("started", 1.25),
        Mark("text", 1.3, "One."),
        Mark("text", 2.75, "And"),
        Mark("started", 2.95),
        Mark("text", 3.0, "two."),
        Mark("stopped", 4.5),
    ]
    turns = side_turns(USER, marks, stretches([Said(1.0, 2.0), Said(2.7, 3.7)]))
    assert [(turn.spoken_at, turn.text) for turn in turns] == [(1.0, "One. And"), (2.7, "two.")]


def test_what_is_not_announced_after_the_other_side_answered_is_a_turn_of_its_own() -> None:
    user = [Said(1.0, 1.5, IN_TIME), Said(2.1, 2.5)]
    answered = turns_between(user, [Said(1.6, 2.0)])
    assert spoken(answered) == [(1.0, pytest.approx(1.5)), (2.1, pytest.approx(2.5))]
    assert spoken(turns_between(user, [])) == [(1.0, pytest.approx(2.5))]


@pytest.mark.parametrize(
    ("agent", "is_parted"),
    [
        ([], False),
        ([Said(1.2, 1.4)], False),
        ([Said(1.2, 2.15)], False),
        ([Said(0.5, 3.5)], False),
        ([Said(2.1, 2.2)], True),
        ([Said(1.95, 2.25)], True),
        ([Said(2.2, 3.5)], True),
    ],
    ids=["silent", "back-channel", "echo", "talking", "answer", "early-answer", "barged-into"],
)
def test_speech_that_nobody_announces_is_parted_where_the_other_side_speaks_up(
    agent: list[Said], is_parted: bool
) -> None:
    turns = turns_between([Said(1.0, 2.0), Said(2.3, 3.0)], agent)
    one = [(1.0, pytest.approx(3.0))]
    two = [(1.0, pytest.approx(2.0)), (2.3, pytest.approx(3.0))]
    assert spoken(turns) == (two if is_parted else one)


def test_words_that_are_understood_while_the_next_ones_are_said_belong_to_those_before() -> None:
    said = {USER: [Said(1.6, 1.9)], AGENT: [Said(1.0, 1.5), Said(2.0, 4.0), Said(4.4, 5.0)]}
    tape = Tape(16_000, 320)
    for number in range(300):
        at = number * FRAME - HELD_BACK + FRAME / 2
        loud = {side: any(one.start < at < one.end for one in said[side]) for side in said}
        frames = {
            side: PlayedFrame(np.full(320, 5000 * loud[side], np.int16), ((0, HELD_BACK),)) for side in said
        }
        tape.record(frames[USER], frames[AGENT])
    texts = [(2.4, "Hello."), (3.5, "What may"), (4.5, "it be?"), (5.3, "Tell me.")]
    tape.track(USER).understood += [Mark("text", at, text) for at, text in texts]
    assert [(turn.speaker, turn.text) for turn in turns_of(tape, heard=[AGENT])] == [
        (AGENT, "Hello."),
        (USER, ""),
        (AGENT, "What may it be? Tell me."),
    ]


def test_a_silence_within_words_parts_nothing() -> None:
    (stretch,) = stretches([Said(1.0, 1.5), Said(1.69, 2.0)])
    assert (stretch.spoken_at, stretch.spoken_until) == (1.0, pytest.approx(2.0))
    assert len(stretches([Said(1.0, 1.5), Said(1.71, 2.0)])) == 2
    assert stretches_of([]) == []
    assert not is_answered([], 1.0, 2.0)


class Tardy(FakeBot):
    """Announces its speech late: each start and each end by so many seconds."""

    def __init__(
        self, side: Side, lines: Sequence[Utterance], late: tuple[float, float], **options: Any
    ) -> None:
        super().__init__(side, lines, **options)
        self._late = dict(zip(("bot-started-speaking", "bot-stopped-speaking"), late, strict=True))
        self._told: list[asyncio.Task[None]] = []

    async def _tell(self, connection: Any, kind: str, data: Any, message_id: str | None = None) -> None:
        tell = super()._tell

        async def tell_late() -> None:
            await asyncio.sleep(self._late[kind])
            await tell(connection, kind, data, message_id)

        if kind in self._late:
            self._told.append(asyncio.get_running_loop().create_task(tell_late()))
        else:
            await tell(connection, kind, data, message_id)


def true_latencies(user: FakeBot, agent: FakeBot) -> list[float]:
    """Return what the agent knows: when it began each answer, and when it had heard the last sound before."""
    heard = [
        (at, np.flatnonzero(np.abs(np.frombuffer(pcm, "<i2").astype(int)) > 164)) for at, pcm in agent.heard
    ]
    ends = [at + (loud[-1] + 1) / 16_000 for at, loud in heard if len(loud)]
    return [begun - max(end for end in ends if end <= begun) for begun, _ in agent.spoken[1:]]


@pytest.mark.parametrize("late", [LATE, (0.02, 0.8), None], ids=["late", "ends-late", "never"])
def test_latencies_of_quick_bots_are_right_however_late_they_announce(
    late: tuple[float, float] | None,
) -> None:
    delays, announces = late or LATE, late is not None
    closing = Utterance("Good bye.", 0.4, late_sends=(exit_message(),))
    lines = [*(Utterance(f"Agent {n}.", 0.3) for n in range(3)), closing]
    agent = Tardy(AGENT, lines, delays, answer_after=0.12, announces=announces)
    lines = [Utterance(f"User {n}.", 0.3, 500) for n in range(3)]
    user = Tardy(USER, lines, delays, answer_after=0.12, announces=announces)
    conversation = hold(user, agent)
    assert [turn.speaker for turn in conversation.turns] == [AGENT, USER] * 3 + [AGENT]
    pauses = [b.start - a.end for a, b in pairwise(t for t in conversation.turns if t.speaker == USER)]
    assert max(pauses) < 0.9
    found = [latency.seconds for latency in conversation.latencies]
    assert found == pytest.approx(true_latencies(user, agent), abs=0.005)
    assert len(found) == 3
