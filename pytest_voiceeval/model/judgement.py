"""What a judge makes of a conversation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

NO_JUDGE = (
    "no judge is configured (--voice-judge-url and --voice-judge-model name one; of `run`: --judge-url and "
    "--judge-model)"
)
MISSING_VERDICT = "the judge gave no verdict on this assertion"


@dataclass(frozen=True)
class AssertionVerdict:
    """What a judge says of one assertion in plain language.

    Attributes:
        index: the assertion's place, from 1.
        assertion: its text.
        passed: it holds.
        reason: why, with evidence.
    """

    index: int
    assertion: str
    passed: bool
    reason: str = ""

    def to_json(self) -> dict[str, Any]:
        """Return one entry of ``nl_assertion_verdicts``."""
        return {
            "index": self.index,
            "assertion": self.assertion,
            "passed": self.passed,
            "reason": self.reason,
        }


@dataclass(frozen=True)
class Opinion:
    """One reply of a judge.

    Attributes:
        score: from 0 to 1.
        reason: why, with evidence.
        verdicts: one for each assertion of the scenario, in order.
    """

    score: float
    reason: str = ""
    verdicts: tuple[AssertionVerdict, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Return one entry of ``samples``."""
        return {
            "score": self.score,
            "reason": self.reason,
            "nl_assertion_verdicts": [verdict.to_json() for verdict in self.verdicts],
        }


@dataclass(frozen=True)
class Judgement:
    """What a judge makes of a conversation, or why it makes nothing of it.

    Attributes:
        score: from 0 to 1; ``None`` if there is none.
        reason: why, with evidence.
        verdicts: one for each assertion of the scenario, in order.
        error: why the judge came to nothing, for a person; empty if it came to something. Then all that is
            above is empty.
        samples: the replies that this is made of, where the judge was asked several times.
        judge_input: what it was asked, word by word, by name of the part.

    Raises:
        ValueError: if ``score`` is no number from 0 to 1.
    """

    score: float | None = None
    reason: str = ""
    verdicts: tuple[AssertionVerdict, ...] = ()
    error: str = ""
    samples: tuple[Opinion, ...] = ()
    judge_input: Mapping[str, str] = field(default_factory=dict, repr=False)

    def __post_init__(self) -> None:
        """Refuse a score that is none."""
        if self.score is not None and not 0 <= self.score <= 1:
            raise ValueError(f"the score of a judgement is a number from 0 to 1, not {self.score!r}")

    @classmethod
    def of(cls, opinions: Sequence[Opinion], judge_input: Mapping[str, str]) -> Judgement:
        """Return what several opinions on the same conversation come to.

        The score is their median; an assertion holds if more than half of them say so. The reasons are those
        of an opinion that agrees: nearest to the score, and with the same verdict.
        """
        from statistics import median  # noqa: PLC0415 - it brings fractions and decimals along

        score = median(opinion.score for opinion in opinions)
        nearest = min(opinions, key=lambda opinion: abs(opinion.score - score))
        return cls(
            score=score,
            reason=nearest.reason,
            verdicts=tuple(_majority(votes) for votes in zip(*(o.verdicts for o in opinions), strict=True)),
            samples=tuple(opinions) if len(opinions) > 1 else (),
            judge_input=judge_input,
        )

    @property
    def pass_rate(self) -> float | None:
        """Share of the assertions that hold; ``None`` if there are no verdicts."""
        passed = [verdict.passed for verdict in self.verdicts]
        return sum(passed) / len(passed) if passed else None

    @property
    def spread(self) -> float | None:
        """Highest score less the lowest; ``None`` if the judge was asked once."""
        scores = [sample.score for sample in self.samples]
        return max(scores) - min(scores) if scores else None

    def to_json(self) -> dict[str, Any]:
        """Return what ``judge_result.json`` holds: the keys of the reference, then ours."""
        result: dict[str, Any] = {"score": self.score, "reason": self.error or self.reason}
        if self.verdicts:
            result |= {
                "nl_assertion_verdicts": [verdict.to_json() for verdict in self.verdicts],
                "nl_assertion_pass_count": sum(verdict.passed for verdict in self.verdicts),
                "nl_assertion_total": len(self.verdicts),
                "nl_assertion_pass_rate": self.pass_rate,
            }
        result["judge_input"] = dict(self.judge_input)
        if self.error:
            result["error"] = self.error
        if self.samples:
            result |= {"spread": self.spread, "samples": [sample.to_json() for sample in self.samples]}
        return result


def _majority(votes: Sequence[AssertionVerdict]) -> AssertionVerdict:
    passed = 2 * sum(vote.passed for vote in votes) > len(votes)
    return next((vote for vote in votes if vote.passed is passed), votes[0])
