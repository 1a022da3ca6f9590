from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import pytest

from pytest_voiceeval.plugin.settings import Settings
from pytest_voiceeval.plugin.workers import FOLDER_INPUT, WORKER_INPUT, Workers
from pytest_voiceeval.run.session import RunFolder


def test_a_worker_that_replaces_a_crashed_one_takes_its_place(
    pytestconfig: pytest.Config, tmp_path: Path
) -> None:
    workers = Workers(Settings.from_config(pytestconfig), RunFolder(tmp_path), "1", has_scenarios=True)
    gateway = SimpleNamespace(spec=SimpleNamespace(popen=True), id="gw")
    nodes = [SimpleNamespace(workerinput={}, gateway=gateway) for _ in range(3)]
    for node in nodes[:2]:
        workers.pytest_configure_node(node)
    workers.pytest_testnodedown(nodes[0])
    workers.pytest_configure_node(nodes[2])
    assert [node.workerinput[WORKER_INPUT] for node in nodes] == [0, 1, 0]
    assert len({node.workerinput[FOLDER_INPUT] for node in nodes}) == 1


def test_a_worker_takes_a_place_of_its_own_machine(pytestconfig: pytest.Config, tmp_path: Path) -> None:
    workers = Workers(Settings.from_config(pytestconfig), RunFolder(tmp_path), "1", has_scenarios=True)
    hosts = ["", "one", "one", "two"]
    for host in hosts:
        workers._places[workers._free_place(host)] = host
    assert workers._places == dict(enumerate(hosts))
    del workers._places[1], workers._places[3]
    assert workers._free_place("two") == 3
    assert workers._free_place("one") == 1


def test_a_run_whose_worker_crashes_tells_of_it_and_goes_on(project: pytest.Pytester) -> None:
    conftest = project.path / "conftest.py"
    conftest.write_text(
        conftest.read_text().replace("raise KeyboardInterrupt", "import os; os._exit(1)"), encoding="utf-8"
    )
    result = project.runpytest("-n2", "--voice-scenarios=shop__good,bank__row2,bank__row1")
    result.assert_outcomes(passed=2, errors=1)
    result.stdout.fnmatch_lines(
        [
            "*crashed while running*bank__row2*",
            "voice scenarios: 2 passed, 0 failed, 0 skipped, 1 error;*",
            "run folder: *",
        ]
    )
