"""Tests marked ``alone``: those that look at real time, which others take from them on a busy machine.

Under xdist they come last, and while one runs, each other worker waits before its next test.
"""

from __future__ import annotations

import tempfile
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from pytest_voiceeval.model.safe_text import encodable

FOLDER = "voiceeval_alone"
"""What a worker is told: where the files are that its tests lock."""


class Room:
    """Where many tests are at a time, or one that is alone."""

    def __init__(self, folder: Path) -> None:
        self.door = (folder / "door").open("w")
        self.room = (folder / "room").open("w")

    @contextmanager
    def entered(self, *, alone: bool) -> Iterator[None]:
        """Be in the room while the body runs; who waits to be alone keeps the door, so that nobody comes."""
        from fcntl import LOCK_EX, LOCK_SH, LOCK_UN, flock  # noqa: PLC0415 - not on Windows

        flock(self.door, LOCK_EX)
        flock(self.room, LOCK_EX if alone else LOCK_SH)
        flock(self.door, LOCK_UN)
        try:
            yield
        finally:
            flock(self.room, LOCK_UN)

    def close(self) -> None:
        self.door.close()
        self.room.close()


class Controller:
    """Tells the workers of a run where their room is."""

    def __init__(self) -> None:
        self.folder = tempfile.TemporaryDirectory(prefix="alone-")

    @pytest.hookimpl(optionalhook=True)
    def pytest_configure_node(self, node: Any) -> None:
        node.workerinput[FOLDER] = self.folder.name

    def pytest_unconfigure(self) -> None:
        self.folder.cleanup()


class Worker:
    """Runs each test in the room, those last which are alone there, and sees that each can be reported."""

    def __init__(self, folder: str) -> None:
        self.room = Room(Path(folder))

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        items.sort(key=is_alone)

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, object, object]:
        with self.room.entered(alone=is_alone(item)):
            return (yield)

    @pytest.hookimpl(wrapper=True)
    def pytest_report_to_serializable(self) -> Generator[None, Any, Any]:
        return encodable_throughout((yield))

    def pytest_unconfigure(self) -> None:
        self.room.close()


def encodable_throughout(value: Any) -> Any:
    """Return ``value`` as a worker can send it: halves of surrogates, which some tests log, as escapes."""
    if isinstance(value, str):
        return encodable(value)
    if isinstance(value, dict):
        return {key: encodable_throughout(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return type(value)(map(encodable_throughout, value))
    return value


def is_alone(item: pytest.Item) -> bool:
    return item.get_closest_marker("alone") is not None
