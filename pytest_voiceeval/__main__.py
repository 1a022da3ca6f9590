"""The command line: ``python -m pytest_voiceeval``."""

from __future__ import annotations

import argparse
import io
import os
import sys
from collections.abc import Sequence

from pytest_voiceeval.commands import bot, check, data, describe, merge, resume, run, tool
from pytest_voiceeval.commands import list as list_names
from pytest_voiceeval.commands.arguments import pack_hint
from pytest_voiceeval.errors import UnknownNameError, VoiceEvalError
from pytest_voiceeval.model.safe_text import visible

COMMANDS = (list_names, check, describe, tool, run, resume, merge, data, bot)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; return the exit code: 0 done, 1 failed with a message, 2 wrong usage."""
    parser = argparse.ArgumentParser(
        prog="python -m pytest_voiceeval",
        description="Beside pytest: list, check and describe scenarios, try a tool, hold scenarios, merge "
        "runs, fetch the data of benchmarks, run an embedded bot.",
    )
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # its encoding may lack what a scenario has
            stream.reconfigure(errors="backslashreplace")
    parser.add_argument("--version", action=_Version, nargs=0, help="print the version and exit")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    for command in COMMANDS:
        command.add_parser(commands)
    options = parser.parse_args(arguments)
    try:
        code: int = options.run(options)
        if sys.stdout is not None:  # it is closed where nobody wants to know
            sys.stdout.flush()
    except BrokenPipeError:  # whoever reads the output has had enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except UnknownNameError as exc:
        return _failed(f"{exc}{pack_hint(options)}")
    except VoiceEvalError as exc:
        return _failed(str(exc))
    except OSError as exc:
        return _failed(f"{exc.filename}: {exc.strerror}" if exc.filename and exc.strerror else str(exc))
    except KeyboardInterrupt:
        return 130
    return code


class _Version(argparse.Action):
    """Prints the version of the installed package."""

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        from importlib.metadata import PackageNotFoundError, version  # noqa: PLC0415 - only where asked for

        try:
            found = version("pytest-voiceeval")
        except PackageNotFoundError:
            found = "of a source tree that is not installed"
        print(f"pytest-voiceeval {found}")  # noqa: T201
        parser.exit()


def _failed(why: str) -> int:
    print(f"error: {visible(why)}", file=sys.stderr)  # noqa: T201
    return 1


if __name__ == "__main__":
    sys.exit(main())
