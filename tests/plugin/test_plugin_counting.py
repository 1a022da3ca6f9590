"""What a run counts as a scenario, and what it says of those that came to no end."""

from __future__ import annotations

import json
import os
import pickle
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from test_plugin_outcomes import only_run

from pytest_voiceeval.plugin.items import ChecksFailed

Write = Callable[[str, str], Path]
WORKERS = pytest.mark.parametrize("workers", [(), ("-n2",)])

BY_HAND = """
import pytest

pytestmark = pytest.mark.voice_scenario("shop__good")

def test_scenario(voice_scenario):
    pass

def test_conversation(voice_conversation):
    pass

def test_other_fixture(broken, voice_scenario):
    pass

@pytest.fixture
def broken():
    raise ValueError("not ours")
"""


@WORKERS
def test_a_test_without_a_verdict_is_no_scenario(
    project: pytest.Pytester, write: Write, workers: tuple[str, ...]
) -> None:
    write("tests/test_by_hand.py", BY_HAND)
    result = project.runpytest("tests/test_by_hand.py", *workers)
    result.assert_outcomes(passed=2, errors=1)
    result.stdout.fnmatch_lines(["voice scenarios: 0 passed, 0 failed, 0 skipped, 0 errors", "run folder: *"])
    summary = (only_run(project.path) / "all_summary.txt").read_text(encoding="utf-8")
    assert "Total Scenarios: 0\n" in summary


@WORKERS
def test_a_test_with_a_verdict_counts_and_the_rate_is_of_verdicts(
    project: pytest.Pytester, write: Write, workers: tuple[str, ...]
) -> None:
    write(
        "tests/test_by_hand.py",
        "import pytest\n\n"
        "@pytest.mark.voice_scenario('shop__wrong_tea')\n"
        "def test_fails_as_it_should(voice_metrics):\n    assert not voice_metrics.successful\n",
    )
    result = project.runpytest("tests/test_by_hand.py", *workers)
    result.stdout.fnmatch_lines(["voice scenarios: 1 passed, *; 0 of 1 with a verdict passed"])


@WORKERS
def test_a_test_that_ended_in_one_of_our_fixtures_counts_as_an_error(
    project: pytest.Pytester, write: Write, workers: tuple[str, ...]
) -> None:
    write(
        "tests/conftest.py",
        "import pytest\n\n@pytest.fixture(scope='session')\n"
        "def voice_agent():\n    raise RuntimeError('no lab')\n",
    )
    write(
        "tests/test_by_hand.py",
        "import pytest\n\n"
        "@pytest.mark.voice_scenario('shop__good')\n"
        "def test_one(voice_agent, voice_metrics):\n    pass\n\n"
        "@pytest.mark.voice_scenario('bank__unreachable')\n"
        "def test_two(voice_conversation):\n    pass\n\n"
        "@pytest.mark.voice_scenario('bank__row1')\n"
        "def test_three(voice_agent, voice_metrics):\n    pass\n\n"
        "@pytest.fixture\ndef voice_user():\n    pytest.fail('no caller')\n\n"
        "@pytest.mark.voice_scenario('bank__row2')\n"
        "def test_four(voice_user, voice_conversation):\n    pass\n",
    )
    result = project.runpytest("tests/test_by_hand.py", *workers)
    result.assert_outcomes(errors=4)
    result.stdout.fnmatch_lines(["voice scenarios: 0 passed, 0 failed, 0 skipped, 4 errors"])


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("restaurant", "*'restaurant' is no scenario but stands for 11: name one, such as*"),
        ("shop__*", "*'shop__[*]' is no scenario but stands for 2: name one, such as 'shop__good'*"),
        ("shop__god", "*no scenario 'shop__god'; did you mean 'shop__good'?*"),
    ],
)
def test_a_mark_names_one_scenario_exactly(
    project: pytest.Pytester, write: Write, name: str, hint: str
) -> None:
    write(
        "tests/test_by_hand.py",
        f"import pytest\n\n@pytest.mark.voice_scenario({name!r})\ndef test_it(voice_scenario):\n    pass\n",
    )
    result = project.runpytest("tests/test_by_hand.py")
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines([hint])


