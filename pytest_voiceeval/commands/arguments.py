"""What several commands take, and how texts of the command line are read."""

from __future__ import annotations

import argparse
import json
import logging
from pathlib import Path
from typing import Any, NoReturn, TypeAlias

Commands: TypeAlias = "argparse._SubParsersAction[argparse.ArgumentParser]"


def pack_arguments() -> argparse.ArgumentParser:
    """Return a parent parser with ``--pack``, which puts folders into ``options.pack``."""
    parent = argparse.ArgumentParser(add_help=False)
    parent.add_argument(
        "--pack",
        action="append",
        default=[],
        type=pack_folder,
        metavar="DIR",
        help="a folder with scenarios/ and tools/ of yours; may be given several times",
    )
    return parent


def pack_folder(text: str) -> Path:
    """Return the folder of a pack; wrong usage if it has no scenarios."""
    if not some_path(text).is_dir():
        raise argparse.ArgumentTypeError(f"there is no folder {text}")
    if not (Path(text) / "scenarios").is_dir():
        raise argparse.ArgumentTypeError(f"{text}: no folder 'scenarios' in it; name the folder above")
    return Path(text)


def pack_hint(options: argparse.Namespace) -> str:
    """Return what to add to a command that knows no such name and was not told of the pack here."""
    from pytest_voiceeval.scenarios.packs import builtin_pack, is_pack  # noqa: PLC0415 - only where needed

    try:
        here = Path.cwd()
    except FileNotFoundError:
        return ""
    could_be_named = getattr(options, "pack", None) == [] and here != builtin_pack().root
    return "; scenarios of this folder are known with --pack ." if could_be_named and is_pack(here) else ""


def some_path(text: str) -> Path:
    """Return a path; wrong usage if it is empty, as of a variable of the shell that is not set."""
    if not text.strip():
        raise argparse.ArgumentTypeError("the path is empty; write one, such as . for this folder")
    return Path(text)


def port(text: str) -> int:
    """Return a port to listen on; 0 takes a free one."""
    if not text.isdigit() or int(text) > 65535:
        raise argparse.ArgumentTypeError(f"{text!r} is no port; write a number from 0 to 65535")
    return int(text)


def cache_dir(text: str) -> Path | None:
    """Return the folder that keeps spoken lines, None for none."""
    from pytest_voiceeval.bots.speech_cache import cache_folder  # noqa: PLC0415 - heavy

    try:
        return cache_folder(text, Path())
    except ValueError as exc:
        raise argparse.ArgumentTypeError(f"{text!r} {exc}") from None


def folder(text: str) -> Path:
    """Return a folder that is there."""
    if not some_path(text).is_dir():
        raise argparse.ArgumentTypeError(f"there is no folder {text}")
    return Path(text).resolve()


def path(text: str) -> str:
    """Return the path of an URL."""
    from pytest_voiceeval.bots.command import url_path  # noqa: PLC0415 - only where it is asked for

    try:
        return url_path(text)
    except ValueError as exc:
        raise argparse.ArgumentTypeError(f"{text!r}: {exc}") from None


def variable(text: str) -> tuple[str, str]:
    """Return name and value of an environment variable; what is wrong is told without the value."""
    from pytest_voiceeval.bots.command import variable as read  # noqa: PLC0415 - only where it is asked for

    try:
        return read(text)
    except ValueError as exc:
        raise argparse.ArgumentTypeError(f"it {exc}") from None


def json_object(text: str) -> dict[str, Any]:
    """Return the JSON object that ``text`` is."""
    try:
        value = json.loads(text, parse_constant=_refuse_constant)
    except json.JSONDecodeError as exc:
        at = f"line {exc.lineno}, column {exc.colno}"
        rest = exc.doc[exc.pos : exc.pos + 20]
        before = repr(rest) if rest else "the end"
        raise argparse.ArgumentTypeError(f"not JSON: {exc.msg} at {at}, before {before}: {text}") from None
    except RecursionError:
        raise argparse.ArgumentTypeError("not JSON that can be read: it is nested too deeply") from None
    except ValueError as exc:
        raise argparse.ArgumentTypeError(f"{exc}: {text}") from None
    if not isinstance(value, dict):
        raise argparse.ArgumentTypeError(f'write a JSON object, such as {{"id": "A123"}}, not {text}')
    return value


def _refuse_constant(word: str) -> NoReturn:
    raise ValueError(f"{word} is not a JSON value; write null or a number")


def keep_quiet() -> None:
    """Keep logs of ours and of pipecat's, which greets where it is imported, out of a command's output."""
    from pytest_voiceeval.run.logs import mute_default_sink  # noqa: PLC0415 - heavy

    mute_default_sink()
    logging.getLogger("pytest_voiceeval").addHandler(logging.NullHandler())
