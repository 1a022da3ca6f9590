from __future__ import annotations

import re
from types import ModuleType

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_voiceeval.scenarios.packs import builtin_pack


def spoken() -> ModuleType:
    return builtin_pack().load_file(builtin_pack().root / "scenarios" / "_spoken.py")


@pytest.mark.parametrize(
    ("told", "said"),
    [
        ("You want a refund for your tea.", ["I want a refund for my tea."]),
        (
            "You're sure. You've paid, and the shop owes you money.",
            ["I am sure I have paid, and the shop owes I money."],
        ),
        ("Ask the agent to give you the id of yours.", ["Ask the agent to give me the id of mine."]),
        (
            "Your order is #W1234567 (for $1,234.50).",
            ["My order is W 1 2 3 4 5 6 7, for 1 2 3 4 point 50 dollars."],
        ),
        (
            "Your id is 'jane_doe_1234', at 3pm on the 28th.",
            ["My id is jane doe 1 2 3 4, at 3pm on the 28th."],
        ),
        ("Now, you want: two cups;\n\none pot...", ["Now I want, two cups, one pot."]),
        ("Tea.", ["I would like to say Tea."]),
        ("", ["I have a question about my account."]),
    ],
)
def test_instructions_are_said_by_the_one_who_was_told(told: str, said: list[str]) -> None:
    assert spoken().utterances(told) == said


def test_a_long_sentence_is_parted_where_a_speaker_would_breathe() -> None:
    told = (
        "You want to send back the kettle that came last week because it leaks at the handle, and you want "
        "to know whether the shop has a larger one that costs less than the one which you have."
    )
    said = spoken().utterances(told)
    assert said == [
        "I want to send back the kettle that came last week because it leaks at the handle.",
        "And I want to know whether the shop has a larger one that costs less than the one which I have.",
    ]


words = st.sampled_from(
    ["you", "your", "tea,", "#W1234567.", "$5", "a_b@c.d", "so", "...", "(1)", "and", "-"]
)


@given(st.one_of(st.text(max_size=80), st.lists(words, max_size=60).map(" ".join)))
def test_whatever_is_told_can_be_spoken(told: str) -> None:
    said = spoken().utterances(told)
    assert said
    for text in said:
        assert len(text.split()) >= 4
        assert text[-1] in ".!?"
        assert not re.search(r"[@#$_&%()\n\"]|\d\d\d", text) or not told.isascii()
        assert not re.match(r"\w+,", text)
