"""Folders and files of a run: names that are safe, folders that nobody else has, JSON as it is found."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any


def read_json(path: Path) -> Any:
    """Return what a JSON file holds; ``None`` if it is missing or no JSON."""
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None


def file_name(name: str) -> str:
    """Return ``name`` as the name of a file: no separators, no hidden file, no reserved characters."""
    safe = re.sub(r"[^\w.+=@-]", "_", name).strip(". ")[:120]
    return safe or "scenario"


def claim_folder(wanted: Path) -> Path:
    """Make a folder that did not exist, ``wanted`` or the first free ``wanted.N``, and return it.

    Two processes never get the same one.
    """
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
