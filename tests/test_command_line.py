"""What ``python -m pytest_voiceeval`` refuses before it does anything."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

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


def test_the_names_of_all_scenarios_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["list"]) == 0
    assert "restaurant__pizza_pepperoni" in capsys.readouterr().out.splitlines()
