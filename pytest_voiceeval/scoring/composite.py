"""All signals of a call, and the verdict that they come to."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

from pytest_voiceeval.errors import DefinitionError
from pytest_voiceeval.model.conversation import Conversation, StopReason
from pytest_voiceeval.model.metrics import Breakdown, Scores, SignalResult, Verdict
from pytest_voiceeval.model.signals import SuccessSignal
from pytest_voiceeval.scoring.action_diff import explain_mismatch
from pytest_voiceeval.scoring.db_state import db_state_assertions, db_state_match
from pytest_voiceeval.scoring.evidence import action_match_notes
from pytest_voiceeval.scoring.match import MatchRules, check_if_task_success
from pytest_voiceeval.scoring.payload import prediction_payload, reference_payload

if TYPE_CHECKING:
    from pytest_voiceeval.scenarios.base import Scenario

NOT_APPLICABLE = "N/A"
NO_JUDGE = "no judge is configured"

_HOW_IT_ENDED = {
    StopReason.TIMEOUT: "the time limit was reached",
    StopReason.INACTIVITY: "nobody made a sound any more",
    StopReason.AGENT_HANGUP: "the agent's connection closed before that",
    StopReason.USER_HANGUP: "the simulated user went away",
    StopReason.CANCELLED: "the run was interrupted",
    StopReason.ERROR: "the call broke off by an error that is not the agent's",
}


def score(scenario: Scenario, conversation: Conversation, *, strict_match: bool = False) -> Scores:
    """Return all six signals of a call, in the order of ``SuccessSignal``, and the verdict.

    ``strict_match`` disallows extra items whatever the scenario says.

    Raises:
        DefinitionError: if the scenario's whitelist is wrong, or what it makes of the signals is
            no verdict.
    """
    whitelist = scenario.whitelist
    results = (
        action_match(scenario, conversation, strict_match=strict_match),
        db_state_match(scenario, conversation),
        db_state_assertions(scenario, conversation),
        nl_assertions(scenario),
        SignalResult(SuccessSignal.JUDGE_PASSED, None, None, NO_JUDGE),
        clean_exit(conversation),
    )
    return Scores(verdict(scenario, results), results, breakdown(results, whitelist))


def action_match(
    scenario: Scenario, conversation: Conversation, *, strict_match: bool = False
) -> SignalResult:
    """Return whether the recorded actions hold everything that the reference answer asks for."""
    reference = reference_payload(scenario)
    if reference is None:
        reason = "the scenario has no reference answer"
        return SignalResult(SuccessSignal.ACTION_MATCH, None, NOT_APPLICABLE, reason)
    rules = MatchRules.of(scenario, strict=strict_match)
    prediction = prediction_payload(conversation)
    if check_if_task_success(reference, prediction, rules):
        return SignalResult(SuccessSignal.ACTION_MATCH, True, True)
    lines = [*action_match_notes(conversation), *explain_mismatch(reference, prediction, rules)]
    return SignalResult(SuccessSignal.ACTION_MATCH, False, False, "\n".join(lines))


def nl_assertions(scenario: Scenario) -> SignalResult:
    """Return that nobody judged the scenario's assertions in plain language."""
    reason = NO_JUDGE if scenario.nl_assertions else "the scenario declares no NL assertions"
    return SignalResult(SuccessSignal.NL_ASSERTION, None, None, reason)


def clean_exit(conversation: Conversation) -> SignalResult:
    """Return whether the agent ended the call with its end tool."""
    reason = conversation.stop_reason
    if reason is StopReason.EXIT:
        return SignalResult(SuccessSignal.CLEAN_EXIT, True, True)
    explanation = (
        f"expected the agent to end the call with its end tool, "
        f"found stop reason {reason.value}: {_HOW_IT_ENDED[reason]}"
    )
    return SignalResult(SuccessSignal.CLEAN_EXIT, False, False, explanation)


def verdict(scenario: Scenario, results: Sequence[SignalResult]) -> Verdict:
    """Return what the scenario's ``compute_is_successful`` makes of the signals.

    Raises:
        DefinitionError: if it returns neither a boolean nor ``"N/A"``.
    """
    outcome: object = scenario.compute_is_successful({r.signal.value: r.passed for r in results})
    if isinstance(outcome, bool):
        return Verdict.PASSED if outcome else Verdict.FAILED
    if outcome == NOT_APPLICABLE:
        return Verdict.NOT_APPLICABLE
    raise DefinitionError(
        f"{type(scenario).__qualname__}.compute_is_successful returned {outcome!r}; "
        f'return True, False, or "{NOT_APPLICABLE}"'
    )


def breakdown(results: Sequence[SignalResult], whitelist: Collection[SuccessSignal]) -> Breakdown:
    """Return the signals' keys by outcome; one that neither counts nor applies is listed nowhere."""
    counting = [result for result in results if result.signal in whitelist]
    ignored = [result for result in results if result.signal not in whitelist]
    return Breakdown(
        passed=_keys(counting, True),
        failed=_keys(counting, False),
        not_applicable=_keys(counting, None),
        excluded=tuple(result.signal.value for result in ignored if result.passed is not None),
    )


def _keys(results: Sequence[SignalResult], outcome: bool | None) -> tuple[str, ...]:
    return tuple(result.signal.value for result in results if result.passed is outcome)
