"""A disk that is full, read-only or gone: told as the environment's fault, and what was made is kept."""

from __future__ import annotations

import errno
import json
import os
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from canned_project import CONFTEST, run_folder

from pytest_voiceeval.errors import StorageError
from pytest_voiceeval.world import files

Write = Callable[[str, str], Path]

REPLACED = CONFTEST.replace(
    "raise KeyboardInterrupt",
    "import shutil; shutil.rmtree(voice_folder.parent); voice_folder.parent.write_text('')",
)
REMOVED = CONFTEST.replace("raise KeyboardInterrupt", "import shutil; shutil.rmtree(voice_folder.parent)")


def full_for(monkeypatch: pytest.MonkeyPatch, is_hit: Callable[[Path], bool]) -> None:
    """Have the disk be full for some files."""
    write = files._write_whole

    def failing(path: Path, fill: Callable[[Any], object]) -> Path:
        if is_hit(path):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return write(path, fill)

    monkeypatch.setattr(files, "_write_whole", failing)


@pytest.mark.parametrize(
    "name",
    ["item.json", "conversation_log.txt", "conversation_log.wav", "llm_context.json", "metrics.json"],
)
def test_a_scenario_whose_files_find_no_room_is_an_error_and_the_others_go_on(
    project: pytest.Pytester, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    full_for(monkeypatch, lambda path: path.name == name and "shop__good" in path.parts)
    result = project.runpytest("--voice-scenarios=shop,bank__row1", "--junitxml=it.xml")
    result.assert_outcomes(passed=1, failed=1, errors=1)
    result.stdout.fnmatch_lines([f"*{name}: it can't be written: No space left on device; make room*"])
    shown = result.stdout.str()
    assert "Traceback" not in shown
    assert "files.py:" not in shown
    run = run_folder(project.path)
    records = json.loads((run / "all_metrics.json").read_text())
    assert [record["scenario_name"] for record in records] == ["bank__row1", "shop__wrong_tea"]
    assert not list(run.rglob("*.part"))


@pytest.mark.parametrize("name", ["run_args.json", "all_metrics.json", "all_summary.txt"])
def test_a_run_whose_files_find_no_room_says_so_in_the_end_and_does_not_pass(
    project: pytest.Pytester, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    full_for(monkeypatch, lambda path: path.name == name)
    result = project.runpytest("--voice-scenarios=shop__good")
    result.assert_outcomes(passed=1)
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stdout.fnmatch_lines([f"warning: *{name}: it can't be written: No space left on device;*"])
    assert result.stderr.str() == ""
    written = {path.name for path in run_folder(project.path).iterdir()} & {
        *("run_args.json", "all_metrics.json", "all_summary.txt", "all_latencies.csv", "evaluation_log.txt")
    }
    assert len(written) == 4


def test_a_log_that_finds_no_room_is_written_once_there_is_some(
    project: pytest.Pytester, write: Write
) -> None:
    write(
        "conftest.py",
        CONFTEST + "\n\ndef pytest_runtest_logstart(nodeid):\n"
        "    for run in pathlib.Path('eval_results').glob('*'):\n"
        "        log, aside = run / 'evaluation_log.txt', run / 'aside'\n"
        "        if nodeid.endswith('good'):\n"
        "            log.rename(aside); log.symlink_to('/dev/full')\n"
        "        elif log.is_symlink():\n"
        "            log.unlink(); aside.rename(log)\n",
    )
    write("conftest.py", "import pathlib\n" + (project.path / "conftest.py").read_text())
    result = project.runpytest("--voice-scenarios=bank__row1,shop")
    result.assert_outcomes(passed=2, failed=1)
    log = (run_folder(project.path) / "evaluation_log.txt").read_text().splitlines()
    assert [line.partition("]: ")[2] for line in log if "Scenario" in line] == [
        "Starting Scenario 1/3: bank__row1",
        "Finished Scenario: bank__row1: passed",
        "Starting Scenario 2/3: shop__good",
        "Finished Scenario: shop__good: passed",
        "Starting Scenario 3/3: shop__wrong_tea",
        "Finished Scenario: shop__wrong_tea: failed",
    ]
    assert "warning" not in result.stdout.str()


def test_a_file_in_place_of_the_run_folder_is_told_and_no_end_of_the_run(
    project: pytest.Pytester, write: Write
) -> None:
    write("conftest.py", REPLACED)
    result = project.runpytest("--voice-scenarios=bank__row1,bank__row2,shop__good")
    result.assert_outcomes(passed=1, errors=2)
    shown = result.stdout.str() + result.stderr.str()
    assert "Traceback" not in shown
    result.stdout.fnmatch_lines(
        [
            "*can't be written: *; somebody has removed or replaced a folder of the run*",
            "warning: *eval_results/*: it can't be written: *",
            "warning: bank__row1: its folder eval_results/*/bank__row1 is gone, so it is in no rate",
        ]
    )


def test_a_run_folder_that_is_removed_is_made_again_and_what_is_lost_is_told(
    project: pytest.Pytester, write: Write
) -> None:
    write("conftest.py", REMOVED)
    result = project.runpytest("--voice-scenarios=bank__row1,bank__row2,shop__good")
    result.stdout.fnmatch_lines(["warning: bank__row1: its folder eval_results/*/bank__row1 is gone*"])
    records = json.loads((run_folder(project.path) / "all_metrics.json").read_text())
    assert "shop__good" in [record["scenario_name"] for record in records]


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of 128 KiB, where this user may mount one."""
    place = tmp_path / "small"
    place.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=128k", "tmpfs", str(place)]
    try:
        subprocess.run(command, check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("no disk can be mounted here")
    yield place
    subprocess.run(["umount", str(place)], check=True)


def test_a_real_disk_that_is_full(project: pytest.Pytester, small_disk: Path) -> None:
    result = project.runpytest("--voice-scenarios=shop", f"--voice-output-dir={small_disk}")
    result.assert_outcomes(passed=1, errors=1)
    result.stdout.fnmatch_lines(["*conversation_log.wav: it can't be written: No space left on device; *"])
    (run,) = small_disk.iterdir()
    assert "1 error(s)" in (run / "all_summary.txt").read_text()
    assert len(json.loads((run / "all_metrics.json").read_text())) == 1


@pytest.mark.filterwarnings("ignore:.*multi-threaded, use of fork:DeprecationWarning")  # of Python 3.12
@pytest.mark.skipif(not hasattr(os, "fork") or os.geteuid() != 0, reason="root becomes somebody else here")
def test_a_folder_of_somebody_else_is_told_with_the_remedy(tmp_path: Path) -> None:
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.chdir(tmp_path)  # the folders above may be closed to whom this becomes
            os.setuid(65534)
            files.write_text(Path("x.txt"), "x")
        except StorageError as exc:
            os.write(writer, str(exc).encode())
        finally:
            os._exit(0)
    os.waitpid(child, 0)
    os.close(writer)
    with os.fdopen(reader) as told:
        assert told.read() == (
            "x.txt: it can't be written: Permission denied; give yourself the right to write there, or name "
            "another folder"
        )


def test_a_link_in_the_place_of_a_file_is_never_written_through(tmp_path: Path) -> None:
    (tmp_path / "theirs").write_text("theirs")
    for name in ("log.txt", "whole.txt"):
        (tmp_path / name).symlink_to(tmp_path / "theirs")
    with pytest.raises(StorageError, match="a link stands in its place, which is not followed; remove it"):
        files.open_own(tmp_path / "log.txt")
    files.write_text(tmp_path / "whole.txt", "ours")
    assert (tmp_path / "theirs").read_text() == "theirs"
    assert (tmp_path / "whole.txt").read_text() == "ours"
    assert not (tmp_path / "whole.txt").is_symlink()
