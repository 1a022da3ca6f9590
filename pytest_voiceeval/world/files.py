"""Files that appear whole: written under a temporary name, then renamed. What JSON can't hold is replaced."""

from __future__ import annotations

import errno
import json
import math
import os
import stat
import tempfile
from collections.abc import Callable, Mapping
from io import FileIO
from pathlib import Path
from typing import Any, BinaryIO

from pytest_voiceeval.errors import DataError, StorageError
from pytest_voiceeval.model.safe_text import encodable, json_document
from pytest_voiceeval.world.overlay import raw_items

MAX_DEPTH = 200
"""Levels of nesting that a JSON file keeps; of what lies deeper only the type's name stands in it."""

MAX_BITS = 10_000
"""Longest whole number that stands in a JSON file as a number: Python refuses to print longer ones."""


def write_whole(path: Path, fill: Callable[[BinaryIO], object]) -> Path:
    """Have ``fill`` write ``path``; the file appears only once it is complete.

    Missing folders are made. If ``fill`` raises, nothing is left behind.

    Raises:
        StorageError: if it can't be written.
    """
    try:
        return _write_whole(path, fill)
    except OSError as exc:
        raise storage_error(path, exc) from exc


def _write_whole(path: Path, fill: Callable[[BinaryIO], object]) -> Path:
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


def storage_error(path: Path, exc: OSError) -> StorageError:
    """Return what a person is told of a file or folder that can't be written, with the remedy."""
    reason = exc.strerror or str(exc)
    error = StorageError(f"{path}: it can't be written: {reason}; {_REMEDIES.get(exc.errno, _REMEDY)}")
    error.errno, error.strerror = exc.errno, exc.strerror
    return error


_ROOM = "make room on that disk; what was written before is kept"
_RIGHTS = "give yourself the right to write there, or name another folder"
_GONE = "somebody has removed or replaced a folder of the run while it went on; leave it be"
_REMEDY = "see to it, or name another folder"
_REMEDIES: dict[int | None, str] = {
    **dict.fromkeys((errno.ENOSPC, errno.EDQUOT, errno.EFBIG), _ROOM),
    **dict.fromkeys((errno.EACCES, errno.EPERM, errno.EROFS), _RIGHTS),
    **dict.fromkeys((errno.ENOENT, errno.ENOTDIR, errno.EISDIR, errno.EEXIST), _GONE),
    errno.ELOOP: "a link stands in its place, which is not followed; remove it",
}


def refuse_planted(path: Path) -> None:
    """Return if nobody else has put anything on the way to ``path`` into a folder that all may write to.

    In ``/tmp`` anybody may make the folder that a run is to make, or a link in its place, and own what is
    written there. Who owns the shared folder, and root, are trusted.

    Raises:
        StorageError: if somebody has.
    """
    user = os.geteuid() if hasattr(os, "geteuid") else None
    for part in (path.absolute(), *path.absolute().parents):
        try:
            state, above = part.lstat(), part.parent.stat()
        except OSError:  # it is not there yet
            continue
        is_shared = bool(above.st_mode & stat.S_IWOTH)
        if user is not None and is_shared and state.st_uid not in (user, 0, above.st_uid):
            why = f"{part} belongs to somebody else, in a folder that all may write to"
            raise storage_error(path, OSError(errno.EACCES, why))


def open_own(path: Path) -> FileIO:
    """Return a file of ours, opened to be written to at its end, unbuffered; it is made if it is not there.

    Its descriptor can also be read from.

    Raises:
        StorageError: if it can't be had, or a link is in its place: somebody else's file is never written to.
    """
    flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0)
    try:
        return FileIO(os.open(path, flags, 0o644), "ab")
    except OSError as exc:
        raise storage_error(path, exc) from exc


def lock(handle: int) -> bool:
    """Lock an open file or folder until it is closed, or the process is gone, however it went.

    Returns whether it is locked now: some systems, and some file systems, have no locks.

    Raises:
        BlockingIOError: if somebody else has locked it.
    """
    try:
        import fcntl  # noqa: PLC0415 - not there on every system
    except ImportError:
        return False
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise
    except OSError:
        return False
    return True


def read_utf8(path: Path) -> str:
    """Return the text of a file of data.

    Raises:
        DataError: if it is no UTF-8; says in which line and column.
        OSError: if it can't be read.
    """
    content = path.read_bytes()
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as exc:
        before = content[: exc.start].decode("utf-8")
        line, column = before.count("\n") + 1, len(before.rpartition("\n")[2]) + 1
        raise DataError(
            f"{path}:{line}:{column}: no UTF-8: byte 0x{content[exc.start]:02x}; save the file as UTF-8, or "
            "fetch it again"
        ) from None


def write_text(path: Path, text: str) -> Path:
    """Write ``text`` as UTF-8 with newlines as they are; what UTF-8 cannot hold is escaped."""
    return write_whole(path, lambda stream: stream.write(text.encode("utf-8", "backslashreplace")))


def write_json(path: Path, value: Any, *, indent: int = 2) -> Path:
    """Write ``value`` as strict JSON; values of others that JSON does not have never stop it.

    A number that is not finite becomes ``null``, a key that is no text its text, anything else that JSON
    does not have its text too. Half a surrogate pair, which strict parsers refuse even as JSON's escape,
    becomes the text of its escape; what acts on terminals stands there escaped.
    """
    text = json.dumps(plain(value), indent=indent, ensure_ascii=False, allow_nan=False)
    return write_text(path, json_document(text) + "\n")


def plain(value: Any, above: tuple[int, ...] = ()) -> Any:
    """Return ``value`` made of what strict JSON has, and nothing else.

    ``above`` are the identities of what ``value`` lies in.
    """
    if isinstance(value, Mapping | list | tuple | set | frozenset):
        if len(above) >= MAX_DEPTH or id(value) in above:
            return f"<{type(value).__name__}>"
        inside = (*above, id(value))
        if isinstance(value, Mapping):
            return {_key(key): plain(inner, inside) for key, inner in raw_items(value)}
        return [plain(inner, inside) for inner in value]
    return _plain_scalar(value)


def _plain_scalar(value: Any) -> Any:
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else None
    if isinstance(value, int) and value.bit_length() > MAX_BITS:
        return hex(value)
    if isinstance(value, str):
        return encodable(value)
    return value if value is None or isinstance(value, int) else _text(value)


def _key(key: Any) -> str:
    """Return a key as ``json`` writes it: texts as they are, constants in JSON's spelling."""
    if key is None or isinstance(key, bool):
        return "null" if key is None else str(key).lower()
    return _text(key)


def _text(value: Any) -> str:
    try:
        return encodable(str(value))
    except Exception:  # whatever a foreign object raises must not cost the evidence
        return f"<{type(value).__name__}>"
