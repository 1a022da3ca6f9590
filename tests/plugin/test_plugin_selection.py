from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

GOOD = "scenarios/shop.py::shop__good"
WRONG = "scenarios/shop.py::shop__wrong_tea"
SHOP = [GOOD, WRONG]
BANK = [f"scenarios/bank.py::bank__{name}" for name in ("unscored", "unreachable", "row1", "row2")]
PLAIN = "tests/test_plain.py::test_plain"


def collected(result: pytest.RunResult) -> list[str]:
    return [line for line in result.outlines if "::" in line and " " not in line]


def collect(project: pytest.Pytester, *args: str) -> list[str]:
    return collected(project.runpytest("--co", "-q", *args))


@pytest.mark.parametrize("args", [(), (".",), ("-k", "plain"), ("-m", "not voice"), ("tests",)])
def test_scenarios_are_collected_only_when_asked_for(project: pytest.Pytester, args: tuple[str, ...]) -> None:
    assert collect(project, *args) == [PLAIN]


def test_a_run_without_scenarios_imports_no_pack(project: pytest.Pytester) -> None:
    project.makeconftest(
        """
        import sys

        def pytest_unconfigure():
            loaded = [m for m in sys.modules if m.startswith("voice_packs") and m.count(".") > 1]
            heavy = {"numpy", "pipecat", "pydantic", "openai", "aiohttp"} & set(sys.modules)
            print("LOADED", loaded, sorted(heavy))
        """
    )
    result = project.runpytest_subprocess("-k", "plain", "-s")
    result.stdout.fnmatch_lines(["*LOADED [[][]] [[][]]*"])


def test_the_option_takes_domains_names_and_globs(project: pytest.Pytester) -> None:
    assert collect(project, "--voice-scenarios=shop") == SHOP
    assert collect(project, "--voice-scenarios=shop__good") == [GOOD]
    assert collect(project, "--voice-scenarios=*__row?,shop__good") == [*BANK[2:], GOOD]
    everything = collect(project, "--voice-scenarios=all")
    assert set(everything) > {*SHOP, *BANK}
    assert len(everything) == len(set(everything))


def test_the_built_in_scenarios_are_selected_in_any_project(project: pytest.Pytester) -> None:
    assert collect(project, "--voice-scenarios=restaurant__pizza_pepperoni") == [
        "scenarios/restaurant.py::restaurant__pizza_pepperoni"
    ]
    assert collect(project, "scenarios/restaurant.py::restaurant__burger_classic") == [
        "scenarios/restaurant.py::restaurant__burger_classic"
    ]
    assert len(collect(project, "scenarios/restaurant.py")) == 11
    assert len(collect(project, "--voice-scenarios=restaurant", "-k", "pizza")) == 3


def test_a_file_of_the_project_and_a_built_in_one_of_the_same_name_have_different_node_ids(
    project: pytest.Pytester, write: Callable[[str, str], Path]
) -> None:
    write("scenarios/restaurant.py", "")
    assert collect(project, "--voice-scenarios=restaurant__pizza_pepperoni") == [
        "pytest_voiceeval/builtin/scenarios/restaurant.py::restaurant__pizza_pepperoni"
    ]


def test_an_unknown_selector_is_a_usage_error_with_the_nearest_names(project: pytest.Pytester) -> None:
    result = project.runpytest("--voice-scenarios=shop__god")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*--voice-scenarios=shop__god: *did you mean 'shop__good'*"])
    result.stderr.no_fnmatch_line("*Traceback*")


def test_files_folders_and_node_ids_select(project: pytest.Pytester) -> None:
    assert collect(project, "scenarios/shop.py") == SHOP
    assert collect(project, GOOD) == [GOOD]
    assert collect(project, "scenarios") == [*BANK, *SHOP]
    assert collect(project, GOOD, WRONG) == [GOOD, WRONG]
    assert collect(project, "tests", WRONG) == [PLAIN, WRONG]
    assert collect(project, ".", "scenarios/shop.py") == [*SHOP, PLAIN]


