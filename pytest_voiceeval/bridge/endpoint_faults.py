"""An endpoint that an embedded bot needs fails: the environment's fault, whichever side the bot plays."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from pytest_voiceeval.bridge.endpoint import Peer
from pytest_voiceeval.bridge.events import Listener
from pytest_voiceeval.errors import ModelEndpointError
from pytest_voiceeval.model.turns import USER, Side


def check_endpoints(
    listeners: Mapping[Side, Listener],
    peers: Mapping[Side, Peer],
    *,
    silent: bool,
    where: Callable[[], str],
) -> None:
    """Return if the bots can go on.

    Args:
        listeners: what the bots have told so far.
        peers: which bots they are.
        silent: the call has just ended in silence; then an endpoint that was being asked again is why.
        where: tells how far the call has come.

    Raises:
        ModelEndpointError: if one cannot, but for a simulated user that has ended the call already.
    """
    for side, listener in listeners.items():
        if side == USER and listener.said_exit:
            continue
        told = listener.endpoint_failure or (listener.endpoint_trouble if silent else "")
        if told:
            raise ModelEndpointError(
                f"the {side}'s side could not go on, {where()}: {told} "
                f"({peers[side].label}). This is the environment's fault, not the agent's"
            )
