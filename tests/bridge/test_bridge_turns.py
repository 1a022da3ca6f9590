"""Turns from announcements and sound."""

from __future__ import annotations

import pytest

from pytest_voiceeval.bridge.stretches import Stretch, stretches_of
from pytest_voiceeval.bridge.tape import Mark, Measure, Sound
from pytest_voiceeval.bridge.turns import joined, side_turns, with_work
from pytest_voiceeval.model.turns import AGENT, USER, Turn, response_latencies


def sounds(*spans: tuple[float, float]) -> list[Sound]:
    """Return spans as frames of 20 ms that came in 0.08 s before they were played."""
    return [
        Sound(start + i * 0.02, start + (i + 1) * 0.02, start + i * 0.02 - 0.08)
        for start, end in spans
        for i in range(round((end - start) / 0.02))
    ]


def speech(*spans: tuple[float, float]) -> list[Stretch]:
    """Return spans of sound as stretches."""
    return stretches_of(sounds(*spans))


def test_announcements_that_trail_the_sound_still_own_it() -> None:
    marks = [
        Mark("started", 1.1),
        Mark("text", 2.0, "One."),
        Mark("stopped", 2.3),
        Mark("started", 3.2),
        Mark("stopped", 4.3),
        Mark("text", 4.31, "Two."),
    ]
    first, second = side_turns(AGENT, marks, speech((1.0, 2.0), (3.0, 4.0)))
    assert (first.start, first.end, first.text) == (1.0, pytest.approx(2.0), "One.")
    assert (second.start, second.end, second.text) == (3.0, pytest.approx(4.0), "Two.")
    assert first.spoken_at == pytest.approx(0.92)


def test_a_new_start_closes_the_open_turn() -> None:
    marks = [
        Mark("started", 0.0),
        Mark("text", 0.5, "a"),
        Mark("started", 2.0),
        Mark("text", 2.5, "b"),
        Mark("stopped", 3.0),
    ]
    turns = side_turns(USER, marks, speech((0.1, 1.0), (2.1, 2.9)))
    assert [(turn.text, turn.cut_off) for turn in turns] == [("a", False), ("b", False)]


def test_a_start_without_sound_and_text_is_no_turn() -> None:
    assert side_turns(USER, [Mark("started", 0.0), Mark("stopped", 0.5)], []) == []


def test_text_before_any_start_belongs_to_the_first_turn() -> None:
    marks = [
        Mark("text", 0.0, "Hello"),
        Mark("started", 0.1),
        Mark("text", 0.2, "there."),
        Mark("stopped", 1.0),
    ]
    (turn,) = side_turns(USER, marks, speech((0.2, 0.9)))
    assert turn.text == "Hello there."


def test_sound_far_from_any_announcement_is_a_turn_of_its_own() -> None:
    marks = [Mark("started", 0.0), Mark("text", 0.5, "a"), Mark("stopped", 1.0)]
    turns = side_turns(USER, marks, speech((0.1, 0.9), (5.0, 6.0)))
    assert [turn.text for turn in turns] == ["a", ""]


@pytest.mark.parametrize(
    ("pieces", "text"),
    [
        (["Hello.", "World."], "Hello. World."),
        (["Hello", ",", " world", "!"], "Hello, world!"),
        (["Hello ", "world"], "Hello world"),
        (["  a  ", ""], "a"),
        (["It", "'s"], "It's"),
        (["你好。", "世界"], "你好。世界"),
        (["(", "x", ")"], "( x)"),
        ([], ""),
    ],
)
def test_pieces_of_speech_are_joined_with_right_spacing(pieces: list[str], text: str) -> None:
    assert joined(pieces) == text


def test_response_latency_is_from_the_users_end_to_the_agents_first_sound() -> None:
    turns = [
        Turn(AGENT, 0.0, 1.0, "hi", 0.0),
        Turn(USER, 2.0, 3.0, "order", 1.95),
        Turn(AGENT, 3.6, 5.0, "sure", 3.5),
        Turn(AGENT, 6.0, 7.0, "more", 5.9),
        Turn(USER, 7.5, 8.5, "ok", 7.4),
        Turn(AGENT, 8.2, 9.0, "bye", 8.1),
    ]
    found = [(round(x.seconds, 6), x.user_text, x.agent_text) for x in response_latencies(turns)]
    assert found == [(0.5, "order", "sure"), (-0.4, "ok", "bye")]
    assert response_latencies([]) == []
    with pytest.raises(ValueError, match="sort the turns"):
        response_latencies([turns[2], turns[1]])


def test_work_goes_to_the_turn_it_led_to() -> None:
    turns = [Turn(AGENT, 1.0, 4.0, "Hello. Well.", 0.9), Turn(AGENT, 8.0, 9.0, "Done.", 7.9)]
    measures = [
        Measure("model", 0.5, 0.2),
        Measure("synthesis", 0.8, 0.1),
        Measure("synthesis", 2.0, 0.7),
        Measure("recognition", 6.0, 0.4),
        Measure("model", 6.5, 0.25),
        Measure("model", 7.2, 0.35),
        Measure("synthesis", 8.0, 0.15),
    ]
    first, second = with_work(turns, measures)
    assert first.work == {"model": 0.2, "synthesis": 0.1}
    assert second.work == {"recognition": 0.4, "model": pytest.approx(0.6), "synthesis": 0.15}
    (latency,) = response_latencies([Turn(USER, 5.0, 6.0, "do it"), second])
    assert latency.seconds == pytest.approx(1.9)
    assert latency.rest == pytest.approx(1.9 - 0.4 - 0.6 - 0.15)
    assert response_latencies([Turn(USER, 5.0, 6.0), turns[1]])[0].rest is None
