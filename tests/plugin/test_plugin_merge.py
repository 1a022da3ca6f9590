"""Runs of several machines folded into one."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from canned_project import CONFTEST

from pytest_voiceeval.__main__ import main
from pytest_voiceeval.run.lock import RunLock

Write = Callable[[str, str], Path]
ALL = "--voice-scenarios=shop,bank__unscored,bank__row1,bank__unreachable"
FILES = ("all_metrics.json", "all_latencies.csv", "all_summary.txt")


def hold(project: pytest.Pytester, where: str, *arguments: str) -> Path:
    """Hold scenarios in a folder of their own; return the run's."""
    project.runpytest(f"--voice-output-dir={where}", *arguments)
    (run,) = (project.path / where).glob("eval_*")
    return run.rename(run.with_name(f"eval_{where}"))


def summed_up(run: Path) -> list[str]:
    """Return what a run's files say, without where it lies."""
    texts = [(run / name).read_text(encoding="utf-8") for name in FILES]
    found = json.loads(texts[0])
    texts[0] = json.dumps(
        [r | {"scenario_directory": Path(r["scenario_directory"]).name} for r in found], indent=2
    )
    return texts


def merge(*arguments: object) -> int:
    return main(["merge", *map(str, arguments)])


def test_a_merged_run_is_that_of_one_machine_and_can_be_gone_on_with(
    project: pytest.Pytester, write: Write, capsys: pytest.CaptureFixture[str]
) -> None:
    whole = hold(project, "whole", ALL)
    parts = [hold(project, f"part{i}", ALL, f"--voice-shard={i}/3") for i in (1, 2, 3)]
    before = {path: path.read_bytes() for part in parts for path in part.rglob("*") if path.is_file()}
    output = project.path / "eval_results" / "eval_merged"
    assert merge(*reversed(parts), "--output", output) == 0
    assert capsys.readouterr().out.splitlines()[-2:] == [
        f"merged 3 runs: {output}",
        "scenarios: 5, without a verdict: 1 error(s), 1 skipped",
    ]
    assert {path: path.read_bytes() for part in parts for path in part.rglob("*") if path.is_file()} == before
    assert summed_up(output) == summed_up(whole)
    folders = {path.name for path in whole.iterdir() if path.is_dir()}
    assert {path.name for path in output.iterdir() if path.is_dir()} == folders
    for name in folders - {"bank__unreachable"}:
        assert (output / name / "conversation_log.wav").read_bytes() == (
            whole / name / "conversation_log.wav"
        ).read_bytes()
        kept = json.loads((output / name / "metrics.json").read_text(encoding="utf-8"))
        assert kept["scenario_directory"] == str(output / name)
    log = (output / "evaluation_log.txt").read_text(encoding="utf-8").splitlines()
    assert [line[:19] for line in log] == sorted(line[:19] for line in log)
    assert sum("Finished Scenario" in line for line in log) == 5

    state = {path: path.stat().st_mtime_ns for path in output.rglob("*")}
    assert merge(*parts, "--output", output) == 0
    assert capsys.readouterr().out.startswith(f"merged 3 runs: {output} (as it was made before)\n")
    assert {path: path.stat().st_mtime_ns for path in output.rglob("*")} == state

    write("conftest.py", CONFTEST.replace('name == "bank__unreachable"', "False"))
    again = project.runpytest(f"--voice-resume={output}")
    again.assert_outcomes(passed=3, failed=1, skipped=1)
    again.stdout.no_fnmatch_line("warning: *")
    again.stdout.fnmatch_lines(["voice scenarios: 3 passed, 1 failed, 1 skipped, 0 errors, 4 from before;*"])


def test_the_same_scenario_in_two_runs_is_named(
    project: pytest.Pytester, capsys: pytest.CaptureFixture[str]
) -> None:
    one = hold(project, "one", "--voice-scenarios=shop")
    other = hold(project, "other", "--voice-scenarios=shop__good,bank__row1")
    output = project.path / "merged"
    assert merge(one, other, "--output", output) == 1
    assert "two: shop__good in eval_one and eval_other; merge runs that share none" in capsys.readouterr().err
    assert not output.exists()


