"""Which agents of a run have taken a scenario: they are no black boxes, whatever happens later."""

from __future__ import annotations

import contextlib
import weakref
from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pytest_voiceeval.bridge.endpoint import Endpoint
    from pytest_voiceeval.model.conversation import Conversation
    from pytest_voiceeval.wire.dialect import Dialect


class TakenScenarios:
    """What one run, in one process, has found its agents to be."""

    def __init__(self) -> None:
        self._agents: weakref.WeakSet[object] = weakref.WeakSet()

    def note(self, agent: Endpoint, conversation: Conversation) -> None:
        """Remember that an agent has taken a scenario, if it has."""
        if not conversation.agent_is_black_box:
            with contextlib.suppress(TypeError):  # one that no weak reference can be made to
                self._agents.add(agent)

    def dialect_of(self, bot: Endpoint) -> Dialect:
        """Return how a bot is spoken to: one that has taken a scenario is never found out to be a black box.

        So one that breaks later on is an error, as its refusal is, and never passes by what can be heard
        alone.
        """
        from pytest_voiceeval.bridge.endpoint import HasDialect  # noqa: PLC0415 - light start
        from pytest_voiceeval.wire.dialect import Dialect  # noqa: PLC0415 - as above

        dialect = bot.dialect if isinstance(bot, HasDialect) else Dialect()
        try:
            is_known = bot in self._agents
        except TypeError:
            is_known = False
        return replace(dialect, mode="evaluated") if is_known and dialect.mode == "auto" else dialect
