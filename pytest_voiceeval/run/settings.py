"""What a run is told: limits of a call, the clock it runs on, how strictly it is matched."""

from __future__ import annotations

import sys
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from pytest_voiceeval.errors import DefinitionError
from pytest_voiceeval.run.taken import TakenScenarios
from pytest_voiceeval.scoring.conversation_end import ConversationEndPolicy

if TYPE_CHECKING:
    from pytest_voiceeval.bridge.clock import ClockChoice
    from pytest_voiceeval.model.live import OnTurn
    from pytest_voiceeval.scenarios.base import Scenario


@dataclass(frozen=True)
class Limit:
    """What a number may be.

    Attributes:
        wanted: for a person.
        lowest, highest: between which it lies, both included.
        is_whole: it is an integer.
        may_be_none: ``None`` is a value, too.
    """

    wanted: str
    lowest: float
    highest: float = sys.float_info.max
    is_whole: bool = False
    may_be_none: bool = False

    def holds(self, value: object) -> bool:
        """Return whether ``value`` is such a number; NaN and infinity never are."""
        if isinstance(value, bool) or not isinstance(value, int if self.is_whole else int | float):
            return False
        return self.lowest <= value <= self.highest


SOME_SECONDS = Limit("seconds above 0", sys.float_info.min)
LIMITS = {
    "max_duration": replace(SOME_SECONDS, may_be_none=True),
    "inactivity_timeout": replace(SOME_SECONDS, may_be_none=True),
    "connect_timeout": SOME_SECONDS,
    "judge_threshold": Limit("a number from 0 to 1", 0, 1, may_be_none=True),
    "min_agent_turns": Limit("a whole number, 0 or more", 0, is_whole=True),
    "max_auto_retries": Limit("a whole number, 0 or more", 0, is_whole=True),
    "auto_retry_backoff_secs": Limit("seconds, 0 or more", 0),
    "output_sample_rate": Limit("a whole number of hertz from 4000 to 192000", 4_000, 192_000, is_whole=True),
}
"""What the settings of a run may be."""


@dataclass(frozen=True)
class RunSettings:
    """How calls are held and scored.

    Attributes:
        clock: which clock each call runs on; ``auto`` goes by what the bots are.
        max_duration: seconds a call may last; ``None`` leaves it to each scenario.
        inactivity_timeout: seconds of silence on both sides that end a call; ``None`` for no limit.
        connect_timeout: seconds that a bot has to accept a connection and say that it is ready.
        strict_match: unexpected actions fail the action match of every scenario.
        judge_threshold: lowest score of a judge that passes; ``None``: no score passes or fails.
        conversation_end_policy: which ends of a call are clean.
        min_agent_turns: a call in which the agent answered fewer times fails; 0 for no minimum.
        auto_resume_on_stale: a call in which no turn was exchanged is held again.
        auto_resume_on_insufficient_turns: so is one with fewer than ``min_agent_turns``.
        max_auto_retries: how many times a call is held again; the last one counts.
        auto_retry_backoff_secs: seconds to wait before that, except on the charged clock.
        output_sample_rate: of the recording's file, in hertz.
        on_turn: is told of each turn of each call as it is spoken, on the thread that holds the call.
        taken: which agents have taken a scenario; calls of one run share it.
    """

    clock: ClockChoice = "auto"
    max_duration: float | None = None
    inactivity_timeout: float | None = 120.0
    connect_timeout: float = 5.0
    strict_match: bool = False
    judge_threshold: float | None = 0.9
    conversation_end_policy: ConversationEndPolicy = ConversationEndPolicy.TOOL_ONLY
    min_agent_turns: int = 0
    auto_resume_on_stale: bool = True
    auto_resume_on_insufficient_turns: bool = False
    max_auto_retries: int = 1
    auto_retry_backoff_secs: float = 5.0
    output_sample_rate: int = 16_000
    on_turn: OnTurn | None = field(default=None, repr=False, compare=False)
    taken: TakenScenarios = field(default_factory=TakenScenarios, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Check the numbers.

        Raises:
            DefinitionError: if one is none that can be meant.
        """
        for name, limit in LIMITS.items():
            value = getattr(self, name)
            if not (value is None and limit.may_be_none) and not limit.holds(value):
                none = ", or None" if limit.may_be_none else ""
                raise DefinitionError(f"{name} is {value!r}; write {limit.wanted}{none}")

    def seconds_for(self, scenario: Scenario) -> float:
        """Return how long a call of ``scenario`` may last.

        Raises:
            DefinitionError: if neither the scenario nor the settings limit it, or the scenario's limit is
                no number.
        """
        from pytest_voiceeval.tools.origin import location  # noqa: PLC0415 - light start

        seconds = self.max_duration if self.max_duration is not None else scenario.max_duration
        if seconds is not None and (isinstance(seconds, bool) or not isinstance(seconds, int | float)):
            raise DefinitionError(
                f"{location(type(scenario))}: max_duration of scenario {scenario.name!r} is {seconds!r}; "
                "write a number of seconds, such as 60"
            )
        if not seconds or not seconds > 0:
            raise DefinitionError(
                f"{location(type(scenario))}: scenario {scenario.name!r} has no time limit: set its "
                "max_duration to a number of seconds, or run with --voice-duration=SECONDS"
            )
        return float(seconds)
