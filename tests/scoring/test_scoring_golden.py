from __future__ import annotations

import golden_files as golden
import pytest
import telecom_predicates

from pytest_voiceeval.world import predicates
from pytest_voiceeval.world.registry import DomainRegistry


@pytest.mark.parametrize("case", golden.cases("match_str_and_float"))
def test_scalars_match_as_in_the_reference(case: golden.Case) -> None:
    golden.assert_holds(case, golden.run_match_str_and_float)


@pytest.mark.parametrize("case", golden.cases("match_item"))
def test_items_match_as_in_the_reference(case: golden.Case) -> None:
    golden.assert_holds(case, golden.run_match_item)


@pytest.mark.parametrize("case", golden.cases("match_list"))
def test_lists_match_as_in_the_reference(case: golden.Case) -> None:
    golden.assert_holds(case, golden.run_match_list)


@pytest.mark.parametrize("case", golden.cases("match_dict"))
def test_objects_match_as_in_the_reference(case: golden.Case) -> None:
    golden.assert_holds(case, golden.run_match_dict)


@pytest.mark.parametrize("case", golden.cases("match_action"))
def test_actions_match_as_in_the_reference(case: golden.Case) -> None:
    golden.assert_holds(case, golden.run_match_action)


@pytest.mark.parametrize("case", golden.cases("check_if_task_success"))
def test_answers_match_as_in_the_reference(case: golden.Case) -> None:
    golden.assert_holds(case, golden.run_check_if_task_success)


@pytest.mark.parametrize("case", golden.cases("normalize_scenario_payload"))
def test_payloads_are_normalised_as_in_the_reference(case: golden.Case) -> None:
    golden.assert_holds(case, golden.run_normalize_scenario_payload)


@pytest.mark.parametrize("case", golden.cases("compute_is_successful"))
def test_signals_combine_as_in_the_reference(case: golden.Case) -> None:
    golden.assert_holds(case, golden.run_compute_is_successful)


@pytest.fixture
def telecom(monkeypatch: pytest.MonkeyPatch) -> None:
    """Stand-ins for the predicates of the telecom domain, in a registry of their own."""
    registry: DomainRegistry[predicates.Predicate] = DomainRegistry("predicate")
    for predicate in telecom_predicates.ALL:
        registry.add("tau2_telecom", predicate.__name__, predicate)
    monkeypatch.setattr("pytest_voiceeval.scoring.db_state.PREDICATES", registry)


@pytest.mark.usefixtures("telecom")
@pytest.mark.parametrize("case", golden.cases("evaluate_db_state_assertion"))
def test_db_assertions_hold_as_in_the_reference(case: golden.Case) -> None:
    golden.assert_holds(case, golden.run_evaluate_db_state_assertion)


@pytest.mark.parametrize("case", golden.cases("evaluate_conversation_end"))
def test_ends_are_valid_as_the_documentation_says(case: golden.Case) -> None:
    golden.assert_holds(case, golden.run_evaluate_conversation_end)
