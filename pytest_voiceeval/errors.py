"""Every error that pytest-voiceeval raises on purpose.

A message says where, what is wrong, and what to do instead: it is shown to a person as it stands.
"""

from __future__ import annotations

from typing import ClassVar


class VoiceEvalError(Exception):
    """Base of all errors raised on purpose; its text is a complete message for a person.

    Attributes:
        fault_of: whose fault it is that breaks a call off so, in words; never the agent's, whose faults are
            verdicts.
    """

    fault_of: ClassVar[str] = "the scenario's, or of what it needs"


class DefinitionError(VoiceEvalError, ValueError):
    """A scenario, a tool, a pack or a rehearsal is defined wrongly."""


class FileSkippedError(VoiceEvalError):
    """A file of a pack skipped itself, as by ``pytest.importorskip``: it defines nothing here."""


class DuplicateNameError(DefinitionError):
    """A name is registered twice."""


class UnknownNameError(VoiceEvalError, KeyError):
    """Nothing is registered under a name; the message lists what is."""

    def __str__(self) -> str:
        return str(self.args[0]) if self.args else ""


class DataError(VoiceEvalError):
    """Data are missing, unreadable, or lie outside their root."""


class DataMissingError(DataError, FileSkippedError):
    """Data of a domain are not on this machine: a file of a pack that needs them defines nothing here.

    Attributes:
        domain: whose data they are.
        absence: what is missing, and where.
        remedy: how to get it.
    """

    def __init__(self, domain: str, absence: str, remedy: str) -> None:
        super().__init__(f"{absence}; {remedy}")
        self.domain = domain
        self.absence = absence
        self.remedy = remedy


class StorageError(VoiceEvalError, OSError):
    """A file can't be written: the disk is full, the folder read-only or gone, or a link in its place."""

    fault_of = "the environment's"

    def __str__(self) -> str:
        return str(self.args[0])


class ProfileError(VoiceEvalError, ValueError):
    """A bot profile is wrong or names a service that is not installed."""


class WireError(VoiceEvalError):
    """Bytes that came over the wire are not a frame of the protocol."""


class BotError(VoiceEvalError):
    """A bot did not do its part: the environment's fault or ours, never a verdict on the agent."""

    fault_of = "the environment's"


class BotUnreachableError(BotError):
    """No connection to a bot could be opened, or it never said that it is ready."""


class BotRefusedError(BotError):
    """A bot answered a set-up request with a refusal, an error, or not at all."""


class BotLostError(BotError):
    """The simulated user went away in the middle of a call, or did not play its part in it."""

    fault_of = "the simulated user's"


class ModelEndpointError(BotError):
    """An endpoint that an embedded bot needs, a model or hosted speech, failed for good during a call."""


class BotProcessError(BotError):
    """A bot process that we started did not start, or died."""


class WorldsPartedError(VoiceEvalError):
    """The worlds of the two bots did not stay in step, so that their end says nothing of the agent."""

    fault_of = "the scenario's tools', or of a bot that does not keep its world in step"


class JudgeError(VoiceEvalError):
    """A judge came to no judgement: its fault or the environment's, never a verdict on the agent."""


class ClockError(VoiceEvalError):
    """A call cannot run on the clock that was asked for."""
