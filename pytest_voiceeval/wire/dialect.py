"""How a bot is spoken to: the protocol, the form of its sound, and whether its inside is open."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, get_args

from pytest_voiceeval.errors import DefinitionError
from pytest_voiceeval.model.turns import AGENT, Side

ProtocolName = Literal["rtvi", "pcm", "twilio"]
PROTOCOL_NAMES: tuple[ProtocolName, ...] = get_args(ProtocolName)

PcmEncoding = Literal["s16le", "f32le", "mulaw", "alaw"]
PCM_ENCODINGS: tuple[PcmEncoding, ...] = get_args(PcmEncoding)

Mode = Literal["auto", "evaluated", "black-box"]
MODES: tuple[Mode, ...] = get_args(Mode)

LOWEST_RATE_HZ, HIGHEST_RATE_HZ = 4_000, 192_000

TELEPHONE_RATE_HZ = 8_000
"""Rate of mu-law and A-law sound, unless another one is asked for."""

WIDEBAND_RATE_HZ = 16_000
"""Rate of all other sound, unless another one is asked for."""


@dataclass(frozen=True)
class Dialect:
    """How a bot is spoken to.

    Attributes:
        protocol: what goes over its WebSocket.
        mode: ``evaluated``: the bot takes prompt, tools and world of a scenario, and gives its records;
            ``black-box``: these are its own; ``auto``: that is found out by asking.
        pcm_rate: samples a second of raw PCM, both ways; ``None`` for what is usual of its encoding.
        pcm_encoding: form of a sample of raw PCM; ``None`` for ``s16le``.
        twilio_parameters: custom parameters of a stream of Twilio's.

    Raises:
        DefinitionError: if these do not go together.
    """

    protocol: ProtocolName = "rtvi"
    mode: Mode = "evaluated"
    pcm_rate: int | None = None
    pcm_encoding: PcmEncoding | None = None
    twilio_parameters: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        _check_word("protocol", self.protocol, PROTOCOL_NAMES)
        _check_word("mode", self.mode, MODES)
        if self.protocol != "rtvi" and self.mode == "evaluated":
            raise DefinitionError(
                f"an agent that speaks {self.protocol} cannot have the mode evaluated: nothing but sound "
                "goes over it; write black-box or auto, or let the agent speak rtvi"
            )
        for name, value in (("pcm_rate", self.pcm_rate), ("pcm_encoding", self.pcm_encoding)):
            if value is not None and self.protocol != "pcm":
                raise DefinitionError(
                    f"{name} {value} is of no use with the protocol {self.protocol}, which has a form of "
                    "sound of its own; leave it out, or write the protocol pcm"
                )
        if self.twilio_parameters and self.protocol != "twilio":
            raise DefinitionError(
                f"twilio_parameters are of no use with the protocol {self.protocol}; leave them out"
            )
        if self.pcm_encoding is not None:
            _check_word("pcm_encoding", self.pcm_encoding, PCM_ENCODINGS)
        rate: object = self.pcm_rate
        if rate is not None and not (type(rate) is int and LOWEST_RATE_HZ <= rate <= HIGHEST_RATE_HZ):
            raise DefinitionError(
                f"pcm_rate is {rate!r}; write a whole number of hertz from {LOWEST_RATE_HZ} to "
                f"{HIGHEST_RATE_HZ}"
            )

    @property
    def rate_hz(self) -> int:
        """Rate of raw PCM."""
        if self.pcm_rate is not None:
            return self.pcm_rate
        return TELEPHONE_RATE_HZ if self.encoding in ("mulaw", "alaw") else WIDEBAND_RATE_HZ

    @property
    def encoding(self) -> PcmEncoding:
        """Form of a sample of raw PCM."""
        return self.pcm_encoding or "s16le"

    @property
    def may_be_prepared(self) -> bool:
        """Whether the bot may take prompt, tools and world."""
        return self.protocol == "rtvi" and self.mode != "black-box"


def dialect_of(side: Side, dialect: Dialect) -> Dialect:
    """Return how the bot of ``side`` is spoken to, where ``dialect`` was asked for.

    Raises:
        DefinitionError: if the simulated user is to be anything but evaluated.
    """
    if side == AGENT:
        return dialect
    if dialect.protocol != "rtvi" or dialect.mode == "black-box":
        raise DefinitionError(
            "the simulated user must speak rtvi and take its part of a scenario: only the agent may have "
            "another protocol, or be a black box"
        )
    return Dialect()


def _check_word(name: str, value: str, known: tuple[str, ...]) -> None:
    if value not in known:
        raise DefinitionError(f"no {name} {value!r}; choose one of: {', '.join(known)}")
