"""What became of the processes behind the bots of a call."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from pytest_voiceeval.bridge.endpoint import Endpoint, RunsProcess
from pytest_voiceeval.model.conversation import Conversation
from pytest_voiceeval.model.stop_reason import StopReason
from pytest_voiceeval.model.turns import AGENT

_DEATH_SECONDS = 1.0


async def with_processes(conversation: Conversation, bots: Iterable[Endpoint]) -> Conversation:
    """Return ``conversation`` with what became of the processes of ``bots`` in it.

    One that ends after all has been said and given is no part of the call.
    """
    for bot in bots:
        if not isinstance(bot, RunsProcess):
            continue
        evidence = conversation.side(bot.side)
        hung_up = bot.side == AGENT and conversation.stop_reason is StopReason.AGENT_HANGUP
        ended = await bot.ended(_DEATH_SECONDS) if hung_up or evidence.pull_error else ""
        told = replace(evidence, restarted=bot.restarted, ended=ended)
        conversation = (
            replace(conversation, agent=told) if bot.side == AGENT else replace(conversation, user=told)
        )
    return conversation
