from __future__ import annotations

import csv
import json
import xml.etree.ElementTree as ET
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest


def only_run(root: Path) -> Path:
    (folder,) = (root / "eval_results").glob("eval_*")
    return folder


def strict_json(path: Path) -> Any:
    def refuse(word: str) -> None:
        raise AssertionError(f"{path}: {word}")

    return json.loads(path.read_text(encoding="utf-8"), parse_constant=refuse)


def test_a_passed_scenario_tells_where_its_files_are(project: pytest.Pytester) -> None:
    result = project.runpytest("--voice-scenarios=shop__good", "-v")
    result.assert_outcomes(passed=1)
    folder = f"eval_results/{only_run(project.path).name}"
    result.stdout.fnmatch_lines(
        [
            "scenarios/shop.py::shop__good PASSED*",
            "*= voice scenarios =*",
            "shop__good  passed *3 turns in 1.0 s, latency 500 ms mean, 500 ms p95, [[]EXIT[]]",
            f"  recording:  {folder}/shop__good/conversation_log.wav",
            f"  transcript: {folder}/shop__good/conversation_log.txt",
            f"  metrics:    {folder}/shop__good/metrics.json",
            "voice scenarios: 1 passed, 0 failed, 0 skipped, 0 errors; 1 of 1 with a verdict passed",
            f"run folder: {folder}",
        ]
    )


def test_a_failed_scenario_says_what_was_expected_and_found_without_a_traceback(
    project: pytest.Pytester,
) -> None:
    result = project.runpytest("--voice-scenarios=shop__wrong_tea")
    result.assert_outcomes(failed=1)
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stdout.fnmatch_lines(
        [
            "*_ shop__wrong_tea _*",
            "is_action_match failed in shop__wrong_tea",
            "  is_action_match    FAILED",
            '*items[[]0[]].name*"Tea"*"Coffee"*',
            "  clean_exit         passed",
            "  stop reason: [[]EXIT[]] after 1.0 s",
            "*AGENT: Welcome to the shop.",
            "*USER:  One tea, please.",
            "  artefacts: eval_results/eval_*/shop__wrong_tea",
            "*- Captured transcript call -*",
            "FAILED scenarios/shop.py::shop__wrong_tea - is_action_match failed in shop__wrong_tea*",
        ]
    )
    result.stdout.no_fnmatch_line("*assert_successful*")
    result.stdout.no_fnmatch_line("*Error*")


def test_a_scenario_to_which_nothing_applies_is_skipped_with_the_reason(project: pytest.Pytester) -> None:
    result = project.runpytest("--voice-scenarios=bank__unscored", "-rs")
    result.assert_outcomes(skipped=1)
    result.stdout.fnmatch_lines(
        [
            "SKIPPED [[]1[]] scenarios/bank.py:7: bank__unscored: there is nothing to score by "
            "(is_action_match: the scenario has no reference answer)"
        ]
    )


def test_a_bot_that_does_not_answer_is_an_error_and_not_a_failure(project: pytest.Pytester) -> None:
    result = project.runpytest("--voice-scenarios=bank__unreachable")
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(
        [
            "*ERROR at setup of bank__unreachable*",
            "agent: nothing listens at ws://127.0.0.1:9; start it",
            "bank__unreachable  error",
            "  files: *eval_results/eval_*/bank__unreachable",
            "voice scenarios: 0 passed, 0 failed, 0 skipped, 1 error",
        ]
    )
    result.stdout.no_fnmatch_line("*conftest.py:*")


def test_fixtures_and_marks_of_a_scenario_class_work(
    project: pytest.Pytester, write: Callable[[str, str], Path]
) -> None:
    write(
        "scenarios/marked.py",
        "import pytest\n"
        "from pytest_voiceeval import register_eval_scenario\n"
        "from .shop import ShopScenario\n\n"
        "@pytest.mark.skip(reason='closed')\n"
        "@register_eval_scenario\n"
        "class Closed(ShopScenario):\n"
        "    name = 'marked__closed'\n",
    )
    project.runpytest("--voice-scenarios=marked").assert_outcomes(skipped=1)


@pytest.mark.parametrize("workers", [(), ("-n2",)])
def test_the_files_of_a_run(project: pytest.Pytester, workers: tuple[str, ...]) -> None:
    result = project.runpytest("--voice-scenarios=shop,bank__unscored,bank__unreachable", *workers)
    result.assert_outcomes(passed=1, failed=1, skipped=1, errors=1)
    run = only_run(project.path)
    records = strict_json(run / "all_metrics.json")
    assert [record["scenario_name"] for record in records] == [
        "bank__unscored",
        "shop__good",
        "shop__wrong_tea",
    ]
    assert [record["is_successful"] for record in records] == ["N/A", True, False]
    with (run / "all_latencies.csv").open(encoding="utf-8", newline="") as stream:
        rows = list(csv.reader(stream))
    assert rows[0] == ["Scenario", "User_Transcript", "Agent_Transcript", "Latency_ms"]
    assert rows[2] == ["shop__good", "One tea, please.", "Here it is.", "500.0"]
    summary = (run / "all_summary.txt").read_text(encoding="utf-8")
    assert "Total Scenarios: 4\n" in summary
    assert "Overall Success Rate: 50.00% (1/2 scenarios — strict conjunction" in summary
    assert "1 error(s), 1 skipped" in summary
    (invocation,) = strict_json(run / "run_args.json")["invocations"]
    assert invocation["resolved_scenario_count"] == 4
    assert invocation["parsed_args"]["voice_rehearsal"] == "gold"
    assert {path.name for path in run.iterdir() if path.is_dir()} == {
        "bank__unreachable",
        "bank__unscored",
        "shop__good",
        "shop__wrong_tea",
    }
    result.stdout.fnmatch_lines(["voice scenarios: 1 passed, 1 failed, 1 skipped, 1 error; 1 of 2 with*"])


