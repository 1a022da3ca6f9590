from __future__ import annotations

from typing import Any

import pytest
from scoring_calls import call, declare

from pytest_voiceeval.model.conversation import SideEvidence
from pytest_voiceeval.scoring.db_state import (
    db_state_assertion_verdicts,
    db_state_assertions,
    db_state_match,
    evaluate_db_state_assertion,
)
from pytest_voiceeval.world.hashing import get_dict_hash
from pytest_voiceeval.world.registry import DomainRegistry

DB = {"orders": {"A1": {"status": "cancelled"}}}
OTHER_DB = {"orders": {"A1": {"status": "open"}}}
FIELDS = ["func_name", "side", "passed", "expected", "actual", "message", "error"]


def pulled(db: dict[str, Any], *, with_db: bool = True) -> SideEvidence:
    return SideEvidence(actions=(), db_hash=get_dict_hash(db), db=db if with_db else None)


def test_a_scenario_without_expected_database_has_no_match_to_make() -> None:
    result = db_state_match(declare(), call(agent=pulled(DB)))
    assert (result.passed, result.value) == (None, None)
    assert result.explanation == "the scenario declares no expected database"


def test_the_agents_database_is_compared_and_not_the_users() -> None:
    scenario = declare(expected_scenario_db=DB)
    assert db_state_match(scenario, call(agent=pulled(DB), user=pulled(OTHER_DB))).passed is True
    assert db_state_match(scenario, call(agent=pulled(OTHER_DB), user=pulled(DB))).passed is False


def test_a_wrong_database_is_told_by_path_where_it_was_pulled() -> None:
    result = db_state_match(declare(expected_scenario_db=DB), call(agent=pulled(OTHER_DB)))
    assert result.value is False
    assert result.explanation.splitlines() == [
        "the agent's database, expected → found:",
        'orders.A1.status: "cancelled" → "open"',
    ]


def test_a_very_wrong_database_is_told_in_part() -> None:
    expected = {"orders": {f"A{n}": n for n in range(40)}}
    result = db_state_match(declare(expected_scenario_db=expected), call(agent=pulled({"orders": {}})))
    assert result.explanation.splitlines()[-1] == "… and 10 more differences"


def test_a_wrong_database_is_told_by_hash_where_it_was_not_pulled() -> None:
    result = db_state_match(declare(expected_scenario_db=DB), call(agent=pulled(OTHER_DB, with_db=False)))
    assert result.explanation == (
        f"expected a database with hash {get_dict_hash(DB)}, found {get_dict_hash(OTHER_DB)}"
    )


def test_a_bot_that_hashes_in_a_way_of_its_own_is_told_so() -> None:
    evidence = SideEvidence(actions=(), db_hash="ab", db=DB)
    result = db_state_match(declare(expected_scenario_db=DB), call(agent=evidence))
    assert result.passed is False
    assert result.explanation.endswith(
        "found ab, though the database itself is as expected: does the bot hash its canonical form?"
    )


def test_a_key_of_any_length_is_cut() -> None:
    result = db_state_match(declare(expected_scenario_db=DB), call(agent=pulled({"k" * 10_000: 1})))
    assert max(map(len, result.explanation.splitlines())) <= 502


def test_no_database_fails_and_says_why() -> None:
    evidence = SideEvidence(pull_error="no answer within 30 s")
    result = db_state_match(declare(expected_scenario_db=DB), call(agent=evidence))
    assert result.passed is False
    assert result.explanation.endswith("the agent's bot reported none (no answer within 30 s)")


@pytest.mark.parametrize(
    ("evidence", "passed"),
    [
        pytest.param(SideEvidence(actions=()), True, id="answered with no hash"),
        pytest.param(SideEvidence(actions=(), db_hash=get_dict_hash({})), True, id="answered with its hash"),
        pytest.param(SideEvidence(), False, id="never answered"),
        pytest.param(pulled(DB), False, id="something is there"),
    ],
)
def test_an_empty_database_can_be_expected(evidence: SideEvidence, passed: bool) -> None:
    assert db_state_match(declare(expected_scenario_db={}), call(agent=evidence)).passed is passed


@pytest.fixture
def _predicates(monkeypatch: pytest.MonkeyPatch) -> None:
    def status_is(db: dict[str, Any], order: str, status: str) -> bool:
        return bool(db["orders"][order]["status"] == status)

    def order_count(db: dict[str, Any]) -> int:
        return len(db["orders"])

    registry: DomainRegistry[Any] = DomainRegistry("predicate")
    registry.add("shop", "status_is", status_is)
    registry.add("shop", "order_count", order_count)
    monkeypatch.setattr("pytest_voiceeval.scoring.db_state.PREDICATES", registry)


