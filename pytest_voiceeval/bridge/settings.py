"""How a call is held."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from pytest_voiceeval.bridge.party import Opener
from pytest_voiceeval.model.conversation import Conversation
from pytest_voiceeval.model.live import OnTurn
from pytest_voiceeval.wire.connection import open_connection


@dataclass(frozen=True)
class CallSettings:
    """How a call is held.

    Attributes:
        max_duration: seconds after which it is ended.
        inactivity_timeout: seconds of silence of both sides after which it is ended; ``None``: never.
        connect_timeout: seconds for each bot's connection.
        on_interrupt: takes what there is of a call that did not come to its end, before the error goes on.
        on_turn: is told of each turn as it is spoken.
        opener: opens a connection.
        clock: name of the clock that the loop runs on.
    """

    max_duration: float
    inactivity_timeout: float | None = 120.0
    connect_timeout: float = 5.0
    on_interrupt: Callable[[Conversation], None] | None = None
    on_turn: OnTurn | None = None
    opener: Opener = open_connection
    clock: str = "real"