def test_a_folder_in_testpaths_selects(project: pytest.Pytester) -> None:
    project.makeini("[pytest]\ntestpaths = tests scenarios")
    assert collect(project) == [PLAIN, *BANK, *SHOP]


def test_being_in_the_scenarios_folder_does_not_select(
    project: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(project.path / "scenarios")
    assert collect(project) == []


def test_an_unknown_scenario_in_a_node_id_is_reported_as_pytest_does(project: pytest.Pytester) -> None:
    result = project.runpytest("scenarios/shop.py::shop__bad")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*not found: *scenarios?shop.py::shop__bad*"])


def test_the_option_adds_to_paths_and_each_scenario_is_collected_once(project: pytest.Pytester) -> None:
    assert collect(project, "tests", "--voice-scenarios=shop") == [PLAIN, *SHOP]
    assert collect(project, ".", "--voice-scenarios=shop") == [*SHOP, PLAIN]
    assert collect(project, "scenarios/shop.py", "--voice-scenarios=shop") == SHOP
    assert collect(project, "scenarios/shop.py", "--voice-scenarios=shop__good") == [GOOD]
    assert collect(project, WRONG, "--voice-scenarios=shop__good") == SHOP


def test_marks_select_and_narrow(project: pytest.Pytester) -> None:
    assert collect(project, "-m", "shop") == SHOP
    assert collect(project, "-m", "shop or bank") == [*BANK, *SHOP]
    assert set(collect(project, "-m", "voice")) > {*SHOP, *BANK}
    assert collect(project, "-m", "voice and not bank and (shop or bank)") == SHOP
    assert not set(BANK) & set(collect(project, "-m", "voice and not bank"))
    assert collect(project, "--voice-scenarios=shop,bank", "-m", "bank") == BANK


SOLO = """
from pytest_voiceeval import register_eval_scenario
from .shop import ShopScenario


@register_eval_scenario
class First(ShopScenario):
    name = "first_solo"


@register_eval_scenario
class Second(ShopScenario):
    name = "second_solo"
"""


@pytest.mark.parametrize("choice", ["--voice-scenarios=alone", "-malone"])
def test_scenarios_without_a_domain_in_their_names_are_chosen_by_their_file(
    project: pytest.Pytester, choice: str
) -> None:
    project.path.joinpath("scenarios", "alone.py").write_text(SOLO)
    nodes = ["scenarios/alone.py::first_solo", "scenarios/alone.py::second_solo"]
    assert collect(project, choice) == nodes
    assert collect(project, "--voice-scenarios=second_solo") == nodes[1:]
    listed = project.runpytest("--voice-list-domains", "--voice-scenarios=alone,shop")
    assert {"alone  2 scenarios", "shop  2 scenarios"} <= set(listed.outlines)


@pytest.mark.parametrize("choice", ["--voice-scenarios=simple_qa", "-msimple_qa"])
def test_the_file_of_a_built_in_pack_chooses_too(project: pytest.Pytester, choice: str) -> None:
    assert [node.partition("::")[2] for node in collect(project, choice)] == [
        "simple_qa_1",
        "simple_qa_2",
        "simple_qa_3",
    ]


def test_keywords_that_spell_a_scenario_select(project: pytest.Pytester) -> None:
    assert collect(project, "-k", "shop__good") == [GOOD]
    assert collect(project, "-k", "shop__") == SHOP
    assert collect(project, "-k", "shop__ and not good or plain") == [WRONG, PLAIN]
    assert collect(project, "-k", "good") == []
    assert collect(project, "-k", "not shop__good") == [PLAIN]
    assert collect(project, "--voice-scenarios=shop", "-k", "good") == [GOOD]


def test_marks_are_registered_so_that_strict_runs_pass(project: pytest.Pytester) -> None:
    project.makeini("[pytest]\nstrict = true")
    assert collect(project, "--voice-scenarios=shop") == SHOP
    project.runpytest("--markers").stdout.fnmatch_lines(
        ["@pytest.mark.voice:*", "@pytest.mark.voice_scenario(*"]
    )


def test_last_failed_scenarios_are_run_again(project: pytest.Pytester) -> None:
    project.runpytest("--voice-scenarios=shop").assert_outcomes(passed=1, failed=1)
    for option in ("--lf", "--ff", "--sw"):
        assert WRONG in collect(project, option)
        assert GOOD not in collect(project, option)
    assert collect(project, "--lf") == [WRONG]


def test_last_failed_scenarios_of_the_built_in_pack_are_run_again_next_to_failed_tests(
    project: pytest.Pytester, write: Callable[[str, str], Path]
) -> None:
    write("tests/test_bad.py", "def test_bad():\n    assert 0\n")
    pizza = "scenarios/restaurant.py::restaurant__pizza_pepperoni"
    project.runpytest("tests", "--voice-scenarios=restaurant__pizza_pepperoni").assert_outcomes(
        passed=1, failed=2
    )
    assert sorted(collect(project, "--lf")) == [pizza, "tests/test_bad.py::test_bad"]


def test_without_the_cache_plugin_nothing_breaks(project: pytest.Pytester) -> None:
    assert collect(project, "-p", "no:cacheprovider", "--voice-scenarios=shop") == SHOP


def test_packs_of_the_ini_are_there(project: pytest.Pytester, write: Callable[[str, str], Path]) -> None:
    text = (project.path / "scenarios" / "shop.py").read_text().replace("shop__", "mall__")
    write("packs/mall/scenarios/mall.py", text)
    project.makeini("[pytest]\nvoice_packs = packs/mall")
    assert collect(project, "--voice-scenarios=mall") == [
        "packs/mall/scenarios/mall.py::mall__good",
        "packs/mall/scenarios/mall.py::mall__wrong_tea",
    ]


def test_a_pack_that_is_none_is_a_usage_error(project: pytest.Pytester) -> None:
    project.makeini("[pytest]\nvoice_packs = nowhere")
    result = project.runpytest()
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*voice_packs=*nowhere: no folder 'scenarios' in it*"])


def test_a_scenario_file_is_no_test_module_even_where_every_file_is(project: pytest.Pytester) -> None:
    project.makeini("[pytest]\npython_files = *.py")
    assert collect(project) == [PLAIN]
    assert collect(project, "--doctest-modules", "scenarios/shop.py") == SHOP


def test_a_scenarios_folder_that_is_a_package_is_not_imported_as_one(
    project: pytest.Pytester, write: Callable[[str, str], Path]
) -> None:
    write("scenarios/__init__.py", "")
    project.runpytest("--voice-scenarios=shop__good").assert_outcomes(passed=1)
    assert collect(project, "scenarios/shop.py") == SHOP


def test_a_broken_file_is_named_with_its_line(
    project: pytest.Pytester, write: Callable[[str, str], Path]
) -> None:
    write("scenarios/broken.py", "import nothing_there\nregister_eval_scenario\n")
    result = project.runpytest("--voice-scenarios=shop")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*broken.py*nothing_there*"])
    result = project.runpytest("scenarios/broken.py")
    assert result.ret == pytest.ExitCode.INTERRUPTED
    result.stdout.fnmatch_lines(["*broken.py*nothing_there*"])
    assert collect(project, "scenarios/shop.py") == SHOP


def test_a_pack_in_a_virtual_environment_below_the_root_is_collected(
    project: pytest.Pytester, write: Callable[[str, str], Path]
) -> None:
    text = (project.path / "scenarios" / "shop.py").read_text().replace("shop__", "plaza__")
    write(".venv/pyvenv.cfg", "")
    write(".venv/lib/site-packages/plaza/scenarios/plaza.py", text)
    write(".venv/lib/site-packages/other/test_other.py", "def test_other():\n    pass\n")
    project.makeini("[pytest]\nvoice_packs = .venv/lib/site-packages/plaza")
    plaza = ["scenarios/plaza.py::plaza__good", "scenarios/plaza.py::plaza__wrong_tea"]
    assert collect(project, "--voice-scenarios=plaza") == plaza
    assert collect(project, "-m", "plaza") == plaza
    assert collect(project, ".", "--voice-scenarios=plaza") == [*plaza, PLAIN]
    assert collect(project, plaza[0]) == plaza[:1]


@pytest.mark.parametrize(
    "choice",
    ["--voice-scenarios=all", "-mrestaurant", "--voice-list", "--voice-scenarios=shop --voice-agent=openai"],
)
def test_collecting_imports_nothing_of_pipecat_and_prints_nothing_of_it(
    project: pytest.Pytester, write: Callable[[str, str], Path], choice: str
) -> None:
    write(
        "report.py",
        "import atexit, sys\natexit.register(lambda: print('pipecat:', 'pipecat' in sys.modules))\n",
    )
    result = project.runpytest_subprocess("-p", "report", "--co", *choice.split())
    assert result.ret == 0
    result.stdout.fnmatch_lines(["pipecat: False"])
    assert not [line for line in result.errlines if not line.startswith("the data of ")]


def test_collecting_the_tests_of_this_project_prints_nothing_of_pipecat(pytester: pytest.Pytester) -> None:
    tests = Path(__file__).parent.parent
    others = f"--ignore-glob={tests}/[!b]*"
    result = pytester.runpytest_subprocess(
        "--co", "-q", f"--rootdir={tests.parent}", "-p", "no:cacheprovider", others, tests
    )
    assert result.ret == 0
    result.stdout.fnmatch_lines(["*test_bots_history.py::*"])
    assert result.errlines == []


BENCH = """
from pytest_voiceeval import register_eval_scenario
from .shop import ShopScenario

for number, splits in (("1", "base train"), ("2", "base test"), ("3", "more")):
    fields = {"name": f"bench__{number}", "splits": frozenset(splits.split())}
    register_eval_scenario(type(f"Bench{number}", (ShopScenario,), fields))
"""


@pytest.mark.parametrize(
    "args",
    [
        ("--voice-scenarios=bench",),
        ("--voice-scenarios=bench__*",),
        ("-k", "bench__"),
        ("-m", "bench"),
        ("scenarios/bench.py",),
    ],
)
def test_a_benchmark_is_narrowed_to_a_split(project: pytest.Pytester, args: tuple[str, ...]) -> None:
    project.path.joinpath("scenarios", "bench.py").write_text(BENCH, encoding="utf-8")
    one, two, three = (f"scenarios/bench.py::bench__{number}" for number in "123")
    assert collect(project, *args) == [one, two]
    assert collect(project, *args, "--voice-split=train") == [one]
    assert collect(project, three) == collect(project, "--voice-scenarios=bench__3") == [three]


def test_an_unknown_split_is_a_usage_error(project: pytest.Pytester) -> None:
    project.path.joinpath("scenarios", "bench.py").write_text(BENCH, encoding="utf-8")
    result = project.runpytest("--voice-scenarios=bench", "--voice-split=dev")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*bench has no split 'dev'; it has: base, more, test, train"])
    assert project.runpytest("scenarios/bench.py", "--voice-split=dev").ret == pytest.ExitCode.USAGE_ERROR


@pytest.mark.parametrize(
    "args", [("--voice-scenarios=shop",), ("-k", "shop__tea"), ("-m", "shop"), ("scenarios/shop.py",)]
)
def test_a_split_is_a_usage_error_where_nothing_has_splits(
    project: pytest.Pytester, args: tuple[str, ...]
) -> None:
    result = project.runpytest(*args, "--voice-split=train")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*no split 'train': shop has no splits; leave it out"])


def test_a_split_in_the_ini_file_lets_tests_and_folders_be(project: pytest.Pytester) -> None:
    project.path.joinpath("scenarios", "bench.py").write_text(f'{BENCH}\nNAME = "bench"', encoding="utf-8")
    project.makepyfile(test_own="def test_bench(): pass")
    assert collect(project, "-o", "voice_split=dev", "-k", "bench") == ["test_own.py::test_bench"]
    found = collect(project, "scenarios", "--voice-split=train")
    assert "scenarios/bench.py::bench__1" in found
    assert "scenarios/bench.py::bench__2" not in found
    assert GOOD in found
