"""The rehearsals of eva's airline, on the dataset itself where that is here."""

from __future__ import annotations

from pathlib import Path

import pytest
from pack_play import assert_gold_passes, rehearsal_of, scores_of
from pytest_voiceeval.builtin.scenarios import _eva_airline as pack
from pytest_voiceeval.builtin.scenarios import _eva_plays, _eva_tasks

from pytest_voiceeval import Say, Scenario, SuccessSignal, Use
from pytest_voiceeval.model.metrics import Verdict
from pytest_voiceeval.scenarios.rehearsal import sabotage

DATA = Path(__file__).parents[3] / "shared" / "data"
REFUSED = {"5.2.5", "7.1.1", "7.2.2", "7.2.8", "7.3.1", "7.4.1"}

needs_data = pytest.mark.skipif(
    not (DATA / "eva_airline" / _eva_tasks.DATASET).is_file(),
    reason="the data of eva's airline are not beside this repository",
)


@pytest.fixture
def real(monkeypatch: pytest.MonkeyPatch) -> dict[str, Scenario]:
    monkeypatch.setenv("EVAL_DATA_ROOT", str(DATA))
    return {str(cls.task_id): cls() for cls in pack.scenarios(__name__)}


@needs_data
def test_each_scenario_has_a_play_and_each_play_a_scenario(real: dict[str, Scenario]) -> None:
    assert len(real) == 50
    assert real.keys() == _eva_plays.PLAYS.keys()
    assert {task_id for task_id, play in _eva_plays.PLAYS.items() if not play} == REFUSED


@needs_data
@pytest.mark.parametrize("task_id", _eva_plays.PLAYS)
def test_a_play_reaches_what_the_dataset_expects_and_no_sabotage_does(
    real: dict[str, Scenario], task_id: str
) -> None:
    scenario = real[task_id]
    assert_gold_passes(scenario)
    for variant in ("mute", "no-exit"):
        scores = scores_of(scenario, sabotage(rehearsal_of(scenario), variant))
        assert SuccessSignal.CLEAN_EXIT.value in scores.breakdown.failed
    for variant in ("drop-last-write", "wrong-argument", "do-nothing"):
        scores = scores_of(scenario, sabotage(rehearsal_of(scenario), variant))
        is_told = SuccessSignal.DB_STATE_MATCH.value in scores.breakdown.failed
        assert is_told == (task_id not in REFUSED)
        assert (scores.verdict is Verdict.FAILED) == is_told


@needs_data
@pytest.mark.parametrize("task_id", _eva_plays.PLAYS)
def test_every_call_of_a_play_is_needed(real: dict[str, Scenario], task_id: str) -> None:
    scenario = real[task_id]
    rehearsal = rehearsal_of(scenario)
    for place, line in enumerate(rehearsal.agent):
        if isinstance(line, Use) and line.writes:
            agent = rehearsal.agent[:place] + rehearsal.agent[place + 1 :]
            shortened = type(rehearsal)(rehearsal.user, agent)
            assert scores_of(scenario, shortened).verdict is Verdict.FAILED, line


@needs_data
def test_what_is_said_in_rehearsals_can_be_spoken(real: dict[str, Scenario]) -> None:
    for scenario in real.values():
        rehearsal = rehearsal_of(scenario)
        sides = [[x.text for x in rehearsal.lines(side) if isinstance(x, Say)] for side in ("user", "agent")]
        assert len(sides[0]) == len(sides[1]) == len(rehearsal.user)
        for text in sides[0] + sides[1]:
            assert len(text.split()) >= 4, text
            assert not any(symbol in text for symbol in "$:;()_@/%"), text


@needs_data
def test_every_caller_can_say_who_they_are(real: dict[str, Scenario]) -> None:
    for scenario in real.values():
        assert "your confirmation number is" in scenario.user_actions.guidelines[1]
        assert "your last name is" in scenario.user_actions.guidelines[1]
