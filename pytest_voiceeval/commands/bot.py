"""``bot``: an embedded bot served as a process of its own."""

from __future__ import annotations

import argparse
import asyncio
import os

from pytest_voiceeval.bots.process import SIDE_VARIABLE
from pytest_voiceeval.commands.arguments import Commands, cache_dir, pack_arguments, port
from pytest_voiceeval.errors import DefinitionError
from pytest_voiceeval.model.turns import AGENT, SIDES
from pytest_voiceeval.scenarios.rehearsal import REHEARSALS


def add_parser(commands: Commands) -> None:
    """Add the command to the command line."""
    parser = commands.add_parser(
        "bot",
        parents=[pack_arguments()],
        help="serve an embedded bot on a port, for any scenario, until it is stopped",
        description="Serve an embedded bot: --voice-agent='cmd:python -m pytest_voiceeval bot --port {port}' "
        "starts one, --voice-agent=ws://127.0.0.1:PORT uses one that runs.",
    )
    parser.add_argument(
        "--side",
        choices=SIDES,
        default=os.environ.get(SIDE_VARIABLE, AGENT),
        help=f"which side it plays (default: what {SIDE_VARIABLE} says, which 'cmd:' sets, else agent)",
    )
    parser.add_argument(
        "--profile", default="local", help="name of a profile, or a YAML file (default: local)"
    )
    parser.add_argument("--host", default="127.0.0.1", help="address to listen on (default: 127.0.0.1)")
    parser.add_argument(
        "--port", type=port, default=0, help="port to listen on; 0 takes a free one (default)"
    )
    parser.add_argument(
        "--rehearsal",
        choices=REHEARSALS,
        default="gold",
        help="variant that a rehearsal profile plays (default: gold)",
    )
    parser.add_argument(
        "--cache-dir",
        type=cache_dir,
        default="user",
        metavar="DIR",
        help="folder that keeps what is said of a rehearsal; 'user' is in the user's cache directory "
        "(default), 'none' keeps nothing",
    )
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Serve the bot until it is stopped; say where it listens."""
    if options.side not in SIDES:
        raise DefinitionError(f"{SIDE_VARIABLE}={options.side}: write user or agent there, or as --side")
    from pytest_voiceeval.bots.profile import load_profile  # noqa: PLC0415
    from pytest_voiceeval.bots.serve import serve_bot  # noqa: PLC0415
    from pytest_voiceeval.bots.speech_cache import SpeechCache  # noqa: PLC0415
    from pytest_voiceeval.scenarios.packs import (  # noqa: PLC0415
        PACKS_VARIABLE,
        builtin_pack,
        named_roots,
        user_pack,
    )

    told = [root for root in named_roots(os.environ.get(PACKS_VARIABLE, "")) if root != builtin_pack().root]
    roots = options.pack or told

    def ready(url: str) -> None:
        print(f"{options.side} bot listens at {url}", flush=True)  # noqa: T201

    asyncio.run(
        serve_bot(
            load_profile(options.profile),
            options.side,
            options.port,
            options.host,
            packs=[user_pack(root) for root in roots],
            variant=options.rehearsal,
            cache=SpeechCache(options.cache_dir),
            on_ready=ready,
        )
    )
    return 0
