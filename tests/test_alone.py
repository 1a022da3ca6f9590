"""A test that is marked ``alone`` has all workers of xdist to itself."""

from __future__ import annotations

import shutil
import threading
from pathlib import Path

import pytest
from alone import Room

pytest.importorskip("xdist")
fcntl = pytest.importorskip("fcntl", reason="workers wait for each other by locks of files")

TESTS = """
import fcntl
from pathlib import Path

import pytest

RAN = []


def is_free(config, lock):
    with (Path(config.workerinput["voiceeval_alone"]) / "room").open() as room:
        try:
            fcntl.flock(room, lock | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True


@pytest.mark.alone
def test_that_is_alone(pytestconfig):
    RAN.append("alone")
    assert not is_free(pytestconfig, fcntl.LOCK_SH)


def test_beside_others(pytestconfig):
    RAN.append("beside")
    assert is_free(pytestconfig, fcntl.LOCK_SH)
    assert not is_free(pytestconfig, fcntl.LOCK_EX)


@pytest.mark.alone
def test_that_is_last(pytestconfig):
    assert RAN == ["beside", "alone"]
    assert Path(pytestconfig.workerinput["voiceeval_alone"]).is_dir()
    Path("folder").write_text(pytestconfig.workerinput["voiceeval_alone"])
"""


def test_it_comes_last_and_no_other_may_begin_meanwhile(pytester: pytest.Pytester) -> None:
    for name in ("conftest.py", "alone.py"):
        shutil.copy(Path(__file__).with_name(name), pytester.path)
    pytester.makeini("[pytest]\nstrict = true\n")
    pytester.makepyfile(TESTS)
    pytester.runpytest_subprocess("-p", "no:cacheprovider", "-n1").assert_outcomes(passed=3)
    assert not Path((pytester.path / "folder").read_text()).exists()


def test_a_worker_reports_what_no_text_may_hold(pytester: pytest.Pytester) -> None:
    for name in ("conftest.py", "alone.py"):
        shutil.copy(Path(__file__).with_name(name), pytester.path)
    pytester.makeini("[pytest]\nstrict = true\n")
    pytester.makepyfile(
        """
        import logging
        import pytest

        def test_it():
            logging.getLogger().warning("half \\ud800")

        def test_another():
            pytest.skip("half \\ud800")

        def test_the_last():
            assert not "half \\ud800"
        """
    )
    result = pytester.runpytest_subprocess("-p", "no:cacheprovider", "-n1", "-rs")
    result.assert_outcomes(passed=1, failed=1, skipped=1)
    result.stdout.fnmatch_lines(["SKIPPED*half ?ud800"])


def test_who_waits_to_be_alone_is_let_in_before_all_that_come_later(tmp_path: Path) -> None:
    inside, waiting, later = (Room(tmp_path) for _ in range(3))
    entered = threading.Event()

    def wait() -> None:
        with waiting.entered(alone=True):
            entered.set()

    thread = threading.Thread(target=wait)
    with inside.entered(alone=False):
        thread.start()
        while True:  # until it keeps the door
            try:
                fcntl.flock(later.door, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                break
            fcntl.flock(later.door, fcntl.LOCK_UN)
        assert not entered.is_set()
    with later.entered(alone=False):
        assert entered.is_set()
    thread.join()
    for room in (inside, waiting, later):
        room.close()
