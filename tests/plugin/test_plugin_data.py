"""Scenarios whose data lie in one of several places, or nowhere."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

Write = Callable[[str, str], Path]

TAU2 = '''
"""A benchmark in miniature."""
import json
from pytest_voiceeval import data_path, register_eval_scenario
from .shop import ShopScenario

for task in json.loads(data_path("tau2_airline", "tasks.json").read_text()):
    register_eval_scenario(
        type("Task", (ShopScenario,), {"name": f"tau2_airline__{task}", "domain": "tau2_airline"})
    )
'''

REMEDY = (
    "*data of tau2_airline are not here*; get them by `python -m pytest_voiceeval data pull tau2`, "
    "or name their folder by *"
)


@pytest.fixture
def benchmark(project: pytest.Pytester, write: Write) -> pytest.Pytester:
    """The project with a benchmark whose data are not there."""
    write("scenarios/benchmark.py", TAU2)
    return project


@pytest.mark.parametrize(
    "args",
    [
        ("--voice-scenarios=tau2_airline",),
        ("--voice-scenarios=shop,tau2_airline__7,tau2_airline__8",),
        ("--voice-scenarios=tau2_*",),
        ("scenarios/benchmark.py",),
        ("scenarios/shop.py", "scenarios/benchmark.py::tau2_airline__7"),
        ("-k", "tau2_airline__7"),
        ("-m", "tau2_airline"),
        ("--voice-list", "--voice-scenarios=tau2_airline"),
    ],
)
def test_scenarios_without_data_are_one_usage_error_with_the_remedy(
    benchmark: pytest.Pytester, args: tuple[str, ...]
) -> None:
    result = benchmark.runpytest(*args)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([REMEDY])
    assert str(result.stderr).count("data pull tau2") == 1
    result.stderr.no_fnmatch_line("*Traceback*")


@pytest.mark.parametrize(
    ("args", "tells"),
    [
        ((), False),
        (("--voice-scenarios=shop__good",), False),
        (("--voice-scenarios=*__good",), True),
        (("scenarios/shop.py::shop__good",), False),
        (("-k", "good and not tau2_airline__7", "scenarios/shop.py"), False),
        (("-m", "not tau2_airline"), False),
        (("--voice-scenarios=all", "-k", "shop__good or benchmark"), True),
        (("scenarios", "-k", "shop__good"), True),
    ],
)
@pytest.mark.parametrize("workers", ["-n0", "-n2"])
def test_others_go_on_without_them(
    benchmark: pytest.Pytester, args: tuple[str, ...], tells: bool, workers: str
) -> None:
    result = benchmark.runpytest(*args, workers)
    outcomes = result.parseoutcomes()
    assert outcomes.pop("passed") == 1
    outcomes.pop("deselected", None)
    assert outcomes.keys() == ({"skipped"} if tells else set())


def test_what_is_left_out_of_all_is_told(benchmark: pytest.Pytester) -> None:
    result = benchmark.runpytest("--voice-scenarios=all", "-k", "shop__good or benchmark", "-rs")
    result.stdout.fnmatch_lines(["SKIPPED*data of tau2_airline*data pull tau2`*"])
    result = benchmark.runpytest("--voice-list")
    assert result.ret == pytest.ExitCode.OK
    result.stdout.fnmatch_lines(["shop__good*"])
    result.stderr.fnmatch_lines([REMEDY])


@pytest.mark.parametrize("workers", ["-n0", "-n2"])
def test_tasks_of_a_split_that_are_not_here_are_told_in_both_summaries(
    benchmark: pytest.Pytester, write: Write, monkeypatch: pytest.MonkeyPatch, workers: str
) -> None:
    write("scenarios/benchmark.py", TAU2.replace('"domain":', '"splits": frozenset({"train"}), "domain":'))
    write("elsewhere/tau2_airline/tasks.json", json.dumps(["7"]))
    write("elsewhere/tau2_airline/split_tasks.json", json.dumps({"train": ["7", "8", "9"]}))
    monkeypatch.setenv("EVAL_DATA_ROOT", str(benchmark.path / "elsewhere"))
    result = benchmark.runpytest("--voice-scenarios=tau2_airline", "--voice-split=train", workers)
    assert result.parseoutcomes()["passed"] == 1
    told = "the split 'train' of tau2_airline has 3 tasks, of which 1 are in the data here"
    result.stdout.fnmatch_lines([f"warning: {told}"])
    (summary,) = benchmark.path.glob("eval_results/*/all_summary.txt")
    assert f"WARNING: {told}\n" in summary.read_text(encoding="utf-8")


@pytest.fixture
def cafe(project: pytest.Pytester, write: Write) -> pytest.Pytester:
    """The project with scenarios made from data that are not there."""
    write("scenarios/cafe.py", TAU2.replace("tau2_airline", "cafe"))
    return project


@pytest.mark.parametrize("workers", ["-n0", "-n2"])
@pytest.mark.parametrize("how", ["pack", "flag", "ini", "environment", "user"])
def test_data_are_found_in_every_root(
    cafe: pytest.Pytester, write: Write, monkeypatch: pytest.MonkeyPatch, how: str, workers: str
) -> None:
    root = {"pack": "data", "user": "home/pytest-voiceeval/data"}.get(how, "elsewhere")
    write(f"{root}/cafe/tasks.json", json.dumps(["7"]))
    monkeypatch.setenv("XDG_DATA_HOME", str(cafe.path / "home"))
    args = ["--voice-scenarios=cafe", workers]
    if how == "flag":
        args.append("--voice-data-root=elsewhere")
    if how == "ini":
        cafe.makeini("[pytest]\nvoice_data_root = elsewhere\n")
    if how == "environment":
        monkeypatch.setenv("EVAL_DATA_ROOT", str(cafe.path / "elsewhere"))
    cafe.runpytest(*args).assert_outcomes(passed=1)


def test_other_data_that_are_missing_are_an_error_of_the_file(cafe: pytest.Pytester) -> None:
    result = cafe.runpytest("--voice-scenarios=cafe")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(
        ["*cafe.py:6: DataError: the data of cafe are not here: no cafe/tasks.json in */data; put it there*"]
    )


def test_a_run_within_a_run_leaves_the_roots_alone(cafe: pytest.Pytester, write: Write) -> None:
    from pytest_voiceeval.world.roots import data_roots, kept_roots  # noqa: PLC0415

    kept, before = kept_roots(), data_roots()
    write("elsewhere/cafe/tasks.json", json.dumps(["7"]))
    args = ("--voice-scenarios=cafe", "--voice-data-root=elsewhere")
    cafe.runpytest_inprocess(*args).assert_outcomes(passed=1)
    assert kept_roots() == kept
    assert data_roots() == before


def test_a_data_root_that_is_no_folder_is_a_usage_error(project: pytest.Pytester) -> None:
    result = project.runpytest("--voice-data-root=nowhere")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*--voice-data-root=nowhere: there is no folder *nowhere"])
    result = project.runpytest("--voice-data-root=")
    result.stderr.fnmatch_lines(["*--voice-data-root=: write a folder, or leave it out"])