CANCELLED = {
    "side": "agent",
    "func_name": "status_is",
    "arguments": {"order": "A1", "status": "cancelled"},
    "assert_value": True,
}
COUNTED = {"side": "user", "func_name": "order_count", "arguments": None, "assert_value": 1}


def evaluate(**changes: Any) -> dict[str, Any]:
    assertion = {**CANCELLED, **changes}
    return evaluate_db_state_assertion(assertion, domain="shop", db=DB, user_db=None)


@pytest.mark.usefixtures("_predicates")
def test_a_verdict_has_all_fields_in_order() -> None:
    verdict = evaluate(message="the order is gone")
    assert list(verdict) == FIELDS
    assert list(evaluate(side="nobody")) == FIELDS
    assert verdict == {
        "func_name": "status_is",
        "side": "agent",
        "passed": True,
        "expected": True,
        "actual": True,
        "message": "the order is gone",
        "error": None,
    }


@pytest.mark.usefixtures("_predicates")
@pytest.mark.parametrize(
    ("changes", "error"),
    [
        pytest.param({"side": "nobody"}, "no side 'nobody'; write 'user' or 'agent'", id="side"),
        pytest.param({"side": ["user"]}, "no side ['user']; write 'user' or 'agent'", id="kind of side"),
        pytest.param({"side": "user"}, "the user's database was not pulled from its bot", id="database"),
        pytest.param(
            {"func_name": "gone"},
            "no predicate 'gone' in domain 'shop'; registered: order_count, status_is",
            id="predicate",
        ),
        pytest.param({"func_name": None}, "no predicate None in domain", id="no predicate"),
        pytest.param(
            {"arguments": {"order": "B9", "status": ""}}, "Predicate raised: KeyError: 'B9'", id="raises"
        ),
        pytest.param({"arguments": {}}, "Predicate raised: TypeError: ", id="argument missing"),
        pytest.param({"arguments": [1]}, "Predicate raised: TypeError: ", id="arguments"),
    ],
)
def test_what_goes_wrong_is_the_verdicts_error(changes: dict[str, Any], error: str) -> None:
    verdict = evaluate(**changes)
    assert (verdict["passed"], verdict["actual"]) == (False, None)
    assert verdict["error"].startswith(error)


@pytest.mark.usefixtures("_predicates")
def test_a_missing_assert_value_expects_null() -> None:
    verdict = evaluate_db_state_assertion(
        {"side": "agent", "func_name": "order_count"}, domain="shop", db=DB, user_db=None
    )
    assert (verdict["passed"], verdict["expected"], verdict["actual"]) == (False, None, 1)


@pytest.mark.usefixtures("_predicates")
def test_the_rate_is_the_share_that_holds_and_failures_are_told() -> None:
    scenario = declare(domain="shop", db_state_assertions=[CANCELLED, COUNTED])
    result = db_state_assertions(scenario, call(agent=pulled(OTHER_DB), user=pulled(DB)))
    assert (result.passed, result.value) == (False, 0.5)
    assert result.explanation == "status_is (agent database): expected true, found false"
    assert [v["passed"] for v in db_state_assertion_verdicts(scenario, call(agent=pulled(DB)))] == [
        True,
        False,
    ]


@pytest.mark.usefixtures("_predicates")
def test_a_failed_assertion_is_told_with_its_message() -> None:
    scenario = declare(domain="shop", db_state_assertions=[{**COUNTED, "message": "ask the caller"}])
    result = db_state_assertions(scenario, call())
    assert result.explanation == (
        "order_count (user database): the user's database was not pulled from its bot; ask the caller"
    )


@pytest.mark.usefixtures("_predicates")
def test_all_assertions_holding_pass() -> None:
    scenario = declare(domain="shop", db_state_assertions=[CANCELLED, COUNTED])
    result = db_state_assertions(scenario, call(agent=pulled(DB), user=pulled(DB)))
    assert (result.passed, result.value, result.explanation) == (True, 1.0, "")


@pytest.mark.parametrize("assertions", [None, []], ids=["null", "empty"])
def test_no_assertions_do_not_apply(assertions: Any) -> None:
    result = db_state_assertions(declare(db_state_assertions=assertions), call())
    assert (result.passed, result.value) == (None, None)
    assert result.explanation == "the scenario declares no database assertions"
