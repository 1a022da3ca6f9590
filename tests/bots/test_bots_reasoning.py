"""What a model thinks is not said, however its text is cut into pieces."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_voiceeval.bots.reasoning import SpokenText


def spoken(*pieces: str) -> str:
    text = SpokenText()
    return "".join([*(text.feed(piece) for piece in pieces), text.end()])


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("Hello there.", "Hello there."),
        ("<think>Who is it?</think>Hello.", "Hello."),
        ("<THINK>a</Think>Hello.", "Hello."),
        ("<thinking>a</thinking>Hello.", "Hello."),
        ("One <think>a</think>two <think>b</think>three.", "One two three."),
        ("Hello.<think>and then", "Hello."),
        ("<think></think>", ""),
        ("a < b, <thing>, <", "a < b, <thing>, <"),
        ("<thin", "<thin"),
        ("late</think>Hello.", "lateHello."),
    ],
)
@given(data=st.data())
def test_thoughts_are_left_out_wherever_the_pieces_begin(text: str, said: str, data: st.DataObject) -> None:
    places = sorted(data.draw(st.sets(st.integers(0, len(text)))))
    cut = [text[a:b] for a, b in zip([0, *places], [*places, len(text)], strict=True)]
    assert spoken(*cut) == said


@given(st.lists(st.text(alphabet="abc <>/")))
def test_text_without_tags_is_said_as_it_is(pieces: list[str]) -> None:
    assert spoken(*pieces) == "".join(pieces)


def test_it_tells_whether_there_were_thoughts() -> None:
    text = SpokenText()
    text.feed("<thi")
    assert not text.has_thought
    text.feed("nk>")
    assert text.has_thought
