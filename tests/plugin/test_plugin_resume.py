"""Going on with a run that was begun before."""

from __future__ import annotations

import json
import shutil
import xml.etree.ElementTree as ET
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from canned_project import CONFTEST, run_folder

from pytest_voiceeval.run.earlier import read_note
from pytest_voiceeval.run.lock import RunLock

Write = Callable[[str, str], Path]
WORKERS = pytest.mark.parametrize("workers", [(), ("-n2",)])
ALL = "--voice-scenarios=shop,bank__unscored,bank__row1"

NOBODY = '''
"""Calls that must not be held."""
import pytest

@pytest.fixture
def voice_conversation(voice_scenario, voice_folder):
    with open("held.txt", "a") as stream:
        stream.write(f"{voice_scenario.name}\\n")
    raise AssertionError("a call was held")
'''

SAVING = CONFTEST.replace(
    "    name = voice_scenario.name\n",
    "    name = voice_scenario.name\n    voice_scenario.save(voice_folder / 'scenario_config')\n",
)
"""Canned calls that save the scenario, as calls do that are held."""

DYING = """

import os, signal
import pytest_voiceeval.world.files as files

class Dying:
    def __init__(self, stream):
        self.stream = stream
    def write(self, content):
        self.stream.write(content[: len(content) // 2])
        self.stream.flush()
        os.kill(os.getpid(), signal.SIGKILL)
    def __enter__(self):
        return self
    def __exit__(self, *exc):
        self.stream.close()

class FilesOs:
    left = MOMENT
    def __getattr__(self, name):
        return getattr(os, name)
    def fdopen(self, handle, mode):
        stream = os.fdopen(handle, mode)
        if os.path.basename(os.readlink(f"/proc/self/fd/{handle}")).startswith(".VICTIM."):
            FilesOs.left -= 1
            return Dying(stream) if FilesOs.left == 0 else stream
        return stream

files.os = FilesOs()
"""
"""Has the process killed in the middle of writing a file, the first or a later one of that name."""


def results(root: Path) -> dict[str, Any]:
    run = run_folder(root)
    return {
        "metrics": json.loads((run / "all_metrics.json").read_text(encoding="utf-8")),
        "latencies": (run / "all_latencies.csv").read_text(encoding="utf-8"),
        "summary": (run / "all_summary.txt").read_text(encoding="utf-8"),
    }


def junit(path: Path) -> dict[str, Any]:
    """Return outcome, message, output and properties of each case."""
    return {
        str(case.get("name")): (
            sorted((p.get("name"), p.get("value")) for p in case.iter("property")),
            [(child.tag, child.get("message"), child.text) for child in case if child.tag != "properties"],
        )
        for case in ET.parse(path).iter("testcase")
    }


@WORKERS
def test_what_has_a_result_is_reported_from_it_as_it_was(
    project: pytest.Pytester, write: Write, workers: tuple[str, ...]
) -> None:
    first = project.runpytest(ALL, "--junitxml=first.xml", *workers)
    first.assert_outcomes(passed=2, failed=1, skipped=1)
    before = results(project.path)
    run = run_folder(project.path)
    write("conftest.py", NOBODY)
    stamp = run.name.removeprefix("eval_")
    again = project.runpytest(ALL, f"--voice-resume={stamp}", "--junitxml=again.xml", "-rs", *workers)
    again.assert_outcomes(passed=2, failed=1, skipped=1)
    assert not (project.path / "held.txt").exists()
    assert results(project.path) == before
    assert junit(project.path / "again.xml") == junit(project.path / "first.xml")
    again.stdout.fnmatch_lines(
        [
            f"voice scenarios: resuming eval_results/{run.name}",
            "is_action_match failed in shop__wrong_tea",
            "*AGENT: Welcome to the shop.",
            "*- Captured transcript call -*",
            "shop__good *passed*from before",
            "voice scenarios: 2 passed, 1 failed, 1 skipped, 0 errors, 4 from before; 2 of 3 with*",
        ]
    )
    again.stdout.no_fnmatch_line("warning: *")
    starts = json.loads((run / "run_args.json").read_text())["invocations"]
    assert [start.get("resumed_from_invocation") for start in starts] == [None, 0]
    assert len(list((project.path / "eval_results").iterdir())) == 1


