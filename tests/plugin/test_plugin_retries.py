"""Calls that are held again, and calls with too few answers, as a person sees them."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET
from collections.abc import Callable
from pathlib import Path

import pytest
from canned_project import CONFTEST, run_folder

from pytest_voiceeval.run.earlier import read_note

Write = Callable[[str, str], Path]
WORKERS = pytest.mark.parametrize("workers", [(), ("-n2",)])

BOTS = '''
"""Bots of which the agent hangs up at once in the first calls, and then is good."""
import pytest
from pytest_voiceeval.errors import BotProcessError
from pytest_voiceeval.testing import FakeBot, Utterance, exit_message

ANSWER = {"items": [{"name": "Tea", "quantity": "1"}]}
FINAL = {"text": "<final_response>%s</final_response>" % __import__("json").dumps(ANSWER)}
GONE = [Utterance("", 0.0, sends=(exit_message(),))]
GOOD = [
    Utterance("Welcome.", 0.3, 300),
    Utterance("Sure, tea.", 0.3, 300),
    Utterance("Here it is, bye.", 0.3, 300, sends=(FINAL,), late_sends=(exit_message(),)),
]
FIRST_CALLS = {"shop__good": [GONE], "shop__wrong_tea": [GONE, None]}


class Agent:
    clocks = ("charged", "real")
    side = "agent"
    label = "fake agent"

    def __init__(self):
        self.calls = {name: list(calls) for name, calls in FIRST_CALLS.items()}

    def open(self, scenario):
        script = self.calls.get(scenario.name) and self.calls[scenario.name].pop(0)
        if script is None and scenario.name == "shop__wrong_tea":
            raise BotProcessError("the agent is gone for good")
        return FakeBot("agent", script or GOOD, answer_after=0.1).serve()

    def close(self):
        pass


class User(Agent):
    side = "user"
    label = "fake user"

    def open(self, scenario):
        lines = [Utterance("Tea please.", 0.3, 500), Utterance("Thanks.", 0.3, 500)]
        return FakeBot("user", lines, answer_after=0.1).serve()


@pytest.fixture(scope="session")
def voice_agent():
    return Agent()


@pytest.fixture(scope="session")
def voice_user():
    return User()
'''

FAST = "--voice-auto-retry-backoff-secs=0"


@WORKERS
def test_a_retry_is_told_in_terminal_summary_metrics_and_properties(
    project: pytest.Pytester, write: Write, workers: tuple[str, ...]
) -> None:
    write("conftest.py", BOTS)
    result = project.runpytest(
        "--voice-scenarios=shop,bank__row1", FAST, "--junitxml=junit.xml", "-v", *workers
    )
    result.assert_outcomes(passed=2, errors=1)
    run = run_folder(project.path)
    result.stdout.fnmatch_lines(
        [
            "shop__good*passed*5 turns in*",
            "  attempt 1 does not count: stale: no turns were exchanged; its files: "
            f"eval_results/{run.name}/shop__good.attempt1",
            "shop__wrong_tea*error",
            "  attempt 1 does not count: stale: no turns were exchanged",
            "voice scenarios: 2 passed, 0 failed, 0 skipped, 1 error, 2 held again; 2 of 2 with*",
        ]
    )
    attempts = {
        record["scenario_name"]: [entry["retry_reason"] for entry in record["attempts"]]
        for record in json.loads((run / "all_metrics.json").read_text())
    }
    assert attempts == {
        "bank__row1": [None],
        "shop__good": ["stale: no turns were exchanged", None],
    }
    summary = (run / "all_summary.txt").read_text(encoding="utf-8")
    assert "Held again, the last attempt counts: 2 scenario(s)\n" in summary
    assert (
        "  Attempt 1 does not count: stale: no turns were exchanged (files: shop__good.attempt1)\n" in summary
    )
    assert "Overall Success Rate: 100.00% (2/2 scenarios" in summary
    cases = {case.get("name"): case for case in ET.parse(project.path / "junit.xml").iter("testcase")}
    for name, number in (("shop__good", "2"), ("shop__wrong_tea", "2"), ("bank__row1", None)):
        found = {p.get("name"): p.get("value") for p in cases[name].iter("property")}
        assert found.get("voice_attempts") == number
    assert (run / "shop__wrong_tea.attempt1" / "conversation_log.txt").exists()


def test_retries_can_be_switched_off(project: pytest.Pytester, write: Write) -> None:
    write("conftest.py", BOTS)
    project.makeini("[pytest]\nvoice_auto_resume_on_stale = true\n")
    result = project.runpytest(
        "--voice-scenarios=shop__good", "--no-voice-auto-resume-on-stale", "--voice-min-agent-turns=0"
    )
    result.assert_outcomes(failed=1)
    assert not list(run_folder(project.path).glob("*.attempt*"))


def test_an_item_that_a_plugin_runs_again_begins_anew(project: pytest.Pytester, write: Write) -> None:
    pytest.importorskip("pytest_rerunfailures")
    write("conftest.py", BOTS)
    result = project.runpytest("--voice-scenarios=shop__wrong_tea", FAST, "--reruns=1")
    assert result.ret == pytest.ExitCode.OK
    result.stdout.fnmatch_lines(
        [
            "*shop__wrong_tea.2/conversation_log.wav",
            "voice scenarios: 1 passed, 0 failed, 0 skipped, 0 errors; 1 of 1 with a verdict passed",
        ]
    )
    result.stdout.no_fnmatch_line("*does not count*")
    assert {path.name for path in run_folder(project.path).iterdir() if path.is_dir()} == {
        "shop__wrong_tea",
        "shop__wrong_tea.attempt1",
        "shop__wrong_tea.2",
    }


def test_what_was_held_again_just_now_is_not_from_before_and_counts_once(
    project: pytest.Pytester, write: Write
) -> None:
    write("conftest.py", BOTS)
    write(
        "tests/test_by_hand.py",
        "import pytest\n\n@pytest.mark.voice_scenario('shop__good')\n"
        "def test_tea(voice_metrics):\n    pass\n",
    )
    for start in ((), ("--voice-resume",)):
        options = [f"{flag}={run_folder(project.path).name}" for flag in start]
        result = project.runpytest("tests/test_by_hand.py", FAST, *options)
        result.assert_outcomes(passed=1)
        result.stdout.fnmatch_lines(["voice scenarios: 1 passed, *, 1 held again; 1 of 1 with*"])
        result.stdout.no_fnmatch_line("*from before*")
    run = run_folder(project.path)
    assert "Total Scenarios: 1\n" in (run / "all_summary.txt").read_text(encoding="utf-8")
    assert len(json.loads((run / "all_metrics.json").read_text())) == 1
    for folder in ("shop__good", "shop__good.2"):
        note = read_note(run / folder)
        assert note is not None
        assert note.item == "tests/test_by_hand.py::test_tea"


TRIES = """
from pytest_voiceeval.errors import BotUnreachableError

