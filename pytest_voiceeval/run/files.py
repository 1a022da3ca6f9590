"""Folders and files of a run: names that are safe, folders that nobody else has, JSON as it is found."""

from __future__ import annotations

import hashlib
import json
import os
import re
from pathlib import Path
from typing import Any

from pytest_voiceeval.world.files import storage_error


def read_json(path: Path) -> Any:
    """Return what a JSON file holds; ``None`` if it is missing, no JSON, or nested too deep to be read."""
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return None


LONGEST_NAME = 200
"""Bytes of a name; beside it there is room for what is appended to folders that are moved aside."""


_TAKEN = re.compile(
    r"(?i)(con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³])(\..*)?"  # no files on Windows, whatever their ending
    r"|(all_\w+|run_args|evaluation_log|bot_\w+)\.\w+"  # files of a run
    r"|.*\.(attempt\d|killed\.|replaced\.).*"  # folders that were moved aside
)


def file_name(name: str) -> str:
    """Return ``name`` as the name of a file: no separators, no hidden file, no reserved characters.

    Nor is it one that begins like an option, that a system or a run has another use for, or that the
    encoding of file names does not have. Two names never come to the same file: one that had to be changed
    ends in a digest of what it was.
    """
    safe = re.sub(r"[^\w.+=@-]", "_", name).strip(". ").lstrip("-. ")
    if _TAKEN.fullmatch(safe):
        safe = safe.replace(".", "_") + "_"
    if not _can_be_encoded(safe):
        safe = re.sub(r"[^\x00-\x7f]", "_", safe)
    if safe and safe == name and len(safe.encode()) <= LONGEST_NAME:
        return safe
    digest = hashlib.sha256(name.encode(errors="surrogatepass")).hexdigest()[:8]
    kept = safe.encode()[: LONGEST_NAME - len(digest) - 1].decode(errors="ignore")
    return f"{kept or 'scenario'}-{digest}"


def _can_be_encoded(name: str) -> bool:
    try:
        os.fsencode(name)
    except UnicodeEncodeError:
        return False
    return True


def claim_folder(wanted: Path) -> Path:
    """Make a folder that did not exist, ``wanted`` or the first free ``wanted.N``, and return it.

    Two processes never get the same one.

    Raises:
        StorageError: if none can be made.
    """
    try:
        return _claim_folder(wanted)
    except OSError as exc:
        raise storage_error(wanted, exc) from exc


def _claim_folder(wanted: Path) -> Path:
    wanted.parent.mkdir(parents=True, exist_ok=True)
    number = 1
    folder = wanted
    while True:
        try:
            folder.mkdir()
        except FileExistsError:
            number += 1
            folder = wanted.with_name(f"{wanted.name}.{number}")
        else:
            return folder
