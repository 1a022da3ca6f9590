"""``check``: every scenario is sound, or what has to be mended."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from pytest_voiceeval.commands.arguments import Commands, keep_quiet, pack_arguments
from pytest_voiceeval.commands.selection import warn_of_split
from pytest_voiceeval.model.safe_text import json_document, visible

if TYPE_CHECKING:
    from pytest_voiceeval.run.findings import Finding

DESCRIPTION = """\
Look at scenarios without holding a call: their prompts render, their tools are there and can be made, their
reference answer matches itself, their gold rehearsal passes when it is played in process without sound, its
sabotages and an agent that does nothing do not, and gold actions lead to the database that is expected. Each
finding is a line with file, line, scenario, what is wrong and what to do; notes tell what is no fault. What a
judge has to decide is not computed. Exit code 1 if there is a fault.
"""


def add_parser(commands: Commands) -> None:
    """Add the command to the command line."""
    parser = commands.add_parser(
        "check",
        parents=[pack_arguments()],
        help="check that scenarios can be passed, and not without doing what they ask for",
        description=DESCRIPTION,
    )
    parser.add_argument(
        "selectors",
        nargs="*",
        metavar="SELECTOR",
        help="a domain, a name, or a glob over names (default: all of the packs that --pack names, else all)",
    )
    parser.add_argument(
        "--split",
        metavar="NAME",
        help="split of a benchmark's tasks, such as train or full (base where its domain is named, else all)",
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Check the scenarios chosen and print what is found; return 1 if there is a fault."""
    keep_quiet()
    from pytest_voiceeval.run.loading import load_packs  # noqa: PLC0415
    from pytest_voiceeval.scenarios.packs import packs_of  # noqa: PLC0415

    is_narrowed = bool(options.selectors or options.pack)
    loaded = load_packs(packs_of(options.pack), tells_missing_data=not is_narrowed)
    names = _chosen(options)
    return _print_json(names, loaded) if options.json else _print_lines(names, loaded)


def _chosen(options: argparse.Namespace) -> list[str]:
    from pytest_voiceeval.run.loading import names_in  # noqa: PLC0415
    from pytest_voiceeval.scenarios import registry  # noqa: PLC0415
    from pytest_voiceeval.scenarios.packs import user_pack  # noqa: PLC0415

    split = options.split or registry.DEFAULT_SPLIT
    if options.selectors:
        names = registry.select(options.selectors, split)
    else:
        everything = (
            names_in(map(user_pack, options.pack)) if options.pack else registry.list_eval_scenarios()
        )
        names = registry.of_split(everything, split) if options.split else everything
    warn_of_split(names, split)
    return names


def _found(names: Sequence[str], loaded: Sequence[Finding]) -> Iterator[Finding]:
    from pytest_voiceeval.run.soundness import check_scenario  # noqa: PLC0415
    from pytest_voiceeval.scenarios.registry import named_scenario_class  # noqa: PLC0415

    yield from loaded
    for name in names:
        yield from check_scenario(name, named_scenario_class(name))


def _print_lines(names: Sequence[str], loaded: Sequence[Finding]) -> int:
    faults = notes = 0
    for finding in _found(names, loaded):
        print(visible(str(finding)), flush=True)  # noqa: T201
        faults += finding.is_fault
        notes += not finding.is_fault
    scenarios = "1 scenario" if len(names) == 1 else f"{len(names)} scenarios"
    print(f"checked {scenarios}: {_count(faults, 'fault')}, {_count(notes, 'note')}")  # noqa: T201
    return int(faults > 0)


def _print_json(names: Sequence[str], loaded: Sequence[Finding]) -> int:
    findings = [finding.to_json() for finding in _found(names, loaded)]
    faults = sum(finding["kind"] == "fault" for finding in findings)
    whole = {
        "scenarios": list(names),
        "faults": faults,
        "notes": len(findings) - faults,
        "findings": findings,
    }
    print(json_document(json.dumps(whole, indent=2, ensure_ascii=False)))  # noqa: T201
    return int(faults > 0)


def _count(number: int, noun: str) -> str:
    return f"{number or 'no'} {noun}{'' if number == 1 else 's'}"
