"""Which agents have taken a scenario in this process: they are no black boxes, whatever happens later."""

from __future__ import annotations

import contextlib
import weakref
from dataclasses import replace

from pytest_voiceeval.bridge.endpoint import Endpoint, HasDialect
from pytest_voiceeval.model.conversation import Conversation
from pytest_voiceeval.wire.dialect import Dialect

_took_scenarios: weakref.WeakSet[object] = weakref.WeakSet()


def note_mode(agent: Endpoint, conversation: Conversation) -> None:
    """Remember that an agent has taken a scenario, if it has."""
    if not conversation.agent_is_black_box:
        with contextlib.suppress(TypeError):  # one that no weak reference can be made to
            _took_scenarios.add(agent)


def settled_dialect(bot: Endpoint) -> Dialect:
    """Return how a bot is spoken to. One that has taken a scenario is no black box that is to be found out.

    So one that breaks later on is an error, as its refusal is, and never passes by what can be heard alone.
    """
    dialect = bot.dialect if isinstance(bot, HasDialect) else Dialect()
    try:
        is_known = bot in _took_scenarios
    except TypeError:
        is_known = False
    return replace(dialect, mode="evaluated") if is_known and dialect.mode == "auto" else dialect
