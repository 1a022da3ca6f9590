"""Databases as files: one JSON file, or a folder with one JSON file a table."""

from __future__ import annotations

import json
import os
from functools import lru_cache
from pathlib import Path
from typing import Any, NoReturn

from pytest_voiceeval.errors import DataError
from pytest_voiceeval.world.overlay import SharedDict, share, world_of
from pytest_voiceeval.world.roots import ROOT_VARIABLE, resolve_under_root

_KEPT_DATABASES = 64

Stamp = tuple[Path, int, int, int]
"""A file, and what tells its content from that of another time: inode, time of change in ns, size."""


def load_db_artifact(relative_path: str | os.PathLike[str]) -> dict[str, Any]:
    """Return a world of its own with the database at ``relative_path`` under the data root.

    The files are read once; all worlds share what they do not change (see ``overlay``).

    ``<path>.json`` is the whole database; else the folder ``<path>/`` has one ``<table>.json`` for
    each top-level key. The single file wins. A ``.json`` at the end of the path is optional.

    Raises:
        DataError: if there is neither, if a file is not JSON, if the whole is not an object, or if
            the path leaves the data root.
    """
    stem = str(relative_path).removesuffix(".json").rstrip("/")
    single = resolve_under_root(f"{stem}.json")
    folder = resolve_under_root(stem)
    if single.is_file():
        return read_database(single)
    # The data root itself is no database, and neither is a folder of other things.
    if not stem or not _tables(folder):
        raise DataError(
            f"no database {str(relative_path)!r}: there is neither {single} nor a folder {folder} with JSON "
            f"files; put it there, or set {ROOT_VARIABLE} to the folder that has it"
        )
    return read_database(folder)


def read_database(path: Path) -> dict[str, Any]:
    """Return a world of its own with the database at ``path``: a JSON file, or a folder with one a table.

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
    whole = _read_json(path)
    if not isinstance(whole, SharedDict):
        kind = "list" if isinstance(whole, list) else type(whole).__name__
        raise DataError(f"{path}: a database is a JSON object, this is {kind}")
    return whole


@lru_cache(_KEPT_DATABASES)
def _sharded(stamps: tuple[Stamp, ...]) -> SharedDict:
    return SharedDict({path.stem: _read_json(path) for path, *_ in stamps})


def _read_json(path: Path) -> Any:
    """Return what a file holds as a shared part."""
    try:
        return share(json.loads(path.read_text(encoding="utf-8"), parse_constant=_refuse_constant))
    except json.JSONDecodeError as exc:
        raise DataError(f"{path}:{exc.lineno}:{exc.colno}: not JSON: {exc.msg}") from exc
    except (OSError, ValueError, RecursionError) as exc:
        raise DataError(f"{path}: {exc}") from exc


def _refuse_constant(word: str) -> NoReturn:
    raise ValueError(f"{word} is not a JSON value; write null or a number")
