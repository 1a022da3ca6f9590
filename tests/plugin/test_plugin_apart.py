"""Workers that do not see the run's folder, as those on other machines."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest
from canned_project import CONFTEST
from test_plugin_xdist import figures

from pytest_voiceeval.plugin.apart import METRICS, Receiver
from pytest_voiceeval.plugin.settings import Settings
from pytest_voiceeval.plugin.workers import Workers
from pytest_voiceeval.report.properties import ARTIFACTS, Property, look_up
from pytest_voiceeval.run.session import RunFolder

execnet = pytest.importorskip("execnet")

Write = Callable[[str, str], Path]

CONTENT = bytes(range(256)) * 20_000
BIG = CONFTEST.replace(
    "    return Conversation(",
    "    (voice_folder / 'big.bin').write_bytes(bytes(range(256)) * 20_000)\n    return Conversation(",
)

HAS_PROC = Path("/proc/self/cwd").exists()
APART = pytest.mark.skipif(not HAS_PROC, reason="no path that leads elsewhere in each process")


@pytest.fixture
def two_machines(project: pytest.Pytester, tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """Arguments for one worker here, and one whose folder for results is another one."""
    there = tmp_path_factory.mktemp("there")
    root = project.path
    return [
        *("-d", "--tx", "popen//id=here", "--tx", f"popen//id=there//chdir={there}", f"--rsyncdir={root}"),
        "--voice-output-dir=/proc/self/cwd/eval_results",
        f"{root}/scenarios",
    ]


@APART
def test_results_and_files_of_another_machine_are_those_of_this_one(
    project: pytest.Pytester, write: Write, two_machines: list[str]
) -> None:
    write("conftest.py", BIG)
    selected = "--voice-scenarios=shop,bank__row1,bank__unscored,bank__unreachable"
    project.runpytest(selected).assert_outcomes(passed=2, failed=1, skipped=1, errors=1)
    alone = figures(project.path)
    (project.path / "eval_results").rename(project.path / "alone")
    result = project.runpytest(selected, "-v", "--junitxml=it.xml", *two_machines)
    result.assert_outcomes(passed=2, failed=1, skipped=1, errors=1)
    held = {line.split()[0] for line in result.outlines if line.startswith(("[here] [", "[there] ["))}
    assert held == {"[here]", "[there]"}
    assert figures(project.path) == alone
    (run,) = (project.path / "eval_results").iterdir()
    for name in ("shop__good", "shop__wrong_tea", "bank__row1", "bank__unscored"):
        assert (run / name / "big.bin").read_bytes() == CONTENT
        kept = json.loads((run / name / "metrics.json").read_text(encoding="utf-8"))
        assert kept["scenario_directory"] == f"/proc/self/cwd/eval_results/{run.name}/{name}"
    assert not [path.name for path in run.rglob(".*") if path.name != ".lock"]
    told = result.stdout.str() + (project.path / "it.xml").read_text(encoding="utf-8")
    assert "voiceeval_" not in told.replace("pytest_voiceeval_", "")
    assert f"  artefacts: /proc/self/cwd/eval_results/{run.name}/shop__wrong_tea" in told


@APART
def test_a_run_cannot_be_gone_on_with_where_it_is_not_seen(
    pytestconfig: pytest.Config, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("here/eval_x", "there"):
        (tmp_path / name).mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "here")
    run = Path("/proc/self/cwd/eval_x")
    settings = replace(Settings.from_config(pytestconfig), resume=run)
    workers = Workers(settings, RunFolder(tmp_path, run), "start", has_scenarios=True)
    gateways = execnet.Group()
    try:
        here = gateways.makegateway(f"popen//id=one//chdir={tmp_path}/here")
        workers.pytest_configure_node(SimpleNamespace(gateway=here, workerinput={}))
        there = gateways.makegateway(f"popen//id=two//chdir={tmp_path}/there")
        with pytest.raises(
            pytest.UsageError, match="--voice-resume: worker two does not see the run's folder"
        ):
            workers.pytest_configure_node(SimpleNamespace(gateway=there, workerinput={}))
    finally:
        gateways.terminate(5)
    workers.pytest_sessionfinish()
    assert not list((tmp_path / "here" / "eval_x").iterdir())


def report(**properties: str) -> pytest.TestReport:
    pairs: list[Property] = list(properties.items())
    return pytest.TestReport("x", ("x", 0, "x"), {}, "passed", None, "call", user_properties=pairs)


def test_files_come_in_pieces_and_appear_whole(tmp_path: Path) -> None:
    receiver = Receiver(RunFolder(tmp_path, tmp_path), "there")
    receiver.take(("tea", "bot_logs_agent/context.json", b"[1,", False))
    assert not (tmp_path / "tea" / "bot_logs_agent" / "context.json").exists()
    receiver.take(("tea", "bot_logs_agent/context.json", b"2]", True))
    receiver.take(("tea", METRICS, b'{"scenario_directory": "/elsewhere/tea"}', True))
    receiver.take(("tea.attempt1", "bridge_log.txt", b"", True))
    receiver.take(("", "bot_agent_0.log", b"hello", True))
    assert (tmp_path / "tea" / "bot_logs_agent" / "context.json").read_bytes() == b"[1,2]"
    assert json.loads((tmp_path / "tea" / METRICS).read_text()) == {
        "scenario_directory": str(tmp_path / "tea")
    }
    assert (tmp_path / "tea.attempt1" / "bridge_log.txt").exists()
    assert (tmp_path / "bot_agent_0.there.log").read_bytes() == b"hello"


def test_two_workers_never_share_a_folder(tmp_path: Path) -> None:
    one, other = (Receiver(RunFolder(tmp_path, tmp_path), worker) for worker in ("one", "other"))
    for receiver in (one, other):
        receiver.take(("tea", "log.txt", b"x", True))
        receiver.take(("tea.attempt1", "log.txt", b"x", True))
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "tea",
        "tea.2",
        "tea.2.attempt1",
        "tea.attempt1",
    ]
    told = report(**{ARTIFACTS: "/far/tea"})
    other.localise(told)
    assert look_up(told.user_properties, ARTIFACTS) == str(tmp_path / "tea.2")


@pytest.mark.parametrize(
    ("folder", "name"),
    [("..", "x"), ("a/b", "x"), ("a", "../x"), ("a", "/etc/x"), ("a", "b/../../x"), ("a", "")],
)
def test_a_file_of_another_place_is_refused_and_is_an_error_of_the_scenario(
    tmp_path: Path, folder: str, name: str
) -> None:
    run = tmp_path / "run"
    run.mkdir()
    receiver = Receiver(RunFolder(run, run), "there")
    receiver.take((folder, name, b"x", True))
    assert list(tmp_path.rglob("*")) == [run]
    told = report(**{ARTIFACTS: "/far/tea"})
    receiver.localise(told)
    assert (told.when, told.outcome) == ("setup", "failed")
    assert "the files of worker there could not be kept: worker there sent a file of another place" in str(
        told.longrepr
    )
