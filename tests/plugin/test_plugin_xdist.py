"""One set of results, however xdist spreads the scenarios and whatever becomes of its workers."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from canned_project import CONFTEST, collected, run_folder

pytest.importorskip("xdist")

Write = Callable[[str, str], Path]
ALL = "--voice-scenarios=shop,bank__unscored,bank__row1"

GROUPS = '''
"""Scenarios that are to be held on one worker."""
import pytest
from pytest_voiceeval import register_eval_scenario
from .shop import ShopScenario

for name, group in (("group__one", "a"), ("group__two", "a"), ("group__mail@home", "b")):
    cls = type("Grouped", (ShopScenario,), {"name": name})
    register_eval_scenario(pytest.mark.xdist_group(group)(cls))
'''

KILLED = CONFTEST.replace(
    "raise KeyboardInterrupt", "import os, signal; os.kill(os.getpid(), signal.SIGKILL)"
)

ODD = """

import pathlib
import numpy as np
from pytest_voiceeval.errors import BotLostError

ODD = {
    "scalar": np.float32(0.5), "nan": float("nan"), "set": {3, 1}, "bytes": b"\\xff",
    "path": pathlib.Path("x"), "when": datetime(2026, 1, 2), "half": "\\ud800", "nul": "a\\0b",
}

@pytest.fixture
def voice_metrics(voice_metrics, request):
    request.node.user_properties.extend(ODD.items())
    request.node.add_report_section("call", "odd", "half \\ud800 ]]> \\x1b[31m")
    if "unscored" in request.node.name:
        pytest.skip("half \\ud800")
    if "row1" in request.node.name:
        raise BotLostError("half \\ud800")
    return voice_metrics
"""


def figures(root: Path) -> dict[str, Any]:
    """Return what a run left, without what tells when and where."""
    run = run_folder(root)
    records = json.loads((run / "all_metrics.json").read_text(encoding="utf-8"))
    (start,) = json.loads((run / "run_args.json").read_text(encoding="utf-8"))["invocations"]
    return {
        "metrics": [{**record, "scenario_directory": None} for record in records],
        "latencies": (run / "all_latencies.csv").read_text(encoding="utf-8"),
        "summary": (run / "all_summary.txt").read_text(encoding="utf-8"),
        "names": start["resolved_scenario_names"],
        "folders": sorted(path.name for path in run.iterdir() if path.is_dir()),
    }


def test_every_way_to_spread_comes_to_the_same_results(project: pytest.Pytester, write: Write) -> None:
    write("scenarios/group.py", GROUPS)
    project.makeini("[pytest]\nmarkers =\n    xdist_group: what xdist itself declares on its workers only\n")
    found = []
    for arguments in (["-n0"], ["-n2", "--dist=loadgroup"], ["-n4", "--maxprocesses=2", "--dist=worksteal"]):
        result = project.runpytest(ALL + ",group", *arguments)
        result.assert_outcomes(passed=5, failed=1, skipped=1)
        found.append(figures(project.path))
        run_folder(project.path).rename(project.path / f"kept{len(found)}")
    assert found[0]["names"] == found[0]["folders"]
    assert "group__mail@home" in found[0]["names"]
    assert found[1:] == [found[0]] * 2


def test_what_failed_in_a_group_is_found_again(project: pytest.Pytester, write: Write) -> None:
    write("scenarios/group.py", GROUPS)
    project.makeini("[pytest]\nmarkers =\n    xdist_group: what xdist itself declares on its workers only\n")
    failed = {"scenarios/group.py::group__two@a": True, "scenarios/group.py::group__mail@home@b": True}
    write(".pytest_cache/v/cache/lastfailed", json.dumps(failed))
    result = project.runpytest("--lf", "--co", "-q", "-k", "not plain")
    assert collected(result) == ["scenarios/group.py::group__two", "scenarios/group.py::group__mail@home"]


def test_a_scenario_is_not_held_on_each_worker(project: pytest.Pytester) -> None:
    result = project.runpytest(ALL, "-n2", "--dist=each")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(
        ["*--dist=each: each of the 2 workers would hold every scenario*--dist=load*"]
    )
    assert not (project.path / "eval_results").exists()


def test_a_worker_that_is_killed_costs_the_scenario_that_it_held_and_no_other(
    project: pytest.Pytester, write: Write
) -> None:
    write("conftest.py", KILLED)
    names = "--voice-scenarios=bank__row1,bank__row2,shop__good"
    result = project.runpytest(names, "-n2", "--max-worker-restart=1", "--junitxml=it.xml")
    result.assert_outcomes(passed=2, errors=1)
    result.stdout.fnmatch_lines(
        [
            "*ERROR at setup of bank__row2*",
            "worker 'gw?' crashed while running 'scenarios/bank.py::bank__row2'",
            "  artefacts: eval_results/eval_*/bank__row2",
            "voice scenarios: 2 passed, 0 failed, 0 skipped, 1 error;*",
        ]
    )
    run = run_folder(project.path)
    assert "1 error(s)\n" in (run / "all_summary.txt").read_text(encoding="utf-8")
    cases = {case.get("name"): case for case in ET.parse(project.path / "it.xml").iter("testcase")}
    assert [child.tag for child in cases["bank__row2"]] == ["error"]
    assert [child.tag for child in cases["shop__good"]] == ["properties"]
    write("conftest.py", CONFTEST.replace("raise KeyboardInterrupt", "pass"))
    again = project.runpytest(f"--voice-resume={run}")
    again.stdout.fnmatch_lines(["voice scenarios: 3 passed, 0 failed, 0 skipped, 0 errors, 2 from before;*"])


def test_what_fixtures_put_into_reports_reaches_the_controller_and_junit(
    project: pytest.Pytester, write: Write
) -> None:
    write("conftest.py", CONFTEST + ODD)
    seen = []
    for workers in ("-n0", "-n2"):
        result = project.runpytest(ALL, workers, "--junitxml=it.xml")
        result.assert_outcomes(passed=1, failed=1, skipped=1, errors=1)
        cases = {str(case.get("name")): case for case in ET.parse(project.path / "it.xml").iter("testcase")}
        properties = {p.get("name"): p.get("value") for p in cases["shop__good"].iter("property")}
        seen.append({name: value for name, value in properties.items() if not str(name).startswith("voice_")})
        messages = [child.get("message") for child in cases["bank__row1"] if child.tag == "error"]
        assert messages == ['failed on setup with "half \\ud800"']
    assert (
        seen[0]
        == seen[1]
        == {
            "scalar": "0.5",
            "nan": "nan",
            "set": "[1, 3]",
            "bytes": "\\xff",
            "path": "x",
            "when": "2026-01-02T00:00:00",
            "half": "\\ud800",
            "nul": "a#x00b",
        }
    )
