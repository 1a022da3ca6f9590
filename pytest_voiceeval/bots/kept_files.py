"""Files of a cache that processes share: whole or not there, and not believed if anything is wrong."""

from __future__ import annotations

import contextlib
import hashlib
import json
from collections.abc import Sequence
from pathlib import Path

from pytest_voiceeval.world.files import refuse_planted, write_whole

_DIGEST_BYTES = 32


def read_kept(file: Path, key: bytes) -> bytes | None:
    """Return what ``file`` keeps for ``key``; ``None`` if it is not there, or not whole, or another key's."""
    try:
        content = file.read_bytes()
    except OSError:
        return None
    check, body = content[:_DIGEST_BYTES], content[_DIGEST_BYTES:]
    return body if check == hashlib.sha256(key + body).digest() else None


def keep(file: Path, key: bytes, body: bytes) -> None:
    """Put ``body`` into ``file``, whole or not at all: a folder that cannot be written to is no error.

    Nothing is put into a folder that a link names.
    """
    with contextlib.suppress(OSError):
        refuse_planted(file.parent)
        if file.parent.is_symlink():
            return
        write_whole(file, lambda stream: stream.write(hashlib.sha256(key + body).digest() + body))


def drop_oldest(folder: Path, *, suffix: str, limit: int) -> None:
    """Leave the ``limit`` files of ``folder`` that were written last; others may do the same meanwhile."""
    with contextlib.suppress(OSError):
        files = sorted(folder.glob(f"*{suffix}"), key=lambda file: file.stat().st_mtime_ns)
        for file in files[: max(len(files) - limit, 0)]:
            file.unlink(missing_ok=True)


def fingerprint(told: object, files: Sequence[Path]) -> str:
    """Return 16 hexadecimal digits that stand for ``told`` and the content of ``files``.

    The content is read, 0.1 s for 60 MB: an installer changes a file's time, and a model that was trained
    further has the same size.
    """
    digest = hashlib.sha256(json.dumps(told).encode())
    for path in files:
        with path.open("rb") as file:
            digest.update(hashlib.file_digest(file, "sha256").digest())
    return digest.hexdigest()[:16]
