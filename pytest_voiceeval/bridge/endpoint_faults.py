"""An endpoint that an embedded bot needs fails: the environment's fault, whichever side the bot plays."""

from __future__ import annotations

from collections.abc import Mapping

from pytest_voiceeval.bridge.events import Listener
from pytest_voiceeval.bridge.party import Party
from pytest_voiceeval.errors import ModelEndpointError
from pytest_voiceeval.model.turns import USER, Side


def check_endpoints(
    listeners: Mapping[Side, Listener],
    parties: Mapping[Side, Party],
    *,
    silent: bool,
) -> None:
    """Return if the bots can go on.

    Args:
        listeners: what the bots have told so far.
        parties: which bots they are.
        silent: the call has just ended in silence; then an endpoint that was being asked again is why.

    Raises:
        ModelEndpointError: if one cannot, but for a simulated user that has ended the call already.
    """
    for side, listener in listeners.items():
        if side == USER and listener.said_exit:
            continue
        told = listener.endpoint_failure or (listener.endpoint_trouble if silent else "")
        if told:
            raise ModelEndpointError(
                f"the {side}'s side could not go on: {told} ({parties[side].peer.label})"
            )
