"""Databases as files: one JSON or TOML file, or a folder with one JSON file a table."""

from __future__ import annotations

import json
import math
import os
import tomllib
from datetime import date, time
from functools import lru_cache
from pathlib import Path
from typing import Any, NoReturn

from pytest_voiceeval.errors import DataError
from pytest_voiceeval.world.files import read_utf8
from pytest_voiceeval.world.overlay import SharedDict, share, world_of
from pytest_voiceeval.world.roots import missing_data, resolve_under_root, roots_for, under

_KEPT_DATABASES = 64

TELECOM = "tau2_telecom"
"""Folder whose TOML leaves out what has a default."""

Stamp = tuple[Path, int, int, int]
"""A file, and what tells its content from that of another time: inode, time of change in ns, size."""


def load_db_artifact(relative_path: str | os.PathLike[str]) -> dict[str, Any]:
    """Return a world of its own with the database at ``relative_path`` under the first data root that has it.

    ``<path>.json`` or ``<path>.toml`` is the whole database; else the folder ``<path>/`` has one
    ``<table>.json`` for each top-level key. The single file wins. The ending of the path is optional. The
    files are read once; all worlds share what they do not change (see ``overlay``).

    Raises:
        DataError: if there is none, if a file can't be read, if the whole is not an object, or if the path
            leaves the data roots.
    """
    text = str(relative_path)
    stem = text.removesuffix(".json").removesuffix(".toml").rstrip("/")
    places = [
        found for root in roots_for(relative_path) for name in _names(stem) if (found := under(root, name))
    ]
    for place in places:
        if place.is_file() or _tables(place):
            return read_database(place)
    resolve_under_root(relative_path)
    roots = ", ".join(map(str, roots_for(relative_path)))
    raise missing_data(
        Path(text).parts[0] if stem else "",
        f"no database {text!r}: neither {stem}.json nor {stem}.toml, nor a folder {stem} with JSON files, in "
        f"{roots}",
    )


def _names(stem: str) -> tuple[str, ...]:
    # A data root itself is no database.
    return (f"{stem}.json", f"{stem}.toml", stem) if stem else ()


def read_database(path: Path) -> dict[str, Any]:
    """Return a world of its own with the database at ``path``: a JSON or TOML file, or a folder with tables.

    Raises:
        DataError: if there is none.
    """
    if not path.is_dir():
        return world_of(_single(_stamp(path)))
    tables = _tables(path)
    if not tables:
        raise DataError(f"{path}: no database: the folder has no JSON files")
    return world_of(_sharded(tuple(map(_stamp, tables))))


def _tables(folder: Path) -> list[Path]:
    return sorted(path for path in folder.glob("*.json") if not path.name.startswith("."))


def _stamp(path: Path) -> Stamp:
    try:
        state = path.stat()
    except OSError as exc:
        raise DataError(f"{path}: {exc}") from exc
    return path, state.st_ino, state.st_mtime_ns, state.st_size


@lru_cache(_KEPT_DATABASES)
def _single(stamp: Stamp) -> SharedDict:
    path, *_ = stamp
    whole = _read(path)
    if not isinstance(whole, SharedDict):
        kind = "list" if isinstance(whole, list) else type(whole).__name__
        raise DataError(f"{path}: a database is a JSON object, this is {kind}")
    return whole


@lru_cache(_KEPT_DATABASES)
def _sharded(stamps: tuple[Stamp, ...]) -> SharedDict:
    return SharedDict({path.stem: _read(path) for path, *_ in stamps})


def _read(path: Path) -> Any:
    """Return what a file holds as a shared part."""
    try:
        text = read_utf8(path)
        if path.suffix == ".toml":
            return share(_from_toml(path, text))
        return share(json.loads(text, parse_constant=_refuse_constant))
    except json.JSONDecodeError as exc:
        is_cut = not exc.doc[exc.pos :].strip() or exc.msg.startswith("Unterminated")
        remedy = "the file ends too early; fetch or save it again" if is_cut else "mend it there"
        raise DataError(f"{path}:{exc.lineno}:{exc.colno}: not JSON: {exc.msg}; {remedy}") from exc
    except tomllib.TOMLDecodeError as exc:
        raise DataError(f"{path}: not TOML: {exc}; mend it there, or fetch the file again") from exc
    except DataError:
        raise
    except (OSError, ValueError, RecursionError) as exc:
        raise DataError(f"{path}: {exc}") from exc


def _from_toml(path: Path, text: str) -> Any:
    """Return what TOML says, dates as texts; the databases of tau2's telecom with all that it leaves out."""
    if path.parent.name == TELECOM:
        from pytest_voiceeval.world.telecom import MODELS, database_from_toml  # noqa: PLC0415 - light start

        if model := MODELS.get(path.stem):
            return json.loads(database_from_toml(text, model, str(path)))
    return _with_texts_for_dates(tomllib.loads(text))


def _with_texts_for_dates(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _with_texts_for_dates(entry) for key, entry in value.items()}
    if isinstance(value, list):
        return [_with_texts_for_dates(element) for element in value]
    if isinstance(value, float) and not math.isfinite(value):
        raise ValueError(f"{value} is not a JSON value; leave it out or write a number")
    return value.isoformat() if isinstance(value, date | time) else value


def _refuse_constant(word: str) -> NoReturn:
    raise ValueError(f"{word} is not a JSON value; write null or a number")