@WORKERS
def test_only_what_has_no_result_is_held_and_the_end_is_the_same(
    project: pytest.Pytester, workers: tuple[str, ...]
) -> None:
    project.runpytest(ALL, *workers)
    run = run_folder(project.path)
    before = results(project.path)
    (run / "shop__good" / "metrics.json").unlink()
    (run / "bank__row1" / "metrics.json").write_text('{"total_turns": 3, "stop_r')
    for name in ("all_metrics.json", "all_latencies.csv", "all_summary.txt"):
        (run / name).unlink()
    untouched = (run / "shop__wrong_tea" / "metrics.json").stat().st_mtime_ns
    result = project.runpytest(f"--voice-resume={run}", *workers)
    result.assert_outcomes(passed=2, failed=1, skipped=1)
    result.stdout.fnmatch_lines(["voice scenarios: *, 2 from before;*"])
    assert results(project.path) == before
    assert (run / "shop__wrong_tea" / "metrics.json").stat().st_mtime_ns == untouched
    aside = sorted(path.name for path in run.iterdir() if ".killed." in path.name)
    assert [name.partition(".killed.")[0] for name in aside] == ["bank__row1", "shop__good"]
    assert all((run / name / "__KILLED__").read_bytes() == b"" for name in aside)


def test_a_narrower_resume_keeps_the_results_of_the_others(project: pytest.Pytester) -> None:
    project.runpytest(ALL)
    run = run_folder(project.path)
    before = results(project.path)
    shutil.rmtree(run / "shop__good")
    result = project.runpytest(f"--voice-resume={run.name}", "-k", "good")
    result.assert_outcomes(passed=1, deselected=3)
    assert results(project.path) == before


def test_a_resume_that_was_interrupted_keeps_all_results(project: pytest.Pytester) -> None:
    project.runpytest("--voice-scenarios=shop,bank__unscored")
    run = run_folder(project.path)
    result = project.runpytest_subprocess(
        f"--voice-resume={run.name}", "scenarios/bank.py::bank__row2", "scenarios/shop.py"
    )
    assert result.ret == pytest.ExitCode.INTERRUPTED
    after = results(project.path)
    assert [r["scenario_name"] for r in after["metrics"]] == [
        "bank__unscored",
        "shop__good",
        "shop__wrong_tea",
    ]
    assert "Total Scenarios: 4\n" in after["summary"]
    assert "Without a verdict, in no rate: 1 skipped, 1 broken off\n" in after["summary"]


def test_a_changed_scenario_and_changed_options_are_warned_of_and_not_refused(
    project: pytest.Pytester, write: Write
) -> None:
    write("conftest.py", SAVING)
    project.runpytest(ALL)
    run = run_folder(project.path)
    shop = (project.path / "scenarios" / "shop.py").read_text()
    write("scenarios/shop.py", shop.replace('description = "Tea is ordered."', 'description = "Other."'))
    options = (ALL, f"--voice-resume={run.name}", "--voice-strict-match", "--voice-rehearsal=mute")
    for workers in ((), ("-n2",)):
        result = project.runpytest_subprocess(*options, *workers, "-W", "error")
        result.assert_outcomes(passed=2, failed=1, skipped=1)
        started = json.loads((run / "run_args.json").read_text())["invocations"][0]["started_at"]
        strict = (
            f"voice_strict_match is 'true' now and was 'false' in the start of {started}: results of before "
            "stand as they are"
        )
        changed = (
            "shop__good is not what it was when it was held (metadata.json): its result stands; remove "
            f"eval_results/{run.name}/shop__good to have it held again"
        )
        ending = result.outlines[result.outlines.index(f"run folder: eval_results/{run.name}") :]
        lines = [line for line in ending if line.startswith("warning: ")]
        assert f"warning: {strict}" in lines
        assert f"warning: {changed}" in lines
        assert len(lines) == 3
        summary = results(project.path)["summary"].splitlines()
        assert f"WARNING: {strict}" in summary
        assert f"WARNING: {changed}" in summary


