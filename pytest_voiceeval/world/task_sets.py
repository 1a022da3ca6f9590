"""Which data of a benchmark are here: releases of one differ, and their figures do not compare."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from pytest_voiceeval.world.releases import UNCOUNTED, unknown_files
from pytest_voiceeval.world.roots import BENCHMARKS, find_data
from pytest_voiceeval.world.sources import TASKS

MANIFEST = "MANIFEST.json"
"""What is written beside data that are pulled."""

SPLITS = "split_tasks.json"
"""The ids of tasks by the split that they are of."""

Stamp = tuple[Path, int, int]
"""A file, and what tells its content from that of another time: time of change in ns, size."""


@dataclass(frozen=True)
class DataSet:
    """The data of a domain.

    Attributes:
        tasks_sha256: SHA-256 of the file that has the tasks.
        sha256: SHA-256 of the list of all files that figures depend on, each with its own SHA-256, in the
            form and order of ``sha256sum``, names from the domain's folder.
        unknown: names of files that are not as in any known release.
    """

    tasks_sha256: str
    sha256: str
    unknown: tuple[str, ...]


def data_set(domain: str) -> DataSet | None:
    """Return which data of ``domain`` are here; ``None`` if it is no benchmark's, or they are not here."""
    path = find_data(domain, TASKS[domain]) if domain in TASKS else None
    return None if path is None else _data_set(domain, path.parent, tuple(_stamps(path.parent)))


def unknown_data(names: Iterable[str]) -> Iterator[str]:
    """Yield that data are of no known release, for each benchmark that one of the scenarios ``names`` is of.

    Nothing where they are, or are not here.
    """
    asked = {_benchmark(name.partition("__")[0]) for name in names}
    for domain in BENCHMARKS:
        if domain in asked:
            found = data_set(domain)
            if found and found.unknown:
                more = f" and {len(found.unknown) - 1} more" if len(found.unknown) > 1 else ""
                yield (
                    f"the data of {domain} are not as in any known release ({found.unknown[0]}{more}): "
                    "figures on them are not known to compare"
                )


def split_sizes(domain: str) -> dict[str, int]:
    """Return how many tasks each split of ``domain`` has, whether these are here or not.

    Nothing where it is no benchmark's, or its data say nothing of splits.
    """
    benchmark = _benchmark(domain)
    path = find_data(benchmark, SPLITS) if benchmark in BENCHMARKS else None
    try:
        splits = json.loads(path.read_bytes()) if path else {}
        return {str(name): len(ids) for name, ids in splits.items()}
    except (OSError, ValueError, TypeError, AttributeError):  # who reads its tasks says what is wrong
        return {}


def _benchmark(domain: str) -> str:
    """Return the domain that has the data of ``domain``: a variant has those of its benchmark."""
    return domain.removesuffix("_workflow")


def _stamps(folder: Path) -> Iterator[Stamp]:
    for path in sorted(folder.rglob("*")):
        if path.is_file() and path.name not in {MANIFEST, *UNCOUNTED}:
            state = path.stat()
            yield path, state.st_mtime_ns, state.st_size


@lru_cache(16)
def _data_set(domain: str, folder: Path, stamps: tuple[Stamp, ...]) -> DataSet:
    sums = {
        path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path, *_ in stamps
    }
    listed = "".join(f"{found}  {name}\n" for name, found in sorted(sums.items()))
    unknown = unknown_files(domain, TASKS[domain], sums)
    return DataSet(sums[TASKS[domain]], hashlib.sha256(listed.encode()).hexdigest(), tuple(unknown))
