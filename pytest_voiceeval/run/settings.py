"""What a run is told: limits of a call, the clock it runs on, how strictly it is matched."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pytest_voiceeval.errors import DefinitionError
from pytest_voiceeval.scoring.conversation_end import ConversationEndPolicy

if TYPE_CHECKING:
    from pytest_voiceeval.bridge.clock import ClockChoice
    from pytest_voiceeval.scenarios.base import Scenario


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

    def seconds_for(self, scenario: Scenario) -> float:
        """Return how long a call of ``scenario`` may last.

        Raises:
            DefinitionError: if neither the scenario nor the settings limit it, or the scenario's limit is
                no number.
        """
        from pytest_voiceeval.tools.origin import location  # noqa: PLC0415 - light start

        seconds = self.max_duration if self.max_duration is not None else scenario.max_duration
        where = location(type(scenario))
        if seconds is not None and (isinstance(seconds, bool) or not isinstance(seconds, int | float)):
            raise DefinitionError(
                f"{where}: max_duration of scenario {scenario.name!r} is {seconds!r}; write a number of "
                "seconds, such as 60"
            )
        if not seconds or not seconds > 0:
            raise DefinitionError(
                f"{where}: scenario {scenario.name!r} has no time limit: set its max_duration to a number of "
                "seconds, or run with --voice-duration=SECONDS"
            )
        return float(seconds)
