"""Which data of a benchmark a folder has, and what is wrong with them."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path

from pydantic import ValidationError

from pytest_voiceeval.world.pulling import Manifest, read_tasks
from pytest_voiceeval.world.releases import release_of
from pytest_voiceeval.world.sources import TASKS
from pytest_voiceeval.world.task_sets import MANIFEST, SPLITS


@dataclass(frozen=True)
class Holding:
    """What a folder has of a domain.

    Attributes:
        tasks: how many; 0 if the file of tasks cannot be read.
        base: how many of them the split ``base`` has; ``None`` if nothing readable says so.
        version: of the manifest, or the release that the files are of; empty if neither is known.
        source: of the manifest; empty if there is none.
        compares: whether all files are as in a known release.
        faults: what is wrong with it.
    """

    tasks: int
    base: int | None
    version: str
    source: str
    compares: bool
    faults: tuple[str, ...]


def holding(domain: str, folder: Path) -> Holding:
    """Return what ``folder`` has of ``domain``, whose file of tasks is there."""
    sums = _sums(folder)
    faults = []
    try:
        tasks = len(read_tasks(folder / TASKS[domain]))
    except (ValueError, RecursionError, OSError) as exc:
        tasks = 0
        faults.append(f"{TASKS[domain]} cannot be read: {exc}")
    release = release_of(domain, TASKS[domain], sums)
    manifest = None
    if (path := folder / MANIFEST).is_file():
        try:
            manifest = Manifest.model_validate_json(path.read_bytes())
        except ValidationError:
            faults.append(f"{MANIFEST} cannot be read")
    if manifest is not None:
        changed = sorted(name for name, kept in manifest.files.items() if sums.get(name) != kept)
        faults += [f"changed since it was pulled: {name}" for name in changed]
    version = release or (manifest.version if manifest else "")
    source = manifest.source if manifest else ""
    return Holding(tasks, _base(folder), version, source, release is not None, tuple(faults))


def _base(folder: Path) -> int | None:
    """Return the size of the split that is held unless another is asked for."""
    try:
        return len(json.loads((folder / SPLITS).read_bytes())["base"])
    except (OSError, ValueError, TypeError, KeyError):  # no split to tell of; who holds it says what is wrong
        return None


def _sums(folder: Path) -> dict[str, str]:
    paths = [path for path in folder.rglob("*") if path.is_file() and path.name != MANIFEST]
    return {
        path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest() for path in paths
    }