@pytest.mark.parametrize("workers", [(), ("-n2",)])
def test_junit_xml_carries_verdict_signals_latency_and_folder(
    project: pytest.Pytester, workers: tuple[str, ...]
) -> None:
    project.runpytest("--voice-scenarios=shop", "--junitxml=junit.xml", *workers)
    cases = {case.get("name"): case for case in ET.parse(project.path / "junit.xml").iter("testcase")}
    found = {p.get("name"): p.get("value") for p in cases["shop__wrong_tea"].iter("property")}
    assert Path(found.pop("voice_artifacts") or "").is_dir()
    assert found == {
        "voice_scenario": "shop__wrong_tea",
        "voice_verdict": "failed",
        "voice_is_action_match": "failed",
        "voice_db_state_match": "not_applicable",
        "voice_db_state_assertion": "not_applicable",
        "voice_nl_assertion": "not_applicable",
        "voice_judge_passed": "not_applicable",
        "voice_clean_exit": "passed",
        "voice_latency_mean_ms": "500.0",
        "voice_stop_reason": "[EXIT]",
        "voice_turns": "3",
        "voice_duration_seconds": "1.0",
    }
    failure = cases["shop__wrong_tea"].find("failure")
    assert failure is not None
    assert "expected" in (failure.text or "")


def test_the_summary_lines_say_what_was_wrong_also_on_a_narrow_terminal(
    project: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    result = project.runpytest_subprocess("--voice-scenarios=shop__wrong_tea,bank__unreachable")
    result.stdout.fnmatch_lines(
        [
            "FAILED scenarios/shop.py::shop__wrong_tea - is_action_match failed in *",
            "ERROR scenarios/bank.py::bank__unreachable - agent: nothing listens at *",
        ]
    )


def test_ctrl_c_leaves_the_results_so_far(project: pytest.Pytester) -> None:
    result = project.runpytest_subprocess("scenarios/shop.py", "scenarios/bank.py::bank__row2")
    assert result.ret == pytest.ExitCode.INTERRUPTED
    run = only_run(project.path)
    assert [r["scenario_name"] for r in strict_json(run / "all_metrics.json")] == [
        "shop__good",
        "shop__wrong_tea",
    ]
    assert (run / "run_args.json").exists()
    assert (run / "bank__row2").is_dir()


def test_a_hand_written_test_can_ask_for_a_call(
    project: pytest.Pytester, write: Callable[[str, str], Path]
) -> None:
    write(
        "tests/test_by_hand.py",
        "import pytest\n\n"
        "@pytest.mark.voice_scenario('shop__good')\n"
        "def test_greets(voice_conversation):\n"
        "    assert voice_conversation.turns[0].text.startswith('Welcome')\n\n"
        "@pytest.mark.voice_scenario('shop__good')\n"
        "def test_metrics(voice_metrics):\n"
        "    assert voice_metrics.successful\n\n"
        "def test_no_mark(voice_scenario):\n"
        "    pass\n\n"
        "@pytest.mark.voice_scenario('shop__god')\n"
        "def test_unknown(voice_scenario):\n"
        "    pass\n",
    )
    result = project.runpytest("tests/test_by_hand.py")
    result.assert_outcomes(passed=2, errors=2)
    result.stdout.fnmatch_lines(
        [
            "*test_no_mark: which scenario? Mark the test @pytest.mark.voice_scenario*",
            "*did you mean 'shop__good'*",
        ]
    )


def test_a_plain_run_leaves_no_trace(project: pytest.Pytester) -> None:
    result = project.runpytest()
    result.assert_outcomes(passed=1)
    result.stdout.no_fnmatch_line("*voice scenarios*")
    assert not (project.path / "eval_results").exists()


def test_allure_gets_the_files(project: pytest.Pytester) -> None:
    pytest.importorskip("allure")
    project.runpytest("--voice-scenarios=shop__good", "--alluredir=allure").assert_outcomes(passed=1)
    (path,) = (project.path / "allure").glob("*-result.json")
    attached = {entry["name"] for entry in strict_json(path)["attachments"]}
    assert {"recording", "transcript", "metrics"} <= attached


def test_an_error_is_broken_and_a_failure_is_failed_in_allure(project: pytest.Pytester) -> None:
    pytest.importorskip("allure")
    project.runpytest("--voice-scenarios=shop__wrong_tea,bank__unreachable", "--alluredir=allure")
    records = [strict_json(path) for path in (project.path / "allure").glob("*-result.json")]
    assert {r["name"]: r["status"] for r in records} == {
        "shop__wrong_tea": "failed",
        "bank__unreachable": "broken",
    }


@pytest.mark.parametrize("agent", ["ws://u:canary@127.0.0.1:9", "ws://u:can/canary@127.0.0.1:9"])
def test_the_password_of_a_bot_is_shown_nowhere(project: pytest.Pytester, agent: str) -> None:
    (project.path / "conftest.py").write_text("")
    project.makeini(f"[pytest]\nvoice_user = {agent}\nvoice_connect_timeout = 0.1\n")
    ini = project.path / "tox.ini"
    result = project.runpytest(
        "--voice-scenarios=shop__good", f"--voice-agent={agent}", "--junitxml=junit.xml", "-vv"
    )
    shown = result.stdout.str() + result.stderr.str()
    assert "ws://<redacted>@127.0.0.1:9" in shown
    made = [path for path in project.path.rglob("*") if path.is_file() and path != ini]
    assert not [path for path in made if b"canary" in path.read_bytes()]
    assert "canary" not in shown
