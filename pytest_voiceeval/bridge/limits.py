"""The limits of a call: which of them ends it next if nothing happens."""

from __future__ import annotations

from collections.abc import Mapping

from pytest_voiceeval.bridge.events import Listener
from pytest_voiceeval.bridge.settings import CallSettings
from pytest_voiceeval.model.stop_reason import StopReason
from pytest_voiceeval.model.turns import USER, Side

BROKEN_SECONDS = 15.0
"""Silence that ends a call in which a bot has reported an error: it is not going to speak again."""

FAREWELL_SECONDS = 10.0
"""Silence that ends a call which the simulated user has ended: so long the agent has to answer its
goodbye, and to end the call itself."""


def next_limit(
    settings: CallSettings, listeners: Mapping[Side, Listener], last_activity: float
) -> tuple[StopReason, float]:
    """Return which limit comes next if nothing happens, and when, in seconds of the call.

    Args:
        settings: of the call.
        listeners: what the bots have told so far.
        last_activity: when one of them was last heard, or told something.
    """
    silences = [] if settings.inactivity_timeout is None else [settings.inactivity_timeout]
    if any(listener.errors for listener in listeners.values()):
        silences.append(BROKEN_SECONDS)
    if listeners[USER].said_exit:
        silences.append(FAREWELL_SECONDS)
    limits = [(StopReason.TIMEOUT, settings.max_duration)]
    if silences:
        limits.append((StopReason.INACTIVITY, last_activity + min(silences)))
    return min(limits, key=lambda limit: limit[1])
