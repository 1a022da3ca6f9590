"""Folders that appear whole: filled beside their places, then put there."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from pytest_voiceeval.errors import StorageError
from pytest_voiceeval.world.files import lock

NEW, OLD = ".part", ".old"
"""What the name of a folder ends with that is being filled, and of one that holds what is being replaced."""


@contextmanager
def folder_beside(root: Path, name: str, kind: str = NEW) -> Iterator[Path]:
    """Lend an empty folder in ``root`` that is to become ``name``; what is left of it afterwards is removed.

    It is locked meanwhile, so that others see whether it is still in use (``clear_leftovers``).

    Raises:
        StorageError: if it can't be made.
    """
    with ExitStack() as stack:
        try:
            root.mkdir(parents=True, exist_ok=True)
            folder = _claimed(root, name, kind, stack)
        except OSError as exc:
            why = f"no folder can be made there: {exc.strerror}; see to it that you may write there"
            raise StorageError(f"{root}: {why}") from exc
        try:
            folder.chmod(0o755)
            yield folder
        finally:
            shutil.rmtree(folder, ignore_errors=True)


def put(folder: Path, target: Path) -> None:
    """Rename ``folder`` to ``target``; what was there is removed once it is replaced."""
    if not os.path.lexists(target):
        folder.rename(target)
        return
    with folder_beside(target.parent, target.name, OLD) as aside:
        old = aside / target.name
        target.rename(old)
        try:
            folder.rename(target)
        except BaseException:
            old.rename(target)
            raise


def clear_leftovers(root: Path, names: Iterable[str]) -> None:
    """Remove what processes that were killed have left in ``root`` of folders that were to become ``names``.

    What one of them was about to replace is put back. What can't be removed stays, and so does all of it on
    systems that tell of nobody who is gone.
    """
    for name in names:
        for folder in sorted(root.glob(f".{name}.*{OLD}")) + sorted(root.glob(f".{name}.*{NEW}")):
            with suppress(OSError), _held(folder) as is_abandoned:
                if not is_abandoned:
                    continue
                if (old := folder / name).exists() and not os.path.lexists(root / name):
                    old.rename(root / name)
                shutil.rmtree(folder)


def _claimed(root: Path, name: str, kind: str, stack: ExitStack) -> Path:
    """Return a new folder, which is held until ``stack`` is closed."""
    while True:
        folder = Path(tempfile.mkdtemp(prefix=f".{name}.", suffix=kind, dir=root))
        with suppress(BlockingIOError, FileNotFoundError), ExitStack() as attempt:
            attempt.enter_context(_held(folder))
            os.stat(folder)  # somebody may have taken it for a leftover before it was held
            stack.push(attempt.pop_all())
            return folder


@contextmanager
def _held(folder: Path) -> Iterator[bool]:
    """Keep others from a folder; yields whether it is known that nobody else uses it.

    Raises:
        BlockingIOError: if somebody does.
        OSError: if it can't be opened.
    """
    if os.name == "nt":  # where no folder is opened
        yield False
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        yield lock(handle)
    finally:
        os.close(handle)
