"""Scenarios beside what else pytest, and plugins of others, can be asked for."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from canned_project import run_folder

Write = Callable[[str, str], Path]
SHOP = "--voice-scenarios=shop"


def more(project: pytest.Pytester, text: str) -> None:
    """Append to the project's conftest.py."""
    with (project.path / "conftest.py").open("a", encoding="utf-8") as file:
        file.write(text)


@pytest.mark.parametrize(
    "flags",
    [
        ("-p", "no:cacheprovider", "--strict-markers", "--strict-config"),
        ("--import-mode=importlib", "--doctest-modules"),
        ("--import-mode=append", "-p", "no:xdist"),
        ("--ignore-glob=*shop*", "--ff", "--nf"),
        ("-n2", "-p", "no:cacheprovider"),
    ],
    ids=" ".join,
)
def test_flags_of_pytest_change_nothing(project: pytest.Pytester, flags: tuple[str, ...]) -> None:
    result = project.runpytest_subprocess(SHOP, "-W", "error", *flags)
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(["voice scenarios: 1 passed, 1 failed, 0 skipped, 0 errors; 1 of 2 with*"])


@pytest.mark.parametrize("flag", ["--voice-concurrency=1", "--voice-concurrency=2", "-n2"])
def test_without_a_terminal_the_files_tell(project: pytest.Pytester, flag: str) -> None:
    result = project.runpytest_subprocess(SHOP, "-p", "no:terminal", "-W", "error", flag)
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    assert "Error" not in result.stderr.str()
    records = json.loads((run_folder(project.path) / "all_metrics.json").read_text(encoding="utf-8"))
    assert [record["verdict"] for record in records] == ["passed", "failed"]


def test_scenarios_that_are_deselected_are_no_part_of_the_run(project: pytest.Pytester) -> None:
    result = project.runpytest(SHOP, "--deselect", "scenarios/shop.py::shop__wrong_tea")
    result.assert_outcomes(passed=1, deselected=1)
    result.stdout.fnmatch_lines(["voice scenarios: 1 passed, 0 failed, 0 skipped, 0 errors; 1 of 1 with*"])


def test_stepwise_goes_on_with_what_failed(project: pytest.Pytester) -> None:
    both = "--voice-scenarios=shop,bank__row1"
    project.runpytest(both, "--stepwise").assert_outcomes(passed=2, failed=1)
    conftest = project.path / "conftest.py"
    conftest.write_text(
        conftest.read_text(encoding="utf-8").replace('"Coffee" if', '"Tea" if'), encoding="utf-8"
    )
    project.runpytest(both, "--stepwise").assert_outcomes(passed=1, deselected=2)


def test_whatever_order_others_bring_scenarios_into_is_kept(project: pytest.Pytester) -> None:
    more(project, "\n\ndef pytest_collection_modifyitems(items):\n    items.reverse()\n")
    result = project.runpytest(SHOP, "-v", "--voice-concurrency=2")
    result.stdout.fnmatch_lines(["*shop__wrong_tea FAILED*", "*shop__good PASSED*"])


def test_collecting_shows_what_scenarios_say_of_themselves(project: pytest.Pytester) -> None:
    result = project.runpytest(SHOP, "--collect-only", "-v")
    result.stdout.fnmatch_lines(
        ["*<VoiceItem shop__good>", "*  Tea is ordered.", "*<VoiceItem shop__wrong_tea>", "*  Goes wrong."]
    )


def test_that_scenarios_are_not_repeated_is_said(project: pytest.Pytester) -> None:
    more(project, "\n\ndef pytest_addoption(parser):\n    parser.addoption('--count', type=int, default=1)\n")
    result = project.runpytest(SHOP, "--count=3")
    result.assert_outcomes(passed=1, failed=1)
    told = "warning: voice scenarios are held once each: --count=3 does not repeat them"
    result.stdout.fnmatch_lines([told])
    project.runpytest(SHOP, "--count=1").stdout.no_fnmatch_line("warning: *")
    project.runpytest("tests", "--count=3").stdout.no_fnmatch_line("warning: *")


def test_runs_in_one_process_leave_nothing_to_each_other(project: pytest.Pytester, write: Write) -> None:
    write(
        "runs.py",
        """
        import pytest
        from pytest_voiceeval.world.roots import kept_roots

        before = kept_roots()
        lists = ["--voice-list", "--voice-data-root=tests", "-q"]
        codes = [pytest.main(args) for args in (lists, ["SHOP", "-q"], ["SHOP", "-q"], ["tests", "-q"])]
        print("CODES", [int(code) for code in codes], kept_roots() == before)
        """.replace("\n        ", "\n").replace("SHOP", SHOP),
    )
    result = project.run(sys.executable, "runs.py")
    result.stdout.fnmatch_lines(["CODES ?0, 1, 1, 0? True"])
    told = [line for line in result.outlines if line.startswith("voice scenarios: ")]
    assert (
        told == ["voice scenarios: 1 passed, 1 failed, 0 skipped, 0 errors; 1 of 2 with a verdict passed"] * 2
    )
    assert len(list((project.path / "eval_results").iterdir())) == 2
