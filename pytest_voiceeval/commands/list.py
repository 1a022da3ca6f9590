"""``list``: the names of all scenarios."""

from __future__ import annotations

import argparse

from pytest_voiceeval.commands.arguments import Commands, pack_arguments


def add_parser(commands: Commands) -> None:
    """Add the command to the command line."""
    parser = commands.add_parser("list", parents=[pack_arguments()], help="print the names of all scenarios")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Print every registered name, one a line."""
    from pytest_voiceeval.scenarios.packs import packs_of  # noqa: PLC0415
    from pytest_voiceeval.scenarios.registry import list_eval_scenarios  # noqa: PLC0415

    for pack in packs_of(options.pack):
        pack.load()
    print("\n".join(list_eval_scenarios()))  # noqa: T201
    return 0
