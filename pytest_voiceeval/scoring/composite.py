"""All signals of a call, and the verdict that they come to."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

from pytest_voiceeval.errors import DefinitionError
from pytest_voiceeval.model.conversation import Conversation
from pytest_voiceeval.model.judgement import Judgement
from pytest_voiceeval.model.metrics import Breakdown, Scores, SignalResult, Verdict
from pytest_voiceeval.model.signals import SuccessSignal
from pytest_voiceeval.model.turns import Turn
from pytest_voiceeval.scoring.action_diff import explain_mismatch
from pytest_voiceeval.scoring.black_box import MAY_HANG_UP, hung_up_after_the_talk, why_no_action_match
from pytest_voiceeval.scoring.conversation_end import ConversationEndPolicy, evaluate_conversation_end
from pytest_voiceeval.scoring.db_state import db_state_assertions, db_state_match
from pytest_voiceeval.scoring.evidence import action_match_notes
from pytest_voiceeval.scoring.judging import DEFAULT_THRESHOLD, judge_passed, nl_assertions
from pytest_voiceeval.scoring.match import MatchRules, check_if_task_success
from pytest_voiceeval.scoring.payload import prediction_payload, reference_payload

if TYPE_CHECKING:
    from pytest_voiceeval.scenarios.base import Scenario

NOT_APPLICABLE = "N/A"


def score(
    scenario: Scenario,
    conversation: Conversation,
    *,
    strict_match: bool = False,
    judgement: Judgement | None = None,
    policy: ConversationEndPolicy = ConversationEndPolicy.TOOL_ONLY,
    judge_threshold: float | None = DEFAULT_THRESHOLD,
) -> Scores:
    """Return all six signals of a call, in the order of ``SuccessSignal``, and the verdict.

    Args:
        scenario: what was held.
        conversation: its evidence.
        strict_match: disallow extra items whatever the scenario says.
        judgement: what a judge makes of the call; ``None`` if there is no judge.
        policy: which ends of a call are clean.
        judge_threshold: lowest score that passes; ``None``: no score passes or fails.

    Raises:
        DefinitionError: if the scenario's whitelist is wrong, or what it makes of the signals is
            no verdict.
    """
    whitelist = scenario.whitelist
    results = (
        action_match(scenario, conversation, strict_match=strict_match),
        db_state_match(scenario, conversation),
        db_state_assertions(scenario, conversation),
        nl_assertions(scenario, judgement),
        judge_passed(judgement, judge_threshold),
        clean_exit(conversation, policy),
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
    if reason := why_no_action_match(conversation):
        return SignalResult(SuccessSignal.ACTION_MATCH, None, NOT_APPLICABLE, reason)
    rules = MatchRules.of(scenario, strict=strict_match)
    prediction = prediction_payload(conversation)
    if check_if_task_success(reference, prediction, rules):
        return SignalResult(SuccessSignal.ACTION_MATCH, True, True)
    lines = [*action_match_notes(conversation), *explain_mismatch(reference, prediction, rules)]
    return SignalResult(SuccessSignal.ACTION_MATCH, False, False, "\n".join(lines))


def clean_exit(conversation: Conversation, policy: ConversationEndPolicy) -> SignalResult:
    """Return whether the call came to an end that ``policy`` allows, or that a black box has given it."""
    if hung_up_after_the_talk(conversation):
        return SignalResult(SuccessSignal.CLEAN_EXIT, True, True)
    turns: list[Turn] = sorted(conversation.turns, key=lambda turn: turn.end)
    is_valid, evidence = evaluate_conversation_end(
        policy, conversation.stop_reason, turns, conversation.simulator_end_reported
    )
    if conversation.agent_is_black_box:
        evidence += f"; {MAY_HANG_UP}"
    return SignalResult(SuccessSignal.CLEAN_EXIT, is_valid, is_valid, "" if is_valid else evidence)


def verdict(scenario: Scenario, results: Sequence[SignalResult]) -> Verdict:
    """Return what the scenario's ``compute_is_successful`` makes of the signals.

    It is not asked where a whitelisted signal could not be determined: that is an error.

    Raises:
        DefinitionError: if it returns neither a boolean nor ``"N/A"``.
    """
    if any(result.error for result in results if result.signal in scenario.whitelist):
        return Verdict.ERROR
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
        not_applicable=_keys([result for result in counting if not result.error], None),
        excluded=tuple(result.signal.value for result in ignored if result.passed is not None),
        error=tuple(result.signal.value for result in counting if result.error),
    )


def _keys(results: Sequence[SignalResult], outcome: bool | None) -> tuple[str, ...]:
    return tuple(result.signal.value for result in results if result.passed is outcome)