TRIES = {
    "shop__good": [BotUnreachableError("no agent"), None],
    "shop__wrong_tea": [None, BotUnreachableError("no agent")],
}

@pytest.fixture
def voice_user(request):
    name = request.node.name.removeprefix("test_")
    if error := TRIES[name].pop(0):
        raise error
"""


@pytest.mark.parametrize("by_hand", [False, True])
def test_a_try_tells_nothing_of_the_one_before(project: pytest.Pytester, write: Write, by_hand: bool) -> None:
    pytest.importorskip("pytest_rerunfailures")
    # The caller comes first: the second try of a test by hand ends before it has a scenario.
    write(
        "conftest.py",
        CONFTEST.replace("(voice_scenario, voice", "(voice_user, voice_scenario, voice") + TRIES,
    )
    write(
        "tests/test_by_hand.py",
        "import pytest\n\n"
        "@pytest.mark.voice_scenario('shop__good')\n"
        "def test_shop__good(voice_user, voice_metrics):\n    assert voice_metrics.successful\n\n"
        "@pytest.mark.voice_scenario('shop__wrong_tea')\n"
        "def test_shop__wrong_tea(voice_user, voice_metrics):\n    assert voice_metrics.successful\n",
    )
    chosen = "tests/test_by_hand.py" if by_hand else "--voice-scenarios=shop"
    result = project.runpytest(chosen, "--reruns=1", "--junitxml=junit.xml")
    result.assert_outcomes(passed=1, errors=1)
    cases = {
        str(case.get("name")).removeprefix("test_"): {
            p.get("name"): p.get("value") for p in case.iter("property")
        }
        for case in ET.parse(project.path / "junit.xml").iter("testcase")
    }
    assert cases["shop__good"]["voice_verdict"] == "passed"
    assert "voice_error" not in cases["shop__good"]
    assert cases["shop__wrong_tea"] == {"voice_scenario": "shop__wrong_tea", "voice_error": "voice_user"}
    summary = (run_folder(project.path) / "all_summary.txt").read_text(encoding="utf-8")
    assert "Without a verdict, in no rate: 1 error(s)\n" in summary


@WORKERS
def test_too_few_answers_fail_with_a_message_that_says_so(
    project: pytest.Pytester, workers: tuple[str, ...]
) -> None:
    result = project.runpytest("--voice-scenarios=shop", "--voice-min-agent-turns=4", *workers)
    result.assert_outcomes(failed=2)
    result.stdout.fnmatch_lines(
        [
            "insufficient agent turns in shop__good: the agent answered 3 time(s), fewer than 4 *",
            "  is_action_match    passed",
            "FAILED scenarios/shop.py::shop__good - insufficient agent turns in shop__good*",
        ]
    )
    summary = (run_folder(project.path) / "all_summary.txt").read_text(encoding="utf-8")
    assert "Stalled scenarios: shop__good, shop__wrong_tea\n" in summary
    assert "Overall Success Rate: 0.00% (0/2 scenarios" in summary
    assert "Action-list match" not in summary.partition("Per-signal pass rates:")[2]
    project.runpytest("--voice-scenarios=shop__good", "--voice-min-agent-turns=3").assert_outcomes(passed=1)


@pytest.mark.parametrize(
    ("flag", "remedy"),
    [
        ("--voice-min-agent-turns=few", "write a whole number, 0 or more"),
        ("--voice-max-auto-retries=-1", "write a whole number, 0 or more"),
        ("--voice-auto-retry-backoff-secs=-1", "write a number of seconds, 0 or more"),
    ],
)
def test_a_bad_number_is_a_usage_error(project: pytest.Pytester, flag: str, remedy: str) -> None:
    result = project.runpytest(flag)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([f"*{flag}: {remedy}"])