@WORKERS
def test_what_was_not_run_is_told(project: pytest.Pytester, workers: tuple[str, ...]) -> None:
    result = project.runpytest("--voice-scenarios=bank__unreachable,bank__row1,shop", "-x", *workers)
    result.stdout.fnmatch_lines(["voice scenarios: *1 error*not run*"])
    run = only_run(project.path)
    summary = (run / "all_summary.txt").read_text(encoding="utf-8")
    assert "Total Scenarios: 4\n" in summary
    assert re.search(r"Without a verdict, in no rate: 1 error\(s\), \d not run\n", summary)


def test_a_scenario_that_was_broken_off_is_told_from_those_not_run(project: pytest.Pytester) -> None:
    result = project.runpytest_subprocess(
        "scenarios/shop.py::shop__good", "scenarios/bank.py::bank__row2", "scenarios/shop.py::shop__wrong_tea"
    )
    assert result.ret == pytest.ExitCode.INTERRUPTED
    result.stdout.fnmatch_lines(
        [
            "bank__row2* broken off",
            "  files: *bank__row2",
            "voice scenarios: * 1 broken off*; * with a verdict passed",
        ]
    )
    summary = (only_run(project.path) / "all_summary.txt").read_text(encoding="utf-8")
    assert "Total Scenarios: 3\n" in summary
    assert "1 broken off" in summary


def test_an_error_after_the_verdict_does_not_take_it_back(project: pytest.Pytester, write: Write) -> None:
    conftest = project.path / "conftest.py"
    conftest.write_text(
        conftest.read_text() + "\n\n@pytest.fixture(autouse=True)\ndef lamp():\n    yield\n    assert 0\n",
        encoding="utf-8",
    )
    result = project.runpytest("--voice-scenarios=shop__good")
    result.assert_outcomes(passed=1, errors=1)
    result.stdout.fnmatch_lines(["voice scenarios: *1 error; 1 of 1 with a verdict passed"])
    summary = (only_run(project.path) / "all_summary.txt").read_text(encoding="utf-8")
    assert "Without a verdict" not in summary


@WORKERS
def test_each_scenario_is_logged_as_it_begins_and_ends(
    project: pytest.Pytester, workers: tuple[str, ...]
) -> None:
    project.runpytest("--voice-scenarios=shop,bank__unreachable", *workers)
    lines = (only_run(project.path) / "evaluation_log.txt").read_text(encoding="utf-8").splitlines()
    shape = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d \| [^|:]+:[^|:]+:\d+ \| \[(INFO|ERROR)\]: (.+)")
    events = [(found[1], found[2]) for line in lines if (found := shape.fullmatch(line))]
    assert len(events) == len(lines) == 6
    starts = [text for level, text in events if text.startswith("Starting Scenario")]
    assert [text.partition(":")[0] for text in starts] == [f"Starting Scenario {k}/3" for k in (1, 2, 3)]
    assert {text.rpartition(" ")[2] for text in starts} == {
        "shop__good",
        "shop__wrong_tea",
        "bank__unreachable",
    }
    assert ("ERROR", "Finished Scenario: bank__unreachable: error") in events
    assert ("INFO", "Finished Scenario: shop__wrong_tea: failed") in events
    assert any(re.search(r" shop\.py:shop__good:\d+ ", line) for line in lines)


def test_runs_on_workers_have_folders_of_their_own(project: pytest.Pytester) -> None:
    (project.path / "eval_results").mkdir()
    for _ in range(3):
        project.runpytest("--voice-scenarios=shop__good", "-n1").assert_outcomes(passed=1)
    assert len(list((project.path / "eval_results").iterdir())) == 3


def test_workers_leave_no_folder_where_nothing_was_held(project: pytest.Pytester) -> None:
    project.runpytest("-n1").assert_outcomes(passed=1)
    project.runpytest("-n1", "--voice-scenarios=shop", "-k", "nothing")
    assert not (project.path / "eval_results").exists()


@pytest.mark.skipif(os.name == "nt", reason="a file in place of the folder is another error there")
def test_a_folder_that_cannot_be_made_is_a_usage_error_on_workers(project: pytest.Pytester) -> None:
    (project.path / "taken").write_text("")
    result = project.runpytest("-n1", "--voice-scenarios=shop", "--voice-output-dir=taken")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*--voice-output-dir=*taken: no folder can be made there*"])


