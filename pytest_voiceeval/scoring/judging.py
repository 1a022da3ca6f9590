"""The two signals that a judge gives."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Protocol

from pytest_voiceeval.model.conversation import Conversation
from pytest_voiceeval.model.judgement import NO_JUDGE, Judgement
from pytest_voiceeval.model.metrics import SignalResult
from pytest_voiceeval.model.signals import SuccessSignal
from pytest_voiceeval.scenarios.assertions import assertions_of

if TYPE_CHECKING:
    from pytest_voiceeval.scenarios.base import Scenario

DEFAULT_THRESHOLD = 0.9


class Judge(Protocol):
    """Judges conversations. ``LLMJudge`` is one; the fixture ``voice_judge`` may give any other."""

    def judge(
        self, scenario: Scenario, conversation: Conversation, *, strict_match: bool = False
    ) -> Judgement:
        """Return what is to be made of a conversation; one ``error`` if nothing can be.

        ``strict_match`` holds whatever was done beyond the reference answer against the agent.
        """


def missed_without_judge(scenario: Scenario) -> tuple[SignalResult, ...]:
    """Return the signals for want of which no call of ``scenario`` has a verdict where there is no judge.

    None, if a call could have one all the same.
    """
    unjudged = nl_assertions(scenario, None), judge_passed(None, DEFAULT_THRESHOLD)
    missed = tuple(result for result in unjudged if result.signal in scenario.whitelist)
    signals: dict[str, bool | float | None] = {signal.value: True for signal in SuccessSignal}
    signals |= {result.signal.value: None for result in unjudged}
    return missed if missed and not isinstance(scenario.compute_is_successful(signals), bool) else ()


def nl_assertions(scenario: Scenario, judgement: Judgement | None) -> SignalResult:
    """Return the share of the scenario's assertions in plain language that hold; it passes at 1.0."""
    signal = SuccessSignal.NL_ASSERTION
    count = len(assertions_of(scenario))
    if not count:
        return SignalResult(signal, None, None, "the scenario declares no NL assertions")
    if judgement is None:
        return SignalResult(signal, None, None, NO_JUDGE)
    error = judgement.error
    if not error and len(judgement.verdicts) != count:
        error = f"the judge gave {len(judgement.verdicts)} verdicts on {count} assertions"
    if error:
        return SignalResult(signal, None, None, error=error)
    failed = [verdict for verdict in judgement.verdicts if not verdict.passed]
    lines = [f"{verdict.index}. {verdict.assertion}: {verdict.reason}" for verdict in failed]
    return SignalResult(signal, not failed, judgement.pass_rate, "\n".join(lines))


def judge_passed(judgement: Judgement | None, threshold: float | None) -> SignalResult:
    """Return whether the judge's score reaches ``threshold``; ``None`` has no score pass or fail."""
    signal = SuccessSignal.JUDGE_PASSED
    if judgement is None:
        return SignalResult(signal, None, None, NO_JUDGE)
    if judgement.error:
        return SignalResult(signal, None, None, error=judgement.error)
    if judgement.score is None:
        return SignalResult(signal, None, None, "the judge gave no score")
    if threshold is None:
        return SignalResult(signal, None, None, "no threshold is set for the judge's score")
    if judgement.score >= threshold:
        return SignalResult(signal, True, True)
    return SignalResult(signal, False, False, "\n".join(_below(judgement, judgement.score, threshold)))


def _below(judgement: Judgement, score: float, threshold: float) -> Iterator[str]:
    yield f"expected a score of at least {threshold:g}, found {score:g}{_samples(judgement)}"
    yield from judgement.reason.splitlines()


def _samples(judgement: Judgement) -> str:
    scores = sorted(sample.score for sample in judgement.samples)
    return f" (median of {len(scores)}, {scores[0]:g} to {scores[-1]:g})" if scores else ""
