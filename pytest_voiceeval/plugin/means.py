"""What a call is held with, and who holds those that are held at once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pytest_voiceeval.bridge.clock import Clock
    from pytest_voiceeval.bridge.endpoint import Endpoint
    from pytest_voiceeval.plugin.ahead import CallsAhead
    from pytest_voiceeval.run.settings import RunSettings

ahead_key: pytest.StashKey[CallsAhead] = pytest.StashKey()
"""Holds calls ahead of their items' turns; there only with ``--voice-concurrency``."""


@dataclass(frozen=True)
class Means:
    """What a call is held with."""

    user: Endpoint
    agent: Endpoint
    settings: RunSettings

    def clock(self) -> Clock:
        """Return the clock of the call; raises ClockError if there is none for both bots."""
        from pytest_voiceeval.bridge.clock import choose_clock  # noqa: PLC0415 - heavy

        return choose_clock(self.settings.clock, self.user, self.agent)
