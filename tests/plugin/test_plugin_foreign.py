"""Projects that have folders of our names, marks of our names, and nothing to do with us."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from test_plugin_selection import BANK, GOOD, PLAIN, SHOP, collect

Write = Callable[[str, str], Path]


@pytest.fixture
def foreign(pytester: pytest.Pytester, write: Write) -> pytest.Pytester:
    write("scenarios/__init__.py", "")
    write("scenarios/test_login.py", "def test_login():\n    assert 0\n")
    write("scenarios/steps.py", "raise SystemExit('not to be imported')\n")
    write("tools/deploy.py", "raise SystemExit('not to be imported')\n")
    write(
        "tests/test_slow.py",
        "import pytest\n\n@pytest.mark.slow\ndef test_slow():\n    pass\n\n"
        "@pytest.mark.voice\ndef test_a__b():\n    pass\n",
    )
    pytester.makeini("[pytest]\nstrict = true\nmarkers =\n    slow: takes long\n    voice: our own word\n")
    return pytester


def test_a_test_in_a_folder_named_scenarios_is_run(foreign: pytest.Pytester) -> None:
    foreign.runpytest("-p", "no:asyncio").assert_outcomes(passed=2, failed=1)
    foreign.runpytest("-p", "no:asyncio", "scenarios").assert_outcomes(failed=1)


@pytest.mark.parametrize(
    ("args", "tests"),
    [
        (("-m", "slow"), ["tests/test_slow.py::test_slow"]),
        (("-m", "voice"), ["tests/test_slow.py::test_a__b"]),
        (("-m", "voice or slow"), ["tests/test_slow.py::test_slow", "tests/test_slow.py::test_a__b"]),
        (("-k", "a__b"), ["tests/test_slow.py::test_a__b"]),
        (("-k", "a__b or login"), ["scenarios/test_login.py::test_login", "tests/test_slow.py::test_a__b"]),
        (("--lf",), ["scenarios/test_login.py::test_login", "tests/test_slow.py::test_slow"]),
    ],
)
def test_no_mark_or_keyword_brings_scenarios_or_imports_anything(
    foreign: pytest.Pytester, args: tuple[str, ...], tests: list[str]
) -> None:
    found = collect(foreign, "-p", "no:asyncio", *args)
    assert found == tests if args != ("--lf",) else set(found) >= set(tests)


def test_a_built_in_domain_is_taken_where_it_is_named(foreign: pytest.Pytester) -> None:
    assert len(collect(foreign, "-p", "no:asyncio", "-m", "restaurant")) == 11
    assert len(collect(foreign, "-p", "no:asyncio", "-m", "voice or restaurant")) == 12
    assert len(collect(foreign, "-p", "no:asyncio", "-k", "restaurant__burger_classic")) == 1


def test_the_word_voice_means_all_scenarios_where_it_is_nobody_elses(pytester: pytest.Pytester) -> None:
    nodes = collect(pytester, "-p", "no:asyncio", "-m", "voice")
    assert len(nodes) > 11
    assert nodes == collect(pytester, "-p", "no:asyncio", "--voice-scenarios=all")


def test_a_marker_that_a_conftest_registers_counts_too(pytester: pytest.Pytester) -> None:
    pytester.makeconftest(
        "def pytest_configure(config):\n    config.addinivalue_line('markers', 'voice: the choir')\n"
    )
    assert collect(pytester, "-p", "no:asyncio", "-m", "voice") == []


def test_with_a_marker_voice_of_its_own_a_project_gets_its_own_scenarios_only(
    project: pytest.Pytester,
) -> None:
    project.makeini("[pytest]\nmarkers = voice: mine\n")
    assert collect(project, "-m", "voice") == [*BANK, *SHOP]


def test_files_that_are_tests_stay_so_beside_scenario_files(project: pytest.Pytester, write: Write) -> None:
    write(
        "scenarios/test_shop.py",
        "from pytest_voiceeval import get_eval_scenario, register_eval_scenario\n\n"
        "def test_shop():\n    assert register_eval_scenario\n",
    )
    assert collect(project) == ["scenarios/test_shop.py::test_shop", PLAIN]
    assert collect(project, "--voice-scenarios=shop") == SHOP
    project.runpytest("scenarios/test_shop.py").assert_outcomes(passed=1)


def test_a_mark_that_means_something_to_others_is_no_mark_of_a_domain(
    project: pytest.Pytester, write: Write
) -> None:
    text = (project.path / "scenarios" / "shop.py").read_text()
    for domain in ("timeout", "asyncio", "busy"):
        write(f"scenarios/{domain}.py", text.replace("shop__", f"{domain}__"))
    project.makeini("[pytest]\nmarkers = busy: of our own\n")
    for domain in ("timeout", "asyncio", "busy"):
        assert collect(project, "-m", domain) == []
        assert len(collect(project, f"--voice-scenarios={domain}")) == 2
        assert collect(project, f"--voice-scenarios={domain}", "-m", domain) == []


def test_a_mark_is_registered_once_a_domain(project: pytest.Pytester, write: Write) -> None:
    conftest = project.path / "conftest.py"
    conftest.write_text(
        conftest.read_text()
        + "\n\ndef pytest_collection_finish(session):\n"
        + "    lines = session.config.getini('markers')\n"
        + "    print('REGISTERED', sum(line.startswith('shop:') for line in lines))\n",
        encoding="utf-8",
    )
    result = project.runpytest("--voice-scenarios=shop", "--co", "-s")
    result.stdout.fnmatch_lines(["REGISTERED 1"])


def test_names_that_a_loop_makes_are_found_by_mark_and_keyword(
    project: pytest.Pytester, write: Write
) -> None:
    write(
        "scenarios/made.py",
        "from pytest_voiceeval import register_eval_scenario\nfrom .shop import ShopScenario\n"
        "for half in 'ab':\n"
        "    name = '_'.join(['ma', 'de', '', half])\n"
        "    register_eval_scenario(type(half, (ShopScenario,), {'name': name}))\n",
    )
    made = ["scenarios/made.py::ma_de__a", "scenarios/made.py::ma_de__b"]
    assert collect(project, "-m", "ma_de") == made
    assert collect(project, "-k", "ma_de__b") == made[1:]


def test_a_broken_pack_does_not_hinder_what_is_not_about_it(project: pytest.Pytester, write: Write) -> None:
    write("scenarios/broken.py", "1 / 0  # register_eval_scenario\n")
    write("tests/test_names.py", "def test_x__y():\n    pass\n")
    assert collect(project, "-k", "x__y") == ["tests/test_names.py::test_x__y"]
    assert collect(project, "-m", "unheard_of") == []
    for args in (("-m", "shop"), ("-k", "shop__good"), ("-m", "voice")):
        result = project.runpytest(*args)
        assert result.ret == pytest.ExitCode.USAGE_ERROR
        result.stderr.fnmatch_lines(["*broken.py:1: ZeroDivisionError*"])


SKIPS = "import pytest\n\npytest.importorskip('no_such_thing')\n# register_eval_scenario 'closed__'\n"


def test_a_file_that_skips_itself_has_no_scenarios_and_says_so(
    project: pytest.Pytester, write: Write
) -> None:
    write("scenarios/closed.py", SKIPS)
    assert collect(project, "--voice-scenarios=shop") == SHOP
    assert collect(project, "-m", "shop") == SHOP
    for args in (
        ("scenarios/closed.py",),
        ("--voice-scenarios=closed",),
        ("--voice-scenarios=closed", "-n2"),
    ):
        result = project.runpytest("-rs", *args)
        result.stdout.fnmatch_lines(
            ["SKIPPED [[]*[]] scenarios/closed.py:3: could not import 'no_such_thing'*"]
        )
        result.stdout.no_fnmatch_line("*INTERNALERROR*")
    result = project.runpytest("--voice-scenarios=all", "--lf", "--co", "-q", "-rs")
    assert GOOD in result.outlines
    result = project.runpytest("--voice-list")
    result.stdout.fnmatch_lines(["shop__good *"])
    result.stderr.fnmatch_lines(["*closed.py:3: skipped: could not import*"])


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("import sys\nsys.exit('bye')\n", "SystemExit: bye"),
        ("import pytest\npytest.fail('broken')\n", "Failed: broken"),
        ("import pytest\npytest.exit('enough')\n", "Exit: enough"),
    ],
)
def test_whatever_else_a_file_raises_is_told_with_its_line(
    project: pytest.Pytester, write: Write, text: str, complaint: str
) -> None:
    write("scenarios/odd.py", text + "# register_eval_scenario\n")
    result = project.runpytest("--voice-scenarios=shop")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([f"*odd.py:2: {complaint}"])
    result = project.runpytest("scenarios/odd.py")
    assert result.ret == pytest.ExitCode.INTERRUPTED
    result.stdout.fnmatch_lines([f"*odd.py:2: {complaint}"])
    result.stdout.no_fnmatch_line("*INTERNALERROR*")
