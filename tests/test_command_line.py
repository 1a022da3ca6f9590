"""What ``python -m pytest_voiceeval`` refuses before it does anything."""

from __future__ import annotations

import importlib.metadata
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import NoReturn

import pytest

from pytest_voiceeval.__main__ import main


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["bot", "--rehearsal", "silver"], "--rehearsal: invalid choice: 'silver' (choose from"),
        (["bot", "--pack", "nowhere"], "--pack: there is no folder nowhere"),
        (["list", "--pack", "scenarios"], "--pack: scenarios: no folder 'scenarios' in it"),
        (["bot", "--port", "x"], "'x' is no port"),
    ],
)
def test_a_wrong_argument_is_named_with_the_remedy(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    arguments: list[str],
    complaint: str,
) -> None:
    (tmp_path / "scenarios").mkdir()
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit) as caught:
        main(arguments)
    assert caught.value.code == 2
    assert complaint in capsys.readouterr().err


def test_a_reader_that_goes_away_is_no_error() -> None:
    reads, writes = os.pipe()
    os.close(reads)
    command = [sys.executable, "-m", "pytest_voiceeval", "list"]
    run = subprocess.run(command, stdout=writes, stderr=subprocess.PIPE, text=True, check=False)
    os.close(writes)
    assert (run.returncode, run.stderr) == (1, "")


def test_a_closed_output_is_no_error() -> None:
    command = ["sh", "-c", 'exec "$0" -m pytest_voiceeval list >&-', sys.executable]
    run = subprocess.run(command, stderr=subprocess.PIPE, text=True, check=False)
    assert (run.returncode, run.stderr) == (0, "")


def test_the_version_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        main(["--version"])
    assert caught.value.code == 0
    assert re.fullmatch(r"pytest-voiceeval \d+\.\d+\.\d+\S*\n", capsys.readouterr().out)


def test_a_source_tree_has_no_version(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(importlib.metadata.Distribution, "from_name", _not_found)
    with pytest.raises(SystemExit):
        main(["--version"])
    assert capsys.readouterr().out == "pytest-voiceeval of a source tree that is not installed\n"


def _not_found(name: str) -> NoReturn:
    raise importlib.metadata.PackageNotFoundError(name)


def test_the_names_of_all_scenarios_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["list"]) == 0
    assert "restaurant__pizza_pepperoni" in capsys.readouterr().out.splitlines()
