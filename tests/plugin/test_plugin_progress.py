"""Turns on the terminal while calls go on."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from test_plugin_hooks import CONFTEST, HEAD
from test_plugin_interrupt import BOTS

from pytest_voiceeval.model.live import LiveTurn
from pytest_voiceeval.plugin.progress import Progress, turn_line

Write = Callable[[str, str], Path]
SCRIPTED = (
    HEAD
    + """
    agent_script = pushes({"drink": "Tea"})


@register_eval_scenario
class Two(One):
    name = "hooks__two"
"""
)


@pytest.fixture
def calls(project: pytest.Pytester, write: Write) -> pytest.Pytester:
    """A project of two scenarios with scripted bots."""
    write("conftest.py", CONFTEST)
    write("scenarios/hooks.py", SCRIPTED)
    return project


def run(calls: pytest.Pytester, *arguments: str) -> pytest.RunResult:
    return calls.runpytest("--voice-scenarios=hooks", "--voice-min-agent-turns=0", *arguments)


@pytest.mark.parametrize("capture", ["--capture=fd", "--capture=sys", "-s"])
def test_each_turn_has_its_line_below_its_test(calls: pytest.Pytester, capture: str) -> None:
    result = run(calls, "-v", capture)
    result.stdout.fnmatch_lines(
        [
            "scenarios/hooks.py::hooks__one ",
            "  hooks__one    0.0 s AGENT: Welcome.",
            "  hooks__one    0.5 s USER: One tea, please.",
            "  hooks__one    1.0 s AGENT: Bye.",
            "scenarios/hooks.py::hooks__one PASSED*",
            "scenarios/hooks.py::hooks__two ",
            "  hooks__two    0.0 s AGENT: Welcome.",
        ],
        consecutive=True,
    )


def test_workers_tell_the_controller_of_their_turns(calls: pytest.Pytester) -> None:
    result = run(calls, "-v", "-n2")
    lines = [line for line in result.outlines if re.match(r"\[gw\d\] hooks__", line)]
    assert sorted(line.partition("] ")[2] for line in lines) == [
        f"{name}    {turn}"
        for name in ("hooks__one", "hooks__two")
        for turn in ("0.0 s AGENT: Welcome.", "0.5 s USER: One tea, please.", "1.0 s AGENT: Bye.")
    ]
    for name in ("hooks__one", "hooks__two"):
        own = [i for i, line in enumerate(result.outlines) if f"] {name} " in line]
        (passed,) = (
            i for i, line in enumerate(result.outlines) if f"PASSED scenarios/hooks.py::{name}" in line
        )
        assert max(own) < passed


@pytest.mark.parametrize("arguments", [(), ("-q",), ("-v", "--co")])
def test_without_v_there_are_none(calls: pytest.Pytester, arguments: tuple[str, ...]) -> None:
    result = run(calls, *arguments)
    assert result.ret == pytest.ExitCode.OK
    result.stdout.no_fnmatch_line("*AGENT:*")


def test_a_turn_is_shown_while_its_call_goes_on(calls: pytest.Pytester, write: Write) -> None:
    write("conftest.py", BOTS)  # they talk for minutes
    arguments = ["-p", "no:cacheprovider", "-v", "-n1", "--voice-scenarios=shop__good"]
    with subprocess.Popen(
        [sys.executable, "-m", "pytest", *arguments],
        cwd=calls.path,
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as process:
        assert process.stdout is not None
        seen = next((line for line in process.stdout if "USER: Hello." in line), "")
        os.killpg(process.pid, signal.SIGKILL)
    assert re.match(r"\[gw0\] shop__good +\d+\.\d s USER: Hello\.", seen)


def test_a_terminal_that_is_gone_breaks_no_call(
    pytestconfig: pytest.Config, monkeypatch: pytest.MonkeyPatch
) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    with open(writing, "w", encoding="utf-8") as stream:
        monkeypatch.setattr("sys.stdout", stream)
        progress = Progress(pytestconfig)
        monkeypatch.undo()
    progress.tell(LiveTurn("shop", "user", 1.0, "Hello."))
    progress.pytest_unconfigure()


class OwnReporter:
    """In place of pytest's, as another plugin may put it there."""


def test_beside_a_reporter_of_another_plugin_turns_have_lines_too(
    pytester: pytest.Pytester,
) -> None:
    config = pytester.parseconfig("-v")
    config.pluginmanager.register(OwnReporter(), "terminalreporter")
    with (pytester.path / "shown").open("w+", encoding="utf-8") as stream:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("sys.stdout", stream)
            progress = Progress(config)
        for text in ("Hello.", "Bye."):
            progress.tell(LiveTurn("shop", "user", 1.0, text))
        progress.pytest_unconfigure()
    lines = (pytester.path / "shown").read_text(encoding="utf-8").splitlines()
    assert [line.strip() for line in lines] == ["shop    1.0 s USER: Hello.", "shop    1.0 s USER: Bye."]


@pytest.mark.parametrize(
    ("verbosity", "text", "shown"),
    [
        (1, "a\x1b[31mb\r\nc\u202ed", "a [31mb c d"),
        (1, "x" * 161, "x" * 160 + " …"),
        (2, "x" * 161, "x" * 161),
    ],
)
def test_a_line_obeys_nobody_and_has_an_end(verbosity: int, text: str, shown: str) -> None:
    assert (
        turn_line(LiveTurn("shop", "user", 2.25, text), verbosity, "gw3")
        == f"[gw3] shop    2.2 s USER: {shown}"
    )
