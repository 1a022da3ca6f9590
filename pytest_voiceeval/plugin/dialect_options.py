"""The options that say how the agent is spoken to."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest

from pytest_voiceeval.errors import DefinitionError
from pytest_voiceeval.plugin.option import Option
from pytest_voiceeval.wire.dialect import (
    HIGHEST_RATE_HZ,
    LOWEST_RATE_HZ,
    MODES,
    PCM_ENCODINGS,
    PROTOCOL_NAMES,
    Dialect,
)

EMBEDDED = (
    "the agent is an embedded bot, which speaks rtvi and is evaluated; leave this out, or name the agent "
)


def _one_of(known: Sequence[str]) -> Callable[[str], str]:
    def parse(text: str) -> str:
        if text not in known:
            raise ValueError(f"choose one of: {', '.join(known)}")
        return text

    return parse


def _optional(parse: Callable[[str], Any]) -> Callable[[str], Any]:
    return lambda text: parse(text) if text.strip() else None


def _rate(text: str) -> int:
    if not text.strip().isdecimal() or not LOWEST_RATE_HZ <= int(text) <= HIGHEST_RATE_HZ:
        raise ValueError(
            f"write a whole number of hertz from {LOWEST_RATE_HZ} to {HIGHEST_RATE_HZ}, such as 16000"
        )
    return int(text)


PROTOCOL = Option(
    "voice_agent_protocol",
    _one_of(PROTOCOL_NAMES),
    "rtvi",
    "what an agent that is an address or a command speaks: rtvi (pipecat's WebSocket transport and RTVI), "
    "pcm (raw PCM over a WebSocket), twilio (Twilio Media Streams, of which Twilio's part is played)",
    "NAME",
)
MODE = Option(
    "voice_agent_mode",
    _one_of(MODES),
    "auto",
    "evaluated (the agent takes prompt, tools and world of each scenario), black-box (these are its own: it "
    "is called, and scored by what can be heard), auto (by whether it answers the first request)",
    "MODE",
)
PCM_RATE = Option(
    "voice_agent_pcm_rate",
    _optional(_rate),
    "",
    "samples a second of raw PCM, both ways; 16000 without it, 8000 for mulaw and alaw",
    "HZ",
    if_empty="write a whole number of hertz, such as 16000, or leave it out",
)
PCM_ENCODING = Option(
    "voice_agent_pcm_encoding",
    _optional(_one_of(PCM_ENCODINGS)),
    "",
    "samples of raw PCM: s16le (without it), f32le, mulaw, alaw",
    "NAME",
    if_empty=f"choose one of: {', '.join(PCM_ENCODINGS)}",
)

DIALECT_OPTIONS: tuple[Option[Any], ...] = (PROTOCOL, MODE, PCM_RATE, PCM_ENCODING)


def agent_dialect(config: pytest.Config, agent: str) -> Dialect:
    """Return how the agent is spoken to that ``agent`` names.

    Raises:
        pytest.UsageError: if a value is wrong, or they do not go together.
    """
    given = [f"{o.name(config)}={o.read(config)}" for o in DIALECT_OPTIONS if o.read(config) is not None]
    try:
        dialect = Dialect(*(option.read(config) for option in DIALECT_OPTIONS))
    except DefinitionError as exc:
        raise pytest.UsageError(f"{' '.join(given)}: {exc}") from None
    is_embedded = not agent.startswith("cmd:") and "://" not in agent
    if is_embedded and (dialect.protocol != "rtvi" or dialect.mode == "black-box"):
        raise pytest.UsageError(f"{' '.join(given)}: {EMBEDDED}by an address or a command (--voice-agent)")
    return dialect