PULLS = """
from datetime import datetime

import pytest
from pytest_voiceeval.model.conversation import Conversation, Recording, SideEvidence
from pytest_voiceeval.model.stop_reason import StopReason

@pytest.fixture
def voice_conversation(voice_scenario):
    reason = StopReason.EXIT if voice_scenario.name == "shop__good" else StopReason.AGENT_HANGUP
    now = datetime(2026, 1, 2)
    agent = SideEvidence(pull_error="get_scenario_summary: no answer within 10 s")
    return Conversation(voice_scenario.name, (), reason, now, now, Recording(b"", 16000), agent=agent)
"""


def test_evidence_that_no_bot_gave_is_an_error_unless_the_agent_hung_up(
    project: pytest.Pytester, write: Write
) -> None:
    write("conftest.py", PULLS)
    result = project.runpytest("--voice-scenarios=shop")
    result.assert_outcomes(errors=1, failed=1)
    result.stdout.fnmatch_lines(
        [
            "*ERROR at setup of shop__good*",
            "shop__good: is_action_match cannot be scored, because the agent's end state could not be*",
            "*_ shop__wrong_tea _*",
            "*the agent hung up, and what it recorded could not be pulled: get_scenario_summary: no answer*",
            "*evidence of the agent is missing: get_scenario_summary: no answer within 10 s",
        ]
    )
    records = json.loads((only_run(project.path) / "all_metrics.json").read_text())
    assert [record["scenario_name"] for record in records] == ["shop__wrong_tea"]


def test_a_failure_can_be_pickled() -> None:
    copy = pickle.loads(pickle.dumps(ChecksFailed("tea")))
    assert isinstance(copy, ChecksFailed)
    assert str(copy) == "tea"


@WORKERS
def test_a_run_beside_the_plugins_that_are_installed(
    project: pytest.Pytester, write: Write, monkeypatch: pytest.MonkeyPatch, workers: tuple[str, ...]
) -> None:
    monkeypatch.delenv("PYTEST_ADDOPTS")
    project.makeini(
        "[pytest]\nstrict = true\nfilterwarnings = error\n"
        "asyncio_mode = auto\nasyncio_default_fixture_loop_scope = function\n"
    )
    write(
        "tests/test_async.py",
        "import pytest\nfrom hypothesis import given, strategies as st\n\n"
        "async def test_async():\n    pass\n\n"
        "@pytest.mark.anyio\nasync def test_anyio(voice_settings):\n    pass\n\n"
        "@given(st.integers())\ndef test_property(n):\n    pass\n",
    )
    result = project.runpytest_subprocess("tests", "--voice-scenarios=shop,bank__unreachable", *workers)
    counted = result.parseoutcomes()
    assert (counted["failed"], counted["errors"]) == (1, 1)
    assert "warnings" not in counted
    result.stdout.fnmatch_lines(["voice scenarios: 1 passed, 1 failed, 0 skipped, 1 error; 1 of 2 with*"])


def test_profiles_start_where_they_were_written(
    project: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    project.makepyfile(
        """
        def test_flag(voice_settings, request):
            assert voice_settings.agent == str(request.config.invocation_params.dir / "profiles/mine.yaml")

        def test_ini(voice_settings, request):
            assert voice_settings.agent == str(request.config.rootpath / "profiles/mine.yaml")
            assert voice_settings.user == "openai"
        """
    )
    project.runpytest("-k", "test_flag", "--voice-agent=profiles/mine.yaml").assert_outcomes(passed=1)
    project.makeini("[pytest]\nvoice_agent = profiles/mine.yaml\nvoice_user = openai\n")
    (project.path / "below").mkdir()
    monkeypatch.chdir(project.path / "below")
    project.runpytest("-k", "test_ini", "--rootdir=..", "..").assert_outcomes(passed=1)
    project.runpytest(
        "-k", "test_flag", "--voice-agent=profiles/mine.yaml", "--rootdir=..", ".."
    ).assert_outcomes(passed=1)
