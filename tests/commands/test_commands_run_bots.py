"""Bots that are commands, as ``run`` starts them."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from pytest_voiceeval.__main__ import main

PACK = """
from pytest_voiceeval import Actions, Persona, Resources, Scenario, SuccessSignal, Task
from pytest_voiceeval import register_eval_scenario

@register_eval_scenario
class Hut(Scenario):
    name = "hut__tea"
    success_signals = (SuccessSignal.CLEAN_EXIT,)
    max_duration = 20.0
    user_persona = agent_persona = Persona(role="person")
    user_task = agent_task = Task(goal="tea")
    user_actions = agent_actions = Actions()
    user_resources = agent_resources = Resources()
"""


@pytest.fixture(scope="module")
def pack(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A pack that lies in one place, for scenarios are registered once."""
    folder = tmp_path_factory.mktemp("hut")
    (folder / "scenarios").mkdir()
    (folder / "scenarios" / "hut.py").write_text(PACK)
    return folder


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(pack: Path, *arguments: str) -> int:
    fast = ("--pack", str(pack), "--pause", "0", "--auto-retry-backoff-secs", "0")
    return main(["run", *fast, *arguments])


def test_a_variable_and_a_folder_of_a_command_are_checked_without_showing_the_value(
    place: Path, pack: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for option, remedy in (
        ("--agent-env=sk-canary", "argument --agent-env: it has no '='; write NAME=VALUE"),
        ("--user-env=1=sk-canary", "argument --user-env: it has no name of letters, digits and _ before the"),
        ("--agent-cwd=nowhere", "argument --agent-cwd: there is no folder nowhere"),
    ):
        with pytest.raises(SystemExit, match="2"):
            run(pack, "--domain", "hut", option)
        told = capsys.readouterr().err
        assert remedy in told
        assert "canary" not in told


def test_what_a_command_is_given_stands_in_no_file(place: Path, pack: Path, monkeypatch: Any) -> None:
    """Its folder and its packs are those that were named; the variables are kept by name only."""
    (place / "there").mkdir()
    code = "import os; print(os.getcwd(), os.environ['VOICEEVAL_PACKS'], os.environ['TOKEN'])"
    arguments = (
        *("--domain", "hut", "--user", "ws://127.0.0.1:1", "--agent-cwd", "there"),
        *("--agent", f'cmd:{sys.executable} -c "{code}" {{port}}', "--agent-env", "TOKEN=sk-canary"),
    )
    monkeypatch.setattr(sys, "argv", ["pytest_voiceeval", "run", *arguments])
    assert run(pack, *arguments) == 1
    (folder,) = (place / "eval_results").iterdir()
    texts = {path.name: path.read_text(errors="replace") for path in folder.rglob("*") if path.is_file()}
    assert [name for name, text in texts.items() if "canary" in text] == ["bot_agent.log"]
    cwd, packs, _ = texts["bot_agent.log"].split()
    assert cwd == str(place / "there")
    assert packs == str(pack)
    assert "TOKEN=<redacted>" in texts["run_args.json"]
