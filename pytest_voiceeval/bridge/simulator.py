"""A simulated user that does not play its part: an error, never a verdict on the agent."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

from pytest_voiceeval.bridge.events import Listener
from pytest_voiceeval.bridge.party import Party
from pytest_voiceeval.errors import BotLostError
from pytest_voiceeval.model.turns import AGENT, USER, Side
from pytest_voiceeval.wire.websocket import Ending


def check_present(party: Party, lost: asyncio.Future[Ending], listener: Listener) -> None:
    """Raise BotLostError if the simulated user hung up without having ended the call."""
    if lost.done() and not listener.said_exit:
        raise BotLostError(
            f"the {party.peer.shown} went away: {lost.result()}; "
            "expected the simulated user to stay until the bridge hangs up"
        )


def check_working(party: Party, listeners: Mapping[Side, Listener]) -> None:
    """Raise BotLostError if a call fell silent because the simulated user broke."""
    user = listeners[USER]
    if user.errors and not user.said_exit and not listeners[AGENT].errors:
        raise BotLostError(
            f"the {party.peer.shown} fell silent after it reported: {user.errors[-1]}; "
            "expected a simulated user that works"
        )
