"""Which scenarios ``run`` holds."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from pytest_voiceeval.commands.arguments import some_path
from pytest_voiceeval.errors import UnknownNameError


def add_selection(parser: argparse.ArgumentParser) -> None:
    """Add the arguments that say what is held, and where the run lies."""
    group = parser.add_argument_group("scenarios")
    group.add_argument(
        "--scenarios",
        nargs="+",
        default=[],
        metavar="NAME",
        help="names, domains or globs (default: those of --domain, else of --resume, else all)",
    )
    group.add_argument("--domain", default="", metavar="D", help="all scenarios whose name begins with D__")
    group.add_argument(
        "--split",
        default="base",
        metavar="NAME",
        help="split of a benchmark's tasks that its domain stands for, such as train or test (base)",
    )
    group.add_argument("--list", action="store_true", help="print their names and exit")
    group.add_argument("--list-domains", action="store_true", help="print their domains and exit")
    group.add_argument(
        "--output-dir",
        type=some_path,
        default=Path("eval_results"),
        metavar="DIR",
        help="folder in which each run makes its own (eval_results)",
    )
    group.add_argument(
        "--resume",
        default="",
        metavar="RUN",
        help="go on with a run: its timestamp, its name or its folder; what has a result is not held again",
    )


def resumed_run(options: argparse.Namespace) -> Path | None:
    """Return the folder of the run to go on with; ``None`` for a new one.

    Raises:
        UnknownNameError: if there is no such run.
    """
    from pytest_voiceeval.run.resume import find_run  # noqa: PLC0415

    if not options.resume:
        return None
    try:
        return find_run(options.resume, options.output_dir, Path.cwd())
    except ValueError as exc:
        raise UnknownNameError(f"--resume {options.resume}: {exc}") from None


def chosen_names(options: argparse.Namespace, resumed: Path | None) -> Sequence[str]:
    """Return the names of the scenarios that are chosen.

    Raises:
        UnknownNameError: if there is none of that name, in that domain or of that split, or the run that is
            gone on with names none that there is.
    """
    from pytest_voiceeval.scenarios.packs import packs_of  # noqa: PLC0415
    from pytest_voiceeval.scenarios.registry import list_eval_scenarios, of_split, select  # noqa: PLC0415

    for pack in packs_of(options.pack):
        pack.load()
    if options.scenarios:
        return select(options.scenarios, options.split)
    names = list_eval_scenarios()
    if options.domain:
        chosen = [name for name in names if name.startswith(f"{options.domain}__")]
        return of_split(chosen, options.split) if chosen else select([options.domain], options.split)
    return _names_of_before(options.resume, resumed, names) if resumed else of_split(names, options.split)


def warn_of_split(names: Sequence[str], split: str) -> None:
    """Tell of each benchmark that one of ``names`` is of if ``split`` has tasks that are not here."""
    from pytest_voiceeval.scenarios.registry import absent_tasks  # noqa: PLC0415

    for told in absent_tasks(names, split):
        print(f"warning: {told}", file=sys.stderr)  # noqa: T201


def _names_of_before(given: str, resumed: Path, names: Sequence[str]) -> Sequence[str]:
    """Return those of ``names`` that the run was to hold."""
    from pytest_voiceeval.run.history import RUN_ARGS, read_invocations, scenario_names  # noqa: PLC0415

    before = set(scenario_names(read_invocations(resumed)))
    known = [name for name in names if name in before]
    if not known:
        raise UnknownNameError(
            f"--resume {given}: its {RUN_ARGS} names no scenario that there is; say which to hold with "
            "--scenarios"
        )
    return known
