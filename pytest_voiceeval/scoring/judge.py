"""A judge that is a language model behind an OpenAI-compatible endpoint."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, TypeVar

from pytest_voiceeval.errors import JudgeError
from pytest_voiceeval.model.conversation import Conversation
from pytest_voiceeval.model.judgement import Judgement, Opinion
from pytest_voiceeval.model.stop_reason import StopReason
from pytest_voiceeval.model.turns import AGENT, SIDES
from pytest_voiceeval.scenarios.assertions import assertions_of
from pytest_voiceeval.scoring.judge_endpoint import JudgeEndpoint
from pytest_voiceeval.scoring.judge_prompt import JudgeInput, is_anything_observed, judge_input
from pytest_voiceeval.scoring.judge_reply import assertion_verdicts, parse_reply
from pytest_voiceeval.scoring.judge_settings import JudgeSettings

if TYPE_CHECKING:
    from pytest_voiceeval.scenarios.base import Scenario

T = TypeVar("T")

NOTHING_OBSERVED = "nothing of the call was observed: the agent recorded nothing, and nobody said anything"


class LLMJudge:
    """Judges conversations by asking a language model.

    Args:
        settings: how it is reached and asked.
    """

    def __init__(self, settings: JudgeSettings) -> None:
        self.settings = settings

    def __repr__(self) -> str:
        return f"LLMJudge({self.settings.model!r} at {self.settings.url!r})"

    def judge(
        self, scenario: Scenario, conversation: Conversation, *, strict_match: bool = False
    ) -> Judgement:
        """Return what the model makes of a conversation; one with ``error`` if it makes nothing of it.

        A call of which nothing was observed is not put to the model: its score is 0. But one of which nothing
        was observed because the evidence could not be had has no judgement.
        """
        settings = self.settings
        asked = judge_input(
            scenario,
            conversation,
            include_conversation=settings.include_conversation,
            compaction=settings.compaction,
            strict_match=strict_match,
        )
        assertions = assertions_of(scenario)
        try:
            if not is_anything_observed(conversation, include_conversation=settings.include_conversation):
                return _nothing_observed(conversation, asked, assertions)
            opinions = _finished(self._opinions(asked, assertions))
        except JudgeError as exc:
            return Judgement(error=str(exc), judge_input=asked.to_json())
        return Judgement.of(opinions, asked.to_json())

    async def _opinions(self, asked: JudgeInput, assertions: Sequence[str]) -> list[Opinion]:
        """Return as many opinions as are wanted; raises JudgeError if one of them can't be had."""
        async with JudgeEndpoint(self.settings) as endpoint:
            try:
                async with asyncio.TaskGroup() as tasks:
                    asking = [
                        tasks.create_task(_opinion(endpoint, asked, assertions, sample))
                        for sample in range(self.settings.samples)
                    ]
            except* JudgeError as errors:
                raise errors.exceptions[0] from None
        return [task.result() for task in asking]


def _finished(coroutine: Coroutine[Any, Any, T]) -> T:
    """Return the result of a coroutine, also to a caller that runs in a loop of its own."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(coroutine)
    with ThreadPoolExecutor(1, thread_name_prefix="judge") as thread:
        return thread.submit(asyncio.run, coroutine).result()


async def _opinion(
    endpoint: JudgeEndpoint, asked: JudgeInput, assertions: Sequence[str], sample: int
) -> Opinion:
    text = await endpoint.reply(asked, sample)
    evidence = f"{asked.system_prompt}\n{asked.user_content}"
    return parse_reply(text, assertions, evidence=evidence)


def _nothing_observed(conversation: Conversation, asked: JudgeInput, assertions: Sequence[str]) -> Judgement:
    """Return the judgement on a call that left no evidence; raises JudgeError if it may only be lost."""
    lost = [
        f"{side}: {conversation.side(side).pull_error}"
        for side in SIDES
        if conversation.side(side).pull_error
        and not (side == AGENT and conversation.stop_reason is StopReason.AGENT_HANGUP)
    ]
    if lost:
        raise JudgeError(
            f"there is nothing to judge by: the evidence of the call could not be had ({'; '.join(lost)}); "
            "to have the transcript judged, run with --voice-judge-include-conversation (of `run`: "
            "--judge-include-conversation)"
        )
    entries = [{"index": n + 1, "reason": NOTHING_OBSERVED} for n in range(len(assertions))]
    opinion = Opinion(0.0, NOTHING_OBSERVED, assertion_verdicts(entries, assertions))
    return Judgement.of([opinion], asked.to_json())
