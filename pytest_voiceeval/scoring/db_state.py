"""Signals on the databases that the bots had at the end of the call."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from pytest_voiceeval.model.conversation import Conversation, SideEvidence
from pytest_voiceeval.model.metrics import SignalResult
from pytest_voiceeval.model.signals import SuccessSignal
from pytest_voiceeval.model.turns import AGENT, SIDES, USER
from pytest_voiceeval.scoring.black_box import why_no_assertions, why_no_db_state
from pytest_voiceeval.world.diff import diff_by_path, shown
from pytest_voiceeval.world.hashing import canonical_form
from pytest_voiceeval.world.predicates import PREDICATES

if TYPE_CHECKING:
    from pytest_voiceeval.scenarios.base import Scenario

MAX_LINES = 30
MAX_CHARACTERS = 500
"""Longest line of a difference: a key of a bot's database may be as long as it likes."""


def db_state_match(scenario: Scenario, conversation: Conversation) -> SignalResult:
    """Return whether the agent's database came out as the scenario expects; the user's is not compared."""
    expected, wanted = scenario.expected_scenario_db, scenario.expected_db_hash
    if wanted is None:
        reason = "the scenario declares no expected database"
        return SignalResult(SuccessSignal.DB_STATE_MATCH, None, None, reason)
    if reason := why_no_db_state(conversation):
        return SignalResult(SuccessSignal.DB_STATE_MATCH, None, None, reason)
    evidence = conversation.agent
    passed = evidence.db_hash == wanted or (_answered_empty(evidence) and not canonical_form(expected))
    explanation = "" if passed else _database_difference(expected, wanted, evidence)
    return SignalResult(SuccessSignal.DB_STATE_MATCH, passed, passed, explanation)


def _answered_empty(evidence: SideEvidence) -> bool:
    """Return whether the bot answered the pull and had no database, or an empty one."""
    return evidence.db_hash is None and evidence.actions is not None


def _database_difference(expected: Any, wanted: str, evidence: SideEvidence) -> str:
    lines = None if evidence.db is None else _difference_lines(expected, evidence.db)
    if lines:
        hidden = len(lines) - MAX_LINES
        shortened = lines if hidden <= 1 else [*lines[:MAX_LINES], f"… and {hidden} more differences"]
        return "\n".join(["the agent's database, expected → found:", *map(_cut, shortened)])
    if evidence.db_hash is None:
        why = f" ({evidence.pull_error})" if evidence.pull_error else ""
        return f"expected a database with hash {wanted}, the agent's bot reported none{why}"
    text = f"expected a database with hash {wanted}, found {evidence.db_hash}"
    if lines is not None:
        return f"{text}, though the database itself is as expected: does the bot hash its canonical form?"
    return text + (f"; the database itself did not come: {evidence.db_error}" if evidence.db_error else "")


def _difference_lines(expected: Any, found: Any) -> list[str] | None:
    """Return the differences by path; ``None`` where a bot's database is nested too deeply to be walked."""
    try:
        return diff_by_path(expected, found)
    except RecursionError:
        return None


def _cut(line: str) -> str:
    return line if len(line) <= MAX_CHARACTERS else f"{line[:MAX_CHARACTERS]} …"


def db_state_assertions(scenario: Scenario, conversation: Conversation) -> SignalResult:
    """Return the share of the scenario's database assertions that hold; it passes at 1.0."""
    verdicts = db_state_assertion_verdicts(scenario, conversation)
    if not verdicts:
        reason = "the scenario declares no database assertions"
        return SignalResult(SuccessSignal.DB_STATE_ASSERTION, None, None, reason)
    if reason := why_no_assertions(scenario, conversation):
        return SignalResult(SuccessSignal.DB_STATE_ASSERTION, None, None, reason)
    failed = [verdict for verdict in verdicts if not verdict["passed"]]
    rate = (len(verdicts) - len(failed)) / len(verdicts)
    explanation = "\n".join(_failed_assertion(verdict) for verdict in failed)
    return SignalResult(SuccessSignal.DB_STATE_ASSERTION, not failed, rate, explanation)


def db_state_assertion_verdicts(scenario: Scenario, conversation: Conversation) -> list[dict[str, Any]]:
    """Return one verdict for each assertion of the scenario, in order."""
    return [
        evaluate_db_state_assertion(
            assertion,
            domain=scenario.domain,
            db=conversation.agent.db,
            user_db=conversation.user.db,
        )
        for assertion in scenario.db_state_assertions or []
    ]


def _failed_assertion(verdict: Mapping[str, Any]) -> str:
    claim = f"{verdict['func_name']} ({verdict['side']} database)"
    if verdict["error"]:
        outcome = str(verdict["error"])
    else:
        outcome = f"expected {shown(verdict['expected'])}, found {shown(verdict['actual'])}"
    return f"{claim}: {outcome}" + (f"; {verdict['message']}" if verdict["message"] else "")


def evaluate_db_state_assertion(
    assertion: Mapping[str, Any],
    *,
    domain: str,
    db: Mapping[str, Any] | None,
    user_db: Mapping[str, Any] | None,
) -> dict[str, Any]:
    """Return the verdict on one assertion; whatever goes wrong is its ``error``, nothing is raised.

    Args:
        assertion: ``side``, ``func_name``, ``arguments``, ``assert_value``, ``message``.
        domain: where the predicate is registered.
        db: the agent's database, ``None`` if it was not pulled.
        user_db: the user's.
    """
    side, name = assertion.get("side"), assertion.get("func_name")
    verdict: dict[str, Any] = {
        "func_name": name,
        "side": side,
        "passed": False,
        "expected": assertion.get("assert_value"),
        "actual": None,
        "message": assertion.get("message"),
        "error": None,
    }
    if side not in SIDES:
        return verdict | {"error": f"no side {side!r}; write {USER!r} or {AGENT!r}"}
    pulled = user_db if side == USER else db
    if pulled is None:
        return verdict | {"error": f"the {side}'s database was not pulled from its bot"}
    predicate = PREDICATES.find(domain, name) if isinstance(name, str) else None
    if predicate is None:
        return verdict | {"error": PREDICATES.unknown(domain, name)}
    try:
        actual = predicate(pulled, **(assertion.get("arguments") or {}))
        return verdict | {"actual": actual, "passed": bool(actual == verdict["expected"])}
    except Exception as exc:  # a pack's predicate may raise anything; it becomes the verdict's error
        return verdict | {"error": f"Predicate raised: {type(exc).__name__}: {exc}"}
