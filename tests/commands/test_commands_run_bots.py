"""Bots that are commands, as ``run`` starts them."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Run = Callable[..., int]


def test_a_variable_and_a_folder_of_a_command_are_checked_without_showing_the_value(
    run: Run, capsys: pytest.CaptureFixture[str]
) -> None:
    for option, remedy in (
        ("--agent-env=sk-canary", "argument --agent-env: it has no '='; write NAME=VALUE"),
        ("--user-env=1=sk-canary", "argument --user-env: it has no name of letters, digits and _ before the"),
        ("--agent-cwd=nowhere", "argument --agent-cwd: there is no folder nowhere"),
    ):
        with pytest.raises(SystemExit, match="2"):
            run("--domain", "stand", option)
        told = capsys.readouterr().err
        assert remedy in told
        assert "canary" not in told


def test_what_a_command_is_given_stands_in_no_file(
    place: Path, pack: Path, run: Run, monkeypatch: Any
) -> None:
    """Its folder and its packs are those that were named; the variables are kept by name only."""
    (place / "there").mkdir()
    code = "import os; print(os.getcwd(), os.environ['VOICEEVAL_PACKS'], os.environ['TOKEN'])"
    arguments = (
        *("--domain", "stand", "--user", "ws://127.0.0.1:1", "--agent-cwd", "there"),
        *("--agent", f'cmd:{sys.executable} -c "{code}" {{port}}', "--agent-env", "TOKEN=sk-canary"),
    )
    monkeypatch.setattr(sys, "argv", ["pytest_voiceeval", "run", *arguments])
    assert run(*arguments) == 1
    (folder,) = (place / "eval_results").iterdir()
    texts = {path.name: path.read_text(errors="replace") for path in folder.rglob("*") if path.is_file()}
    assert [name for name, text in texts.items() if "canary" in text] == ["bot_agent.log"]
    cwd, packs, _ = texts["bot_agent.log"].split()
    assert cwd == str(place / "there")
    assert packs == str(pack)
    assert "TOKEN=<redacted>" in texts["run_args.json"]