def test_a_scenario_with_too_few_answers_is_held_again_and_the_minimum_of_now_counts(
    project: pytest.Pytester,
) -> None:
    project.runpytest("--voice-scenarios=shop__good", "--voice-min-agent-turns=5").assert_outcomes(failed=1)
    run = run_folder(project.path)
    result = project.runpytest(f"--voice-resume={run.name}", "--voice-min-agent-turns=3")
    result.assert_outcomes(passed=1)
    assert not [path for path in run.iterdir() if ".killed." in path.name]
    (record,) = results(project.path)["metrics"]
    assert (record["is_successful"], "insufficient_agent_turns" in record) == (True, False)
    project.runpytest(f"--voice-resume={run.name}", "--voice-min-agent-turns=5").assert_outcomes(failed=1)
    assert not [path for path in run.iterdir() if ".killed." in path.name]
    assert len([path for path in run.iterdir() if ".replaced." in path.name]) == 1


def test_a_test_by_hand_is_held_again_and_takes_no_result_of_the_scenario(
    project: pytest.Pytester, write: Write
) -> None:
    write(
        "tests/test_by_hand.py",
        "import pytest\n\n"
        "@pytest.mark.voice_scenario('shop__good')\n"
        "def test_it(voice_metrics, voice_folder):\n    assert voice_folder.is_dir()\n",
    )
    both = ("tests/test_by_hand.py", "scenarios/shop.py::shop__good")
    project.runpytest(*both).assert_outcomes(passed=2)
    run = run_folder(project.path)
    result = project.runpytest(*both, f"--voice-resume={run.name}")
    result.assert_outcomes(passed=2)
    result.stdout.fnmatch_lines(["voice scenarios: 2 passed*, 1 from before;*"])
    assert len(results(project.path)["metrics"]) == 2


def test_a_result_without_a_note_of_whose_it_is_is_known_by_its_folder(
    project: pytest.Pytester, write: Write
) -> None:
    project.runpytest("--voice-scenarios=shop__good")
    run = run_folder(project.path)
    (run / "shop__good" / "item.json").unlink()
    (run / "run_args.json").unlink()
    write("conftest.py", NOBODY)
    project.runpytest("--voice-scenarios=shop__good", f"--voice-resume={run}").assert_outcomes(passed=1)


@pytest.mark.parametrize(
    ("run", "complaint"),
    [
        ("20200101_000000", "*--voice-resume=20200101_000000: no such run; the latest in *: eval_*"),
        ("eval_x", "*--voice-resume=eval_x: no such run; the latest in *"),
        ("tests", "*--voice-resume=tests: this folder holds no run: neither run_args.json nor*"),
        ("", "*--voice-resume=: write the timestamp of a run*"),
    ],
)
def test_a_run_that_is_none_is_a_usage_error(project: pytest.Pytester, run: str, complaint: str) -> None:
    (project.path / "eval_results" / "eval_20260102_030405").mkdir(parents=True)
    result = project.runpytest(f"--voice-resume={run}")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([complaint])
    result.stderr.no_fnmatch_line("*Traceback*")


def test_a_run_that_names_no_scenarios_asks_for_them(project: pytest.Pytester) -> None:
    folder = project.path / "eval_results" / "eval_20260102_030405"
    folder.mkdir(parents=True)
    result = project.runpytest("--voice-resume=20260102_030405")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(
        ["*--voice-resume=*: its run_args.json names no scenario that there is; say*"]
    )
    project.runpytest("--voice-resume=20260102_030405", "--voice-scenarios=shop__good").assert_outcomes(
        passed=1
    )
    assert (folder / "shop__good" / "metrics.json").exists()


