"""``--setup-plan`` and ``--setup-only``: scenarios are as other tests, which are not run then."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

Write = Callable[[str, str], Path]

BY_HAND = """
import pytest

@pytest.fixture
def first_words(voice_conversation):
    return voice_conversation.turns[0].text

@pytest.fixture
def greeting(first_words):
    return first_words.lower()

@pytest.mark.voice_scenario("shop__good")
def test_by_hand(greeting, voice_metrics):
    assert greeting
"""


@pytest.mark.parametrize("flag", ["--setup-plan", "--setup-only"])
@pytest.mark.parametrize(
    "more", [(), ("-n2",), ("--voice-concurrency=2",)], ids=["alone", "xdist", "at once"]
)
def test_nothing_is_held_told_or_left_behind(
    project: pytest.Pytester, write: Write, flag: str, more: tuple[str, ...]
) -> None:
    write("tests/test_by_hand.py", BY_HAND)
    tests = ("scenarios/shop.py", "scenarios/bank.py", "tests")
    result = project.runpytest(*tests, flag, "-W", "error", *more)
    assert result.ret == pytest.ExitCode.OK
    result.assert_outcomes()
    result.stdout.fnmatch_lines(["*no tests ran in *"])
    shown = result.stdout.str()
    assert "broken off" not in shown
    assert "voice scenarios: " not in shown.replace("voice scenarios: up to 2 calls at once", "")
    assert not (project.path / "eval_results").exists()


def test_fixtures_are_shown_and_those_of_the_project_are_set_up(
    project: pytest.Pytester, write: Write
) -> None:
    command = f"--voice-agent=cmd:{sys.executable} bot.py {{port}}"
    own = '\n\n@pytest.fixture(scope="session", autouse=True)\ndef server():\n    print("SERVER IS UP")\n'
    conftest = project.path / "conftest.py"
    write("conftest.py", conftest.read_text(encoding="utf-8") + own)
    write("tests/test_by_hand.py", BY_HAND)
    result = project.runpytest("scenarios/shop.py", "tests", "--setup-only", "-s", command)
    assert result.ret == pytest.ExitCode.OK
    result.stdout.fnmatch_lines(
        [
            "*SERVER IS UP*",
            "*SETUP    F voice_conversation (fixtures used: voice_folder, voice_scenario)",
            "*SETUP    F greeting (fixtures used: first_words)",
        ]
    )
    assert not (project.path / "eval_results").exists()


def test_a_fixture_of_the_project_that_fails_is_told(project: pytest.Pytester, write: Write) -> None:
    own = '\n\n@pytest.fixture(scope="session")\ndef voice_agent():\n    raise OSError("no server")\n'
    use = "\n\n@pytest.fixture(autouse=True)\ndef uses(voice_agent):\n    pass\n"
    conftest = project.path / "conftest.py"
    write("conftest.py", conftest.read_text(encoding="utf-8") + own + use)
    result = project.runpytest("scenarios/shop.py", "--setup-only")
    result.assert_outcomes(errors=2)
    result.stdout.fnmatch_lines(["ERROR scenarios/shop.py::shop__good - OSError: no server"])
    assert not (project.path / "eval_results").exists()


WIDE = """
import pytest

@pytest.fixture(scope="module")
def voice_conversation():
    return object()

@pytest.fixture(scope="module")
def turns(voice_conversation):
    return voice_conversation.turns

@pytest.fixture
def first(turns):
    return turns[0]

def test_one(first):
    pass

def test_another(first):
    pass
"""


def test_what_builds_on_a_wide_fixture_is_not_set_up_for_the_second_test_either(
    project: pytest.Pytester, write: Write
) -> None:
    write("tests/test_wide.py", WIDE)
    result = project.runpytest("tests", "--setup-only")
    assert result.ret == pytest.ExitCode.OK
    result.stdout.fnmatch_lines(["*test_another*"])
    result.assert_outcomes()
