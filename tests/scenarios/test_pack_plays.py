"""Rehearsals of hand-written packs: the gold one passes, and a sabotaged one fails by what it leaves out."""

from __future__ import annotations

import pytest
from pack_play import assert_gold_passes, get, rehearsal_of, scores_of

from pytest_voiceeval import SuccessSignal, list_eval_scenarios
from pytest_voiceeval.scenarios.packs import builtin_pack
from pytest_voiceeval.scenarios.rehearsal import sabotage

builtin_pack().load()

PACKS = {"restaurant": 11, "customer_service": 10}
NAMES = [name for name in list_eval_scenarios() if name.partition("__")[0] in PACKS]


def test_all_scenarios_of_the_packs_are_played() -> None:
    assert {pack: sum(name.startswith(f"{pack}__") for name in NAMES) for pack in PACKS} == PACKS


@pytest.mark.parametrize("name", NAMES)
def test_the_gold_rehearsal_gives_the_reference_answer_and_ends_the_call(name: str) -> None:
    assert_gold_passes(get(name))


@pytest.mark.parametrize("variant", ["mute", "drop-last-write", "wrong-argument", "do-nothing"])
@pytest.mark.parametrize("name", NAMES)
def test_a_sabotaged_rehearsal_does_not_give_the_reference_answer(name: str, variant: str) -> None:
    scenario = get(name)
    scores = scores_of(scenario, sabotage(rehearsal_of(scenario), variant))
    assert SuccessSignal.ACTION_MATCH.value in scores.breakdown.failed


@pytest.mark.parametrize("name", NAMES)
def test_without_exit_the_answer_is_given_but_the_call_is_not_ended(name: str) -> None:
    scenario = get(name)
    scores = scores_of(scenario, sabotage(rehearsal_of(scenario), "no-exit"))
    assert scores.breakdown.failed == (SuccessSignal.CLEAN_EXIT.value,)
