"""What the README says on several machines, done."""

from __future__ import annotations

import glob
import re
import shlex
from pathlib import Path

import pytest
import yaml
from canned_project import CONFTEST, run_folder
from test_plugin_merge import summed_up

from pytest_voiceeval.__main__ import main

README = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")
CHAPTER = README.partition("## Several workers, several machines\n")[2].partition("\n## ")[0]


def blocks(kind: str) -> list[str]:
    return re.findall(rf"```{kind}\n(.*?)```", CHAPTER, flags=re.DOTALL)


def shell_commands() -> list[str]:
    return [line.removeprefix("$ ") for line in blocks("console")[0].splitlines()]


def workflow_commands() -> list[str]:
    """Return the commands of the workflow that call pytest or us, one of each part of the matrix."""
    (text,) = blocks("yaml")
    found = []
    for job in yaml.safe_load(text)["jobs"].values():
        parts = job.get("strategy", {}).get("matrix", {}).get("part", [""])
        for part in parts:
            commands = [step["run"] for step in job["steps"] if "run" in step]
            found += [command.replace("${{ matrix.part }}", str(part)) for command in commands]
    return [command for command in found if "pip install" not in command]


@pytest.mark.parametrize("commands", [shell_commands(), workflow_commands()], ids=["shell", "workflow"])
def test_parts_are_held_and_merged_as_it_says(
    project: pytest.Pytester, monkeypatch: pytest.MonkeyPatch, commands: list[str]
) -> None:
    conftest = CONFTEST.replace("raise KeyboardInterrupt", "pass")
    (project.path / "conftest.py").write_text(conftest, encoding="utf-8")
    names = "shop,bank"  # in place of all, which are hundreds
    project.runpytest(f"--voice-scenarios={names}", "--voice-output-dir=whole")
    for command in commands:
        program, *arguments = shlex.split(command.replace("=all", f"={names}"))
        if program == "pytest":
            project.runpytest(*arguments)
        else:
            assert (program, arguments[:2]) == ("python", ["-m", "pytest_voiceeval"])
            assert main([name for word in arguments[2:] for name in sorted(glob.glob(word)) or [word]]) == 0
    (whole,) = (project.path / "whole").iterdir()
    assert summed_up(project.path / "merged") == summed_up(whole)


def test_workers_elsewhere_are_given_what_it_says(
    project: pytest.Pytester, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """SSH is what only an administrator sets up: folders that the project is copied to stand for machines."""
    pytest.importorskip("xdist")
    command = blocks("console")[1].removeprefix("$ ").replace("\\\n", " ").replace("$PWD", str(project.path))
    folders = {host: tmp_path_factory.mktemp(host) for host in ("east", "west")}
    for host, folder in folders.items():
        command = command.replace(f"ssh=ann@{host}//python=/srv/venv/bin/python", f"popen//chdir={folder}")
    program, *arguments = shlex.split(command)
    assert program == "pytest"
    result = project.runpytest(*arguments[:-1], "-v", "-k", "not row2", "--junitxml=it.xml")
    result.assert_outcomes(passed=2, failed=1, skipped=1, errors=1)
    result.stdout.fnmatch_lines(["3 workers *"])
    assert all((folder / project.path.name / "conftest.py").exists() for folder in folders.values())
    run = run_folder(project.path)
    assert (run / "shop__good" / "metrics.json").exists()
