"""``resume``: what going on with a run would hold, without holding it."""

from __future__ import annotations

import argparse
from pathlib import Path

from pytest_voiceeval.commands.arguments import Commands, some_path
from pytest_voiceeval.commands.judge_arguments import whole
from pytest_voiceeval.errors import UnknownNameError


def add_parser(commands: Commands) -> None:
    """Add the command to the command line."""
    parser = commands.add_parser(
        "resume",
        help="tell what --voice-resume=RUN would hold again",
        description="Tell which scenarios of a run have a result, and which --voice-resume=RUN would hold. "
        "Nothing is held or moved. Exit code 1 if there is no such run.",
    )
    parser.add_argument("which", metavar="RUN", help="timestamp, name or folder of a run")
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
        help="how often an agent must have answered (default: as in the last start of the run)",
    )
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Print what became of every scenario of a run."""
    from pytest_voiceeval.run.earlier import EarlierRun  # noqa: PLC0415
    from pytest_voiceeval.run.history import (  # noqa: PLC0415
        RUN_ARGS,
        last_minimum,
        read_invocations,
        scenario_names,
    )
    from pytest_voiceeval.run.resume import find_run  # noqa: PLC0415

    try:
        folder = find_run(options.which, options.output_dir, Path.cwd())
    except ValueError as exc:
        raise UnknownNameError(f"{options.which}: {exc}") from None
    starts = read_invocations(folder)
    minimum = options.min_agent_turns if options.min_agent_turns is not None else last_minimum(starts)
    states = EarlierRun(folder, "", minimum).states()
    again = {item: reason for item, (state, reason) in states.items() if state != "completed"}
    names = scenario_names(starts)
    fresh = [name for name in names if name not in states]
    lines = [
        f"directory: {folder}",
        f"minimum agent turns: {minimum or 'none'}",
        f"completed: {len(states) - len(again)}, rerun: {len(again)}, fresh: {len(fresh)}",
    ]
    if again:
        lines += ["rerun:", *(f"  {item}: {reason}" for item, reason in sorted(again.items()))]
    if fresh:
        lines += ["fresh:", *(f"  {name}" for name in fresh)]
    if not names:
        lines.append(f"which scenarios it was to hold is not known: {RUN_ARGS} is missing, or does not tell")
    elif not again and not fresh:
        lines.append("all scenarios are complete")
    print("\n".join(lines))  # noqa: T201
    return 0
