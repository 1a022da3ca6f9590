"""Holding a call again that came to nothing; what it left is kept beside the one that counts."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from pytest_voiceeval.bridge.endpoint import Endpoint
from pytest_voiceeval.bridge.warp import WarpLoop, give_result
from pytest_voiceeval.model.conversation import Conversation, RetriedAttempt
from pytest_voiceeval.model.work import JobCharger
from pytest_voiceeval.run.agent_turns import agent_turns
from pytest_voiceeval.run.counted_turns import counted_turns
from pytest_voiceeval.run.earlier import ITEM_FILE
from pytest_voiceeval.run.evaluate import hold, hold_beside_others
from pytest_voiceeval.run.files import claim_folder
from pytest_voiceeval.run.resume import ATTEMPT
from pytest_voiceeval.run.settings import RunSettings
from pytest_voiceeval.scenarios.base import Scenario

OnRetry = Callable[[RetriedAttempt], object]


def auto_retry_reason(
    turn_count: int | None,
    agent_llm_count: int | None,
    min_agent_turns: int,
    on_stale: bool,
    on_insufficient_turns: bool,
) -> str | None:
    """Return why a call is to be held again, in a few words; ``None`` to let it count.

    ``None`` for a count means that it is unknown: nothing follows from it. An agent that answered but took
    no turn, or whose bot reports no model calls, is no reason.

    Args:
        turn_count: turns that both sides took, as the bridge recorded them.
        agent_llm_count: how often the agent answered.
        min_agent_turns: how often it must; 0 for no minimum.
        on_stale: a call without a turn is held again.
        on_insufficient_turns: so is one in which the agent answered, but too few times.
    """
    if on_stale and turn_count is not None and turn_count == 0:
        return "stale: no turns were exchanged"
    if on_insufficient_turns and agent_llm_count is not None and 0 < agent_llm_count < min_agent_turns:
        return (
            f"insufficient turns: the agent answered {agent_llm_count} time(s), fewer than {min_agent_turns}"
        )
    return None


def hold_until_it_counts(
    scenario: Scenario,
    *,
    user: Endpoint,
    agent: Endpoint,
    settings: RunSettings,
    folder: Path,
    on_retry: OnRetry | None = None,
) -> Conversation:
    """Hold a call, and again while there is a reason to and a retry left; the last one counts.

    What a call left that is held again is moved from ``folder`` into ``<folder>.attempt1``, and so on.
    A call that breaks off is no reason: its error goes on.

    Args:
        on_retry: is told of each call that does not count, before the next one.

    Raises:
        BotError, ClockError, DefinitionError: as ``hold`` does.
    """
    tries = _Tries(settings, folder, on_retry)
    while True:
        conversation = hold(scenario, user=user, agent=agent, settings=settings, folder=folder)
        if tries.is_last(conversation):
            return tries.counted(conversation)
        if conversation.clock != "charged":  # nothing outside such a call could recover meanwhile
            time.sleep(settings.auto_retry_backoff_secs)


async def hold_beside_others_until_it_counts(
    scenario: Scenario,
    *,
    user: Endpoint,
    agent: Endpoint,
    settings: RunSettings,
    folder: Path,
    on_retry: OnRetry | None = None,
) -> Conversation:
    """Hold a call as ``hold_until_it_counts`` does, on the running loop, which must be of the call's clock.

    Raises:
        BotError, ClockError, DefinitionError: as ``hold`` does.
    """
    tries = _Tries(settings, folder, on_retry)
    while True:
        conversation = await hold_beside_others(
            scenario, user=user, agent=agent, settings=settings, folder=folder
        )
        if tries.is_last(conversation):
            return tries.counted(conversation)
        await _wall_time_passes(settings.auto_retry_backoff_secs)


async def _wall_time_passes(seconds: float) -> None:
    """Wait for servers to recover: not by a loop's clock that may skip what nobody works in.

    Nothing outside a call on the clock charged could recover meanwhile.
    """
    loop = asyncio.get_running_loop()
    if not isinstance(loop, WarpLoop):
        await asyncio.sleep(seconds)
    elif not (isinstance(loop, JobCharger) and loop.charges_jobs):
        over: asyncio.Future[None] = loop.create_future()
        # A thread of its own: those of the loop work for all calls.
        timer = threading.Timer(seconds, loop.take_from_work, (give_result, over, None))
        loop.begin_work()
        timer.start()
        try:
            await over
        finally:
            timer.cancel()
            loop.end_work()


class _Tries:
    """The calls of one scenario, of which the last one counts."""

    def __init__(self, settings: RunSettings, folder: Path, on_retry: OnRetry | None) -> None:
        self._settings = settings
        self._folder = folder
        self._on_retry = on_retry
        self._retried: list[RetriedAttempt] = []

    def is_last(self, conversation: Conversation) -> bool:
        """Return whether ``conversation`` counts; if not, put aside what it left."""
        reason = _retry_reason(conversation, self._settings)
        if reason is None or len(self._retried) >= self._settings.max_auto_retries:
            return True
        aside = move_aside(self._folder, f"{ATTEMPT}{len(self._retried) + 1}")
        turns = len(counted_turns(conversation))
        self._retried.append(RetriedAttempt(reason, conversation.stop_reason, turns, aside.name))
        if self._on_retry is not None:
            self._on_retry(self._retried[-1])
        return False

    def counted(self, conversation: Conversation) -> Conversation:
        """Return the one that counts, with those before it."""
        return replace(conversation, retried=tuple(self._retried))


def _retry_reason(conversation: Conversation, settings: RunSettings) -> str | None:
    if conversation.agent.ended:  # it died: that is a result, also where nobody had said anything yet
        return None
    return auto_retry_reason(
        len(counted_turns(conversation)),
        agent_turns(conversation),
        settings.min_agent_turns,
        settings.auto_resume_on_stale,
        settings.auto_resume_on_insufficient_turns,
    )


def move_aside(folder: Path, suffix: str) -> Path:
    """Move what a call left in ``folder`` into a new one beside it.

    ``folder`` stays, and so does the note in it that says whose it is.
    """
    aside = claim_folder(folder.with_name(folder.name + suffix))
    for path in sorted(folder.iterdir()):
        if path.name != ITEM_FILE:
            path.rename(aside / path.name)
    return aside
