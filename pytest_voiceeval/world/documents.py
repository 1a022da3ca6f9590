"""Documents that a bot may consult: text files below a data folder, and nothing else on the machine."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path, PurePath

from pytest_voiceeval.errors import DataError
from pytest_voiceeval.world.roots import data_roots

MAX_BYTES = 128 * 1024
"""Largest document: about 30,000 tokens for whoever reads it."""


def load_document(path: str, folders: Iterable[Path] | None = None) -> str:
    """Return the text of the file at ``path``, relative to the first of ``folders`` that has it.

    Without ``folders`` those are the data roots. Links are followed, but never out of their folder. No
    message tells where a folder lies: a model may be shown it.

    Raises:
        DataError: if there is no such file, if the path is absolute or leads up or out, or if the file is
            larger than ``MAX_BYTES`` or no UTF-8 text.
    """
    parts = PurePath(path)
    if parts.is_absolute() or ".." in parts.parts:
        raise DataError(f"{path!r} is refused: write a path relative to a data folder, without '..'")
    for folder in data_roots() if folders is None else folders:
        if (found := _inside(folder, path)) is not None:
            return _text(found, path)
    raise DataError(f"there is no document {path!r}")


def _inside(folder: Path, path: str) -> Path | None:
    """Return the file at ``path`` below ``folder``; ``None`` if there is none."""
    try:
        root = folder.resolve()
        found = (root / path).resolve()
        is_file = found.is_file()
    except (ValueError, RuntimeError, OSError):  # no path at all, a loop of links, a name that is too long
        return None
    if not found.is_relative_to(root):
        raise DataError(f"{path!r} is refused: a link leads out of the data folder")
    return found if is_file else None


def _text(file: Path, path: str) -> str:
    try:
        with file.open("rb") as stream:
            content = stream.read(MAX_BYTES + 1)
    except OSError as exc:
        raise DataError(f"document {path!r} cannot be read: {exc.strerror}") from None
    if len(content) > MAX_BYTES:
        raise DataError(f"document {path!r} is larger than {MAX_BYTES} bytes; give an excerpt of it")
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError:
        text = "\0"
    if "\0" in text:
        raise DataError(f"document {path!r} is no text in UTF-8")
    return text
