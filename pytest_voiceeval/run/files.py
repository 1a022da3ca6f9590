"""Files that appear whole: written under a temporary name, then renamed. Names that are safe."""

from __future__ import annotations

import json
import os
import re
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, BinaryIO


def write_whole(path: Path, fill: Callable[[BinaryIO], object]) -> Path:
    """Have ``fill`` write ``path``; the file appears only once it is complete.

    Missing folders are made. If ``fill`` raises, nothing is left behind.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, temporary = tempfile.mkstemp(prefix=f".{path.name}.", suffix=".part", dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as stream:
            fill(stream)
        os.chmod(temporary, 0o644)
        os.replace(temporary, path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise
    return path


def write_text(path: Path, text: str) -> Path:
    """Write ``text`` as UTF-8 with newlines as they are; what UTF-8 cannot hold is escaped."""
    return write_whole(path, lambda stream: stream.write(text.encode("utf-8", "backslashreplace")))


def write_json(path: Path, value: Any) -> Path:
    """Write ``value`` as strict JSON, indented by two.

    Raises:
        ValueError: if a number in it is not finite: JSON has no such number.
    """
    text = json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False, default=str)
    return write_text(path, text + "\n")


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
