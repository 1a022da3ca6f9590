from __future__ import annotations

from typing import Any

import pytest
from scoring_calls import call, declare

from pytest_voiceeval.model.conversation import ActionRecord, SideEvidence
from pytest_voiceeval.scoring.payload import prediction_payload, reference_payload

NOT_PULLED = SideEvidence()
PULLED_EMPTY = SideEvidence(actions=())


@pytest.mark.parametrize("agent", [NOT_PULLED, PULLED_EMPTY], ids=["not pulled", "pulled empty"])
def test_without_actions_the_pushes_are_the_answers(agent: SideEvidence) -> None:
    pushes = ('{"a":1}', "not json", "[1]", "5", '{"a": NaN}', "[" * 100_000)
    assert prediction_payload(call(agent=agent, pushed=pushes)) == [
        {"a": 1},
        {"message": "not json"},
        [1],
        5,
        {"message": '{"a": NaN}'},
        {"message": "[" * 100_000},
    ]


def test_actions_hide_the_pushes_and_carry_their_side() -> None:
    agent = SideEvidence(actions=(ActionRecord("agent", {"name": "x"}),))
    user = SideEvidence(actions=(ActionRecord("user", {"name": "y", "side": "agent"}),))
    payload = prediction_payload(call(agent=agent, user=user, pushed=('{"a": 1}',)))
    assert payload == [{"actions": [{"side": "agent", "name": "x"}, {"side": "user", "name": "y"}]}]
    assert list(payload[0]["actions"][0]) == ["side", "name"]


def test_without_anything_an_empty_pull_is_told_from_none() -> None:
    assert prediction_payload(call(agent=PULLED_EMPTY)) == [{"actions": []}]
    assert prediction_payload(call(agent=NOT_PULLED)) == []


@pytest.mark.parametrize(
    ("answer", "payload"),
    [
        ({"a": 1}, {"a": 1}),
        ([{"a": 1}], [{"a": 1}]),
        ("yes", {"message": "yes"}),
        (None, None),
        ({}, None),
        ([], None),
        ("", None),
    ],
    ids=range(7),
)
def test_a_reference_is_an_object_a_list_or_a_message(answer: Any, payload: Any) -> None:
    assert reference_payload(declare(reference_answer=answer)) == payload
