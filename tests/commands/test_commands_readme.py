"""The commands of the README print what it says."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from pytest_voiceeval.__main__ import main

ROOT = Path(__file__).parents[2]
COMMAND = "$ python -m pytest_voiceeval "
BLOCKS = re.findall(
    r"```console\n(.*?)```", (ROOT / "README.md").read_text(encoding="utf-8"), flags=re.DOTALL
)
EXAMPLES = [block.removeprefix(COMMAND).split("\n", 1) for block in BLOCKS if block.startswith(COMMAND)]


@pytest.mark.parametrize(("command", "output"), EXAMPLES, ids=[command.split()[0] for command, _ in EXAMPLES])
def test_a_command_of_the_readme_prints_what_it_says(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], command: str, output: str
) -> None:
    monkeypatch.chdir(ROOT)
    assert main(shlex.split(command)) == 0
    assert capsys.readouterr().out == output


def test_the_readme_has_examples() -> None:
    assert [command.split()[0] for command, _ in EXAMPLES] == ["check", "tool"]
