"""The command line: ``python -m pytest_voiceeval``."""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from pytest_voiceeval.bots.process import SIDE_VARIABLE
from pytest_voiceeval.errors import VoiceEvalError
from pytest_voiceeval.model.turns import AGENT, SIDES
from pytest_voiceeval.scenarios.rehearsal import REHEARSALS


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; return the exit code: 0 done, 1 failed with a message, 2 wrong usage."""
    parser = _parser()
    options = parser.parse_args(arguments)
    try:
        code: int = options.command(options)
    except (VoiceEvalError, OSError) as exc:
        print(f"error: {exc}", file=sys.stderr)  # noqa: T201
        return 1
    except KeyboardInterrupt:
        return 130
    return code


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m pytest_voiceeval",
        description="Beside pytest: list scenarios, run an embedded bot as a process of its own.",
    )
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    packs = argparse.ArgumentParser(add_help=False)
    packs.add_argument(
        "--pack",
        action="append",
        default=[],
        type=_pack,
        metavar="DIR",
        help="a folder with scenarios/ and tools/ of yours; may be given several times",
    )

    listing = commands.add_parser("list", parents=[packs], help="print the names of all scenarios")
    listing.set_defaults(command=_list)

    bot = commands.add_parser(
        "bot",
        parents=[packs],
        help="serve an embedded bot on a port, for any scenario, until it is stopped",
        description="Serve an embedded bot: --voice-agent='cmd:python -m pytest_voiceeval bot --port {port}' "
        "starts one, --voice-agent=ws://127.0.0.1:PORT uses one that runs.",
    )
    bot.add_argument(
        "--side",
        choices=SIDES,
        default=os.environ.get(SIDE_VARIABLE, AGENT),
        help=f"which side it plays (default: what {SIDE_VARIABLE} says, which 'cmd:' sets, else agent)",
    )
    bot.add_argument("--profile", default="local", help="name of a profile, or a YAML file (default: local)")
    bot.add_argument("--host", default="127.0.0.1", help="address to listen on (default: 127.0.0.1)")
    bot.add_argument("--port", type=_port, default=0, help="port to listen on; 0 takes a free one (default)")
    bot.add_argument(
        "--rehearsal",
        choices=REHEARSALS,
        default="gold",
        help="variant that a rehearsal profile plays (default: gold)",
    )
    bot.add_argument(
        "--cache-dir",
        type=_cache_dir,
        default="user",
        metavar="DIR",
        help="folder that keeps what is said of a rehearsal; 'user' is in the user's cache directory "
        "(default), 'none' keeps nothing",
    )
    bot.set_defaults(command=_bot)
    return parser


def _pack(text: str) -> Path:
    if not (Path(text) / "scenarios").is_dir():
        raise argparse.ArgumentTypeError(f"{text}: no folder 'scenarios' in it; name the folder above")
    return Path(text)


def _port(text: str) -> int:
    if not text.isdigit() or int(text) > 65535:
        raise argparse.ArgumentTypeError(f"{text!r} is no port; write a number from 0 to 65535")
    return int(text)


def _cache_dir(text: str) -> Path | None:
    from pytest_voiceeval.bots.speech_cache import cache_folder  # noqa: PLC0415

    try:
        return cache_folder(text, Path())
    except ValueError as exc:
        raise argparse.ArgumentTypeError(f"{text!r} {exc}") from None


def _list(options: argparse.Namespace) -> int:
    from pytest_voiceeval.scenarios.packs import packs_of  # noqa: PLC0415
    from pytest_voiceeval.scenarios.registry import list_eval_scenarios  # noqa: PLC0415

    for pack in packs_of(options.pack):
        pack.load()
    print("\n".join(list_eval_scenarios()))  # noqa: T201
    return 0


def _bot(options: argparse.Namespace) -> int:
    from pytest_voiceeval.bots.profile import load_profile  # noqa: PLC0415
    from pytest_voiceeval.bots.serve import serve_bot  # noqa: PLC0415
    from pytest_voiceeval.bots.speech_cache import SpeechCache  # noqa: PLC0415
    from pytest_voiceeval.scenarios.packs import user_pack  # noqa: PLC0415

    def ready(url: str) -> None:
        print(f"{options.side} bot listens at {url}", flush=True)  # noqa: T201

    asyncio.run(
        serve_bot(
            load_profile(options.profile),
            options.side,
            options.port,
            options.host,
            packs=[user_pack(root) for root in options.pack],
            variant=options.rehearsal,
            cache=SpeechCache(options.cache_dir),
            on_ready=ready,
        )
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