def test_looking_at_a_run_without_holding_anything_leaves_it_as_it_is(project: pytest.Pytester) -> None:
    project.runpytest(ALL)
    run = run_folder(project.path)
    before = {path.name: path.stat().st_mtime_ns for path in run.iterdir()}
    project.runpytest(f"--voice-resume={run.name}", "--co")
    project.runpytest(f"--voice-resume={run.name}", "tests").assert_outcomes(passed=1)
    assert {path.name: path.stat().st_mtime_ns for path in run.iterdir()} == before


def test_the_record_of_a_start_is_there_before_the_first_call_ends(
    project: pytest.Pytester, write: Write
) -> None:
    write(
        "conftest.py",
        CONFTEST.replace("raise KeyboardInterrupt", "import os; os._exit(9)"),
    )
    result = project.runpytest_subprocess(
        "--voice-scenarios=bank__row2", "--voice-agent=ws://u:pw@127.0.0.1:9"
    )
    assert result.ret == 9
    text = (run_folder(project.path) / "run_args.json").read_text()
    (start,) = json.loads(text)["invocations"]
    assert start["resolved_scenario_names"] == ["bank__row2"]
    assert start["parsed_args"]["voice_agent"] == "ws://<redacted>@127.0.0.1:9"
    assert "pw@" not in text


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="the files that are open can't be looked at")
@pytest.mark.parametrize(
    ("victim", "moment", "held_again"),
    [
        ("run_args.json", 1, 4),
        ("item.json", 1, 4),
        ("conversation_log.txt", 2, 3),
        ("metrics.json", 1, 4),
        ("metrics.json", 3, 2),
        ("all_metrics.json", 1, 0),
        ("all_summary.txt", 1, 0),
        ("run_args.json", 2, 0),
    ],
)
def test_a_run_that_was_killed_in_the_middle_of_a_write_comes_to_the_same_end(
    project: pytest.Pytester, write: Write, victim: str, moment: int, held_again: int
) -> None:
    project.runpytest(ALL, "--voice-output-dir=whole")
    (whole,) = (project.path / "whole").iterdir()
    write("conftest.py", CONFTEST + DYING.replace("MOMENT", str(moment)).replace("VICTIM", victim))
    assert project.runpytest_subprocess(ALL).ret == -9
    run = run_folder(project.path)
    assert not list(run.rglob(victim)) or moment > 1
    for path in run.rglob("*.json"):
        json.loads(path.read_text())  # whole or absent
    before = invocations_of_results(run)
    write("conftest.py", CONFTEST)
    result = project.runpytest(ALL, f"--voice-resume={run.name}")
    result.assert_outcomes(passed=2, failed=1, skipped=1)
    after = invocations_of_results(run)
    assert [len(after), sum(invocation not in before for invocation in after)] == [4, held_again]
    for name in ("all_metrics.json", "all_latencies.csv", "all_summary.txt"):
        expected = (whole / name).read_text().replace(str(whole), str(run))
        assert (run / name).read_text() == expected
    assert not list(run.glob(".*.part"))


def invocations_of_results(run: Path) -> list[str]:
    """Return, for each folder of a run that has metrics, which start made it."""
    notes = [read_note(folder) for folder in run.iterdir() if (folder / "metrics.json").exists()]
    return [note.invocation for note in notes if note]


def test_a_worker_that_is_killed_leaves_a_run_that_comes_to_the_same_end(
    project: pytest.Pytester, write: Write
) -> None:
    project.runpytest(ALL, "--voice-output-dir=whole")
    (whole,) = (project.path / "whole").iterdir()
    write("conftest.py", CONFTEST + DYING.replace("MOMENT", "1").replace("VICTIM", "metrics.json"))
    project.runpytest_subprocess(ALL, "-n2", "--max-worker-restart=0")
    run = run_folder(project.path)
    write("conftest.py", CONFTEST)
    result = project.runpytest(f"--voice-resume={run.name}", ALL, "-n2")
    result.assert_outcomes(passed=2, failed=1, skipped=1)
    for name in ("all_metrics.json", "all_latencies.csv", "all_summary.txt"):
        assert (run / name).read_text() == (whole / name).read_text().replace(str(whole), str(run))


