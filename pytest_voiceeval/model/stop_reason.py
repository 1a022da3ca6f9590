"""How calls end."""

from __future__ import annotations

from enum import StrEnum


class StopReason(StrEnum):
    """How a call ended; the values are those of ``metrics.json``."""

    EXIT = "[EXIT]"
    """The agent said ``<exit>`` within the time limit."""
    TIMEOUT = "[TIMEOUT]"
    """The time limit was reached."""
    INACTIVITY = "[INACTIVITY]"
    """Nobody made a sound for the inactivity limit."""
    AGENT_HANGUP = "[AGENT_HANGUP]"
    """The agent closed its connection, or dropped it."""
    USER_HANGUP = "[USER_HANGUP]"
    """The simulated user closed its connection, or dropped it: the call has no verdict."""
    CANCELLED = "[CANCELLED]"
    """The run was interrupted (Ctrl-C) while the call went on."""
    ERROR = "[ERROR]"
    """The call broke off by an error of ours or of the environment."""
