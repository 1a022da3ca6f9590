"""Folders that are filled beside their places, and what is left of them where a process was killed."""

from __future__ import annotations

import fcntl
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from pytest_voiceeval.world import files
from pytest_voiceeval.world.placing import clear_leftovers, folder_beside, put

FILLING = """
import sys
from pathlib import Path
from pytest_voiceeval.world.placing import folder_beside

root, name, kind = Path(sys.argv[1]), *sys.argv[2:]
with folder_beside(root, name, kind) as folder:
    if kind == ".old":
        (root / name).rename(folder / name)
    else:
        (folder / "tasks.json").touch()
    print(folder, flush=True)
    sys.stdin.read()
"""

Start = Callable[[str, str], tuple[subprocess.Popen[str], Path]]


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    """Starts a process that fills a folder until it is killed, and returns both."""
    started: list[subprocess.Popen[str]] = []

    def one(name: str, kind: str) -> tuple[subprocess.Popen[str], Path]:
        process = subprocess.Popen(
            [sys.executable, "-c", FILLING, str(tmp_path), name, kind],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        started.append(process)
        assert process.stdout is not None
        return process, Path(process.stdout.readline().strip())

    yield one
    for process in started:
        process.kill()
        process.communicate()


def test_what_somebody_left_who_was_killed_is_removed_and_what_is_in_use_is_not(
    tmp_path: Path, start: Start
) -> None:
    killed, left = start("shop", ".part")
    running, used = start("shop", ".part")
    killed.kill()
    killed.wait()
    (tmp_path / ".other.x.part").mkdir()
    (tmp_path / "shop").mkdir()
    clear_leftovers(tmp_path, ["shop"])
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted([".other.x.part", "shop", used.name])
    assert running.poll() is None
    assert not left.exists()
    assert [path.name for path in used.iterdir()] == ["tasks.json"]


@pytest.mark.parametrize("is_replaced", [True, False])
def test_what_was_about_to_be_replaced_is_put_back_unless_it_was(
    tmp_path: Path, start: Start, is_replaced: bool
) -> None:
    shop = tmp_path / "shop"
    shop.mkdir()
    (shop / "old").touch()
    killed, left = start("shop", ".old")
    assert not shop.exists()
    clear_leftovers(tmp_path, ["shop"])
    assert left.exists()
    killed.kill()
    killed.wait()
    if is_replaced:
        shop.mkdir()
    clear_leftovers(tmp_path, ["shop"])
    assert list(tmp_path.iterdir()) == [shop]
    assert [path.name for path in shop.iterdir()] == ([] if is_replaced else ["old"])


def test_a_folder_that_somebody_takes_for_a_leftover_is_made_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between its making and its lock it looks like one."""
    made: list[str] = []
    lock = fcntl.flock

    def flock(handle: int, operation: int) -> None:
        made.append(os.readlink(f"/proc/self/fd/{handle}"))
        if len(made) == 1:
            os.rmdir(made[0])
        elif len(made) == 2:
            raise BlockingIOError
        lock(handle, operation)

    monkeypatch.setattr(fcntl, "flock", flock)
    with folder_beside(tmp_path, "shop") as folder:
        assert made[2:] == [str(folder)]
        assert folder.is_dir()


def test_nothing_is_removed_where_locks_are_not_known(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_locks(handle: int, operation: int) -> None:
        raise OSError

    monkeypatch.setattr(fcntl, "flock", no_locks)
    with folder_beside(tmp_path, "shop") as folder:
        clear_leftovers(tmp_path, ["shop"])
        assert folder.is_dir()
    handle = os.open(tmp_path, os.O_RDONLY)
    assert not files.lock(handle)
    os.close(handle)
    assert not list(tmp_path.iterdir())


def test_a_folder_is_put_in_the_place_of_another_or_nothing_changes(tmp_path: Path) -> None:
    shop = tmp_path / "shop"
    for text in ("one", "two"):
        with folder_beside(tmp_path, "shop") as folder:
            (folder / "db").write_text(text)
            put(folder, shop)
        assert (shop / "db").read_text() == text
        assert list(tmp_path.iterdir()) == [shop]
    with pytest.raises(FileNotFoundError):
        put(tmp_path / "none", shop)
    assert list(tmp_path.iterdir()) == [shop]
    assert (shop / "db").read_text() == "two"