def test_a_run_that_still_goes_on_is_not_gone_on_with(project: pytest.Pytester) -> None:
    project.runpytest(ALL)
    run = run_folder(project.path)
    lock = RunLock(run)
    result = project.runpytest(f"--voice-resume={run.name}")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*--voice-resume: *: this run still goes on in another process; wait for*"])
    lock.release()
    for _ in range(2):
        project.runpytest(f"--voice-resume={run.name}").assert_outcomes(passed=2, failed=1, skipped=1)


@pytest.mark.parametrize("reruns", [(), ("--reruns=1",)])
def test_what_failed_before_fails_again_without_a_call(
    project: pytest.Pytester, write: Write, reruns: tuple[str, ...]
) -> None:
    pytest.importorskip("pytest_rerunfailures")
    project.runpytest("--voice-scenarios=shop", *reruns)
    run = run_folder(project.path)
    before = results(project.path)
    write("conftest.py", NOBODY)
    project.runpytest(f"--voice-resume={run.name}", *reruns).assert_outcomes(passed=1, failed=1)
    assert not (project.path / "held.txt").exists()
    assert results(project.path) == before


COURT = """
from pytest_voiceeval import SuccessSignal, register_eval_scenario
from .shop import ShopScenario


@register_eval_scenario
class Judged(ShopScenario):
    name = "court__judged"
    success_signals = (SuccessSignal.JUDGE_PASSED,)
"""


def test_a_judge_that_broke_is_asked_again_and_an_error_is_held_again(
    project: pytest.Pytester, write: Write
) -> None:
    judging = """

from pytest_voiceeval.model.judgement import Judgement

class Scripted:
    def judge(self, scenario, conversation, *, strict_match=False):
        return JUDGEMENT

@pytest.fixture(scope="session")
def voice_judge():
    return Scripted()
"""
    write("scenarios/court.py", COURT)
    write("conftest.py", CONFTEST + judging.replace("JUDGEMENT", "Judgement(error='no answer')"))
    both = "--voice-scenarios=court__judged,bank__unreachable"
    project.runpytest(both).assert_outcomes(errors=2)
    run = run_folder(project.path)
    summary = (run / "all_summary.txt").read_text()
    assert "Without a verdict, in no rate: 2 error(s)\n" in summary
    assert "Clean exit:" not in summary
    write("conftest.py", CONFTEST + judging.replace("JUDGEMENT", "Judgement(score=1.0)"))
    project.runpytest(f"--voice-resume={run.name}").assert_outcomes(passed=1, errors=1)
    assert "Without a verdict, in no rate: 1 error(s)\n" in (run / "all_summary.txt").read_text()
    assert not list(run.glob("*.killed.*"))
    assert len(list(run.glob("*.replaced.*"))) == 2


def test_a_scenario_that_can_no_longer_be_made_keeps_its_result(
    project: pytest.Pytester, write: Write
) -> None:
    write("conftest.py", SAVING)
    project.runpytest("--voice-scenarios=shop__good")
    run = run_folder(project.path)
    shop = (project.path / "scenarios" / "shop.py").read_text()
    broken = (
        '    description = "Tea is ordered."\n\n    def __init__(self):\n        raise OSError("no data")\n'
    )
    write("scenarios/shop.py", shop.replace('    description = "Tea is ordered."\n', broken))
    result = project.runpytest_subprocess(f"--voice-resume={run.name}")
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(
        ["warning: shop__good is not what it was*it can't be saved any more: no data*"]
    )
