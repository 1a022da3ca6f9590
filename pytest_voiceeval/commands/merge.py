"""``merge``: several runs folded into one."""

from __future__ import annotations

import argparse
import itertools
import sys
from datetime import datetime
from pathlib import Path

from pytest_voiceeval.commands.arguments import Commands, some_path
from pytest_voiceeval.commands.judge_arguments import whole
from pytest_voiceeval.errors import UnknownNameError


def add_parser(commands: Commands) -> None:
    """Add the command to the command line."""
    parser = commands.add_parser(
        "merge",
        help="fold runs, such as the parts that --voice-shard makes, into one",
        description="Fold runs into one, whose files and figures are those of a single run of all their "
        "scenarios; the runs stay as they are. Exit code 1 if they can't be one.",
    )
    parser.add_argument("runs", nargs="+", metavar="RUN", help="timestamp, name or folder of a run")
    parser.add_argument(
        "--output",
        type=some_path,
        metavar="DIR",
        help="folder of the merged run, empty or not there yet (default: a new one where runs lie)",
    )
    parser.add_argument(
        "--output-dir",
        type=some_path,
        default=Path("eval_results"),
        metavar="DIR",
        help="folder in which runs lie (eval_results)",
    )
    parser.add_argument(
        "--min-agent-turns",
        type=whole,
        metavar="N",
        help="how often an agent must have answered (default: as in the runs)",
    )
    parser.add_argument("--no-recordings", action="store_true", help="copy all files but the recordings")
    parser.add_argument(
        "--incomplete", action="store_true", help="take runs that did not come to their end, too"
    )
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Write the merged run, and print where it is and what there is in it."""
    from pytest_voiceeval.run.merged_run import merge_runs  # noqa: PLC0415

    folders = [_folder(text, options.output_dir) for text in options.runs]
    output = options.output or _free(options.output_dir / f"eval_{datetime.now():%Y%m%d_%H%M%S}")
    merged = merge_runs(
        folders,
        output.absolute(),
        min_agent_turns=options.min_agent_turns,
        with_recordings=not options.no_recordings,
        may_lack_results=options.incomplete,
    )
    for warning in merged.warnings:
        print(f"warning: {warning}", file=sys.stderr)  # noqa: T201
    was_there = " (as it was made before)" if merged.was_there else ""
    missing = merged.tally.without_verdict()
    print(f"merged {len(folders)} run{'s' if len(folders) > 1 else ''}: {merged.folder}{was_there}")  # noqa: T201
    print(f"scenarios: {merged.tally.total}" + (f", without a verdict: {missing}" if missing else ""))  # noqa: T201
    return 0


def _free(wanted: Path) -> Path:
    """Return the folder, or the first of ``wanted.2`` and so on that is not there."""
    names = (wanted.with_name(f"{wanted.name}.{number}") for number in itertools.count(2))
    return next(path for path in itertools.chain([wanted], names) if not path.exists())


def _folder(text: str, output_dir: Path) -> Path:
    from pytest_voiceeval.run.resume import find_run  # noqa: PLC0415

    try:
        return find_run(text, output_dir, Path.cwd())
    except ValueError as exc:
        raise UnknownNameError(f"{text}: {exc}") from None