def test_what_was_other_between_the_runs_is_told(
    project: pytest.Pytester, capsys: pytest.CaptureFixture[str]
) -> None:
    one = hold(project, "one", "--voice-scenarios=shop")
    other = hold(
        project, "other", "--voice-scenarios=bank__row1", "--voice-strict-match", "--voice-rehearsal=mute"
    )
    metrics = other / "bank__row1" / "metrics.json"
    metrics.write_text(metrics.read_text().replace('"clock": "real"', '"clock": "charged"'), encoding="utf-8")
    output = project.path / "merged"
    assert merge(one, other, "--output", output) == 0
    told = [line.removeprefix("warning: ") for line in capsys.readouterr().err.splitlines()]
    assert told == [
        "voice_rehearsal is 'gold' in eval_one and 'mute' in eval_other",
        "voice_strict_match is 'false' in eval_one and 'true' in eval_other",
        "calls ran on other clocks: real in eval_one and charged in eval_other",
    ]
    summary = (output / "all_summary.txt").read_text(encoding="utf-8")
    assert all(f"WARNING: {line}\n" in summary for line in told)


def test_the_minimum_of_answers_is_one_for_all(
    project: pytest.Pytester, capsys: pytest.CaptureFixture[str]
) -> None:
    one = hold(project, "one", "--voice-scenarios=shop", "--voice-min-agent-turns=9")
    other = hold(project, "other", "--voice-scenarios=bank__row1")
    output = project.path / "merged"
    assert merge(one, other, "--output", output) == 1
    assert "(9 in eval_one, 3 in eval_other)" in capsys.readouterr().err
    assert merge(one, other, "--output", output, "--min-agent-turns=2", "--no-recordings") == 0
    assert not list(output.rglob("*.wav"))
    verdicts = {r["scenario_name"]: r["verdict"] for r in json.loads((output / FILES[0]).read_text())}
    assert verdicts == {"bank__row1": "passed", "shop__good": "passed", "shop__wrong_tea": "failed"}


def test_runs_that_did_not_come_to_their_end_are_refused_unless_that_is_meant(
    project: pytest.Pytester, write: Write, capsys: pytest.CaptureFixture[str]
) -> None:
    whole = hold(project, "whole", "--voice-scenarios=shop,bank__row1,bank__unscored")
    done = hold(project, "done", "--voice-scenarios=bank__row1,bank__unscored")
    killed = hold(project, "killed", "--voice-scenarios=shop")
    starts = json.loads((killed / "run_args.json").read_text())
    del starts["invocations"][0]["outcomes"]  # as a run that was killed leaves it
    (killed / "run_args.json").write_text(json.dumps(starts), encoding="utf-8")
    (killed / "shop__good" / "metrics.json").unlink()
    output = project.path / "merged"
    assert merge(done, killed, "--output", output) == 1
    assert "eval_killed has no result of shop__good: resume it first" in capsys.readouterr().err
    assert merge(done, killed, "--output", output, "--incomplete") == 0
    assert capsys.readouterr().out.endswith("scenarios: 4, without a verdict: 1 skipped, 1 broken off\n")
    project.runpytest(f"--voice-resume={output}").assert_outcomes(passed=2, failed=1, skipped=1)
    assert summed_up(output) == summed_up(whole)


def test_what_is_no_whole_run_is_refused(
    project: pytest.Pytester, capsys: pytest.CaptureFixture[str]
) -> None:
    one = hold(project, "one", "--voice-scenarios=shop__good")
    other = hold(project, "other", "--voice-scenarios=bank__row1")
    output = project.path / "merged"
    lock = RunLock(one)
    assert merge(one, other, "--output", output) == 1
    assert "this run still goes on in another process" in capsys.readouterr().err
    lock.release()
    for runs, where, text in (
        ((one, one), output, f"{one} is given twice"),
        ((one, other), one / "merged", f"{one}/merged lies in the run {one}"),
        ((one, other), project.path / "scenarios", "was not made of these runs"),
        ((one, project.path / "tests"), output, "this folder holds no run"),
        ((one, project.path / "nothing"), output, "no such run"),
    ):
        assert merge(*runs, "--output", where) == 1
        assert text in capsys.readouterr().err
    (other / "run_args.json").write_text("{", encoding="utf-8")
    assert merge(one, other, "--output", output) == 1
    assert "eval_other: run_args.json is missing or can't be read" in capsys.readouterr().err
    assert not output.exists()


