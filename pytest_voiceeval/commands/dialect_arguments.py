"""How an agent is spoken to, as arguments of a command."""

from __future__ import annotations

import argparse

from pytest_voiceeval.wire.dialect import MODES, PCM_ENCODINGS, PROTOCOL_NAMES, Dialect


def add_dialect_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments to a parser."""
    group = parser.add_argument_group("an agent that is an address or a command")
    group.add_argument(
        "--agent-protocol",
        choices=PROTOCOL_NAMES,
        default="rtvi",
        help="what it speaks: pipecat's WebSocket and RTVI, raw PCM, or Twilio Media Streams (rtvi)",
    )
    group.add_argument(
        "--agent-mode",
        choices=MODES,
        default="auto",
        help="whether it takes prompt, tools and world of a scenario, or has its own (auto: found out)",
    )
    group.add_argument(
        "--agent-pcm-rate",
        type=int,
        metavar="HZ",
        help="samples a second of raw PCM (16000; 8000 of mulaw and alaw)",
    )
    group.add_argument("--agent-pcm-encoding", choices=PCM_ENCODINGS, help="samples of raw PCM (s16le)")


def agent_dialect(options: argparse.Namespace) -> Dialect:
    """Return what the arguments say.

    Raises:
        DefinitionError: if they do not go together.
    """
    return Dialect(
        options.agent_protocol, options.agent_mode, options.agent_pcm_rate, options.agent_pcm_encoding
    )