def test_nothing_outside_of_a_run_gets_into_the_merged_one(project: pytest.Pytester, write: Write) -> None:
    one = hold(project, "one", "--voice-scenarios=shop__good")
    other = hold(project, "other", "--voice-scenarios=bank__row1")
    secret = write("secret/metrics.json", "SECRET")
    (one / "shop__good" / "link.txt").symlink_to(secret)
    (one / "shop__good" / "folder").symlink_to(secret.parent)
    starts = json.loads((other / "run_args.json").read_text())
    starts["invocations"][0]["outcomes"].append(
        {"item": "x", "scenario": "x", "outcome": "passed", "verdict": "passed", "folder": "../../secret"}
    )
    (other / "run_args.json").write_text(json.dumps(starts), encoding="utf-8")
    output = project.path / "merged"
    assert merge(one, other, "--incomplete", "--output", output) == 0
    assert not [
        path for path in output.rglob("*") if path.is_symlink() or path.name in ("link.txt", "folder")
    ]
    assert "SECRET" not in "".join(p.read_text("utf-8", "replace") for p in output.rglob("*") if p.is_file())


def test_two_folders_of_one_name_stay_two_with_what_lies_beside_them(
    project: pytest.Pytester, write: Write
) -> None:
    write(
        "tests/test_by_hand.py",
        "import pytest\n\n@pytest.mark.voice_scenario('shop__good')\ndef test_it(voice_metrics):\n    pass\n",
    )
    one = hold(project, "one", "--voice-scenarios=shop__good")
    other = hold(project, "other", "tests/test_by_hand.py")
    for run in (one, other):
        for aside in ("attempt1", "killed.20260102_030405", "replaced.20260102_030406"):
            write(f"{run.parent.name}/{run.name}/shop__good.{aside}/bridge_log.txt", f"{run.name}\n")
        metrics = run / "shop__good" / "metrics.json"
        content = json.loads(metrics.read_text(encoding="utf-8"))
        content["attempts"].insert(
            0, {"attempt": 1, "retry_reason": "stale", "directory": "shop__good.attempt1"}
        )
        metrics.write_text(json.dumps(content), encoding="utf-8")
    output = project.path / "merged"
    assert merge(one, other, "--output", output) == 0
    records = json.loads((output / "all_metrics.json").read_text(encoding="utf-8"))
    folders = [Path(record["scenario_directory"]) for record in records]
    assert sorted(folder.name for folder in folders) == ["shop__good", "shop__good.2"]
    logs = [
        (output / record["attempts"][0]["directory"] / "bridge_log.txt").read_text() for record in records
    ]
    assert sorted(logs) == ["eval_one\n", "eval_other\n"]
    assert len(list(output.glob("shop__good*.killed.*"))) == 2
    assert len(list(output.glob("shop__good*.replaced.*"))) == 2
    items = [json.loads((folder / "item.json").read_text())["item"] for folder in folders]
    assert sorted(zip(items, logs, strict=True)) == [
        ("shop__good", "eval_one\n"),
        ("tests/test_by_hand.py::test_it", "eval_other\n"),
    ]


def test_a_result_that_cannot_be_read_is_one_that_is_lacking(
    project: pytest.Pytester, capsys: pytest.CaptureFixture[str]
) -> None:
    run = hold(project, "one", "--voice-scenarios=shop")
    (run / "shop__good" / "metrics.json").write_text('{"x": NaN')
    assert merge(run, "--output", project.path / "merged") == 1
    assert "eval_one has no result of shop__good: resume it first" in capsys.readouterr().err
    assert merge(run, "--incomplete", "--output", project.path / "merged") == 0
    assert "1 broken off" in (project.path / "merged" / "all_summary.txt").read_text()


def test_parts_that_are_missing_are_told(project: pytest.Pytester) -> None:
    parts = [hold(project, f"part{i}", ALL, f"--voice-shard={i}/3") for i in (1, 2, 3)]
    assert merge(*parts, "--output", project.path / "all") == 0
    assert "of --voice-shard" not in (project.path / "all" / "all_summary.txt").read_text()
    assert merge(parts[1], "--output", project.path / "some") == 0
    told = "WARNING: parts 1/3, 3/3 of --voice-shard are not among the runs: empty, or lost\n"
    assert told in (project.path / "some" / "all_summary.txt").read_text()
