"""Parts of a run, for machines that know nothing of each other."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from canned_project import collected, run_folder
from hypothesis import given
from hypothesis import strategies as st

from pytest_voiceeval.plugin.sharding import Shard

Write = Callable[[str, str], Path]
NAMES = st.text(st.characters(exclude_categories=()), min_size=1)


@given(NAMES, st.integers(1, 50))
def test_each_scenario_is_in_one_part(name: str, count: int) -> None:
    assert [Shard(index, count).holds(name) for index in range(1, count + 1)].count(True) == 1


def test_which_part_a_scenario_is_in_never_changes() -> None:
    names = ["shop__good", "restaurant__pizza_pepperoni", "tau2_airline__7", "qa__café"]
    held = {name: [i for i in range(1, 9) if Shard(i, 8).holds(name)] for name in names}
    assert held == {
        "shop__good": [7],
        "restaurant__pizza_pepperoni": [5],
        "tau2_airline__7": [6],
        "qa__café": [7],
    }


def test_parts_are_about_equal() -> None:
    sizes = Counter(
        index for number in range(800) for index in range(1, 9) if Shard(index, 8).holds(f"shop__{number}")
    )
    assert sorted(sizes) == list(range(1, 9))
    assert min(sizes.values()) >= 75
    assert max(sizes.values()) <= 125


def items(project: pytest.Pytester, *arguments: str) -> set[str]:
    return set(collected(project.runpytest("--co", "-q", *arguments)))


@pytest.mark.parametrize(
    "selection",
    [
        ["--voice-scenarios=all", "-k", "row or good"],
        ["scenarios"],
    ],
    ids=" ".join,
)
def test_parts_together_are_what_is_selected_and_no_two_share_any(
    project: pytest.Pytester, write: Write, selection: list[str]
) -> None:
    project.makeini("[pytest]\nvoice_packs =\n")
    whole = items(project, *selection)
    parts = [items(project, *selection, f"--voice-shard={index}/3") for index in (1, 2, 3)]
    assert set.union(*parts) == whole
    assert sum(map(len, parts)) == len(whole)
    rows = "".join(
        f'@register_eval_scenario\nclass R{n}(ShopScenario):\n    name = "more__{n}"\n' for n in range(9)
    )
    write(
        "scenarios/more.py",
        f"from pytest_voiceeval import register_eval_scenario\nfrom .shop import ShopScenario\n{rows}",
    )
    after = [items(project, *selection, f"--voice-shard={index}/3") for index in (1, 2, 3)]
    assert [part & whole for part in after] == parts


def test_tests_by_hand_go_with_their_scenario_and_other_tests_are_in_every_part(
    project: pytest.Pytester, write: Write
) -> None:
    write(
        "tests/test_by_hand.py",
        "import pytest\n\n@pytest.mark.voice_scenario('shop__good')\ndef test_it(voice_metrics):\n    pass\n",
    )
    found = [
        items(project, "--voice-scenarios=shop", "tests", f"--voice-shard={i}/5") for i in (1, 2, 3, 4, 5)
    ]
    assert all("tests/test_plain.py::test_plain" in part for part in found)
    assert [i for i, part in enumerate(found, 1) if "tests/test_by_hand.py::test_it" in part] == [2]
    assert [i for i, part in enumerate(found, 1) if "scenarios/shop.py::shop__good" in part] == [2]


@pytest.mark.parametrize("workers", [(), ("-n2",)])
def test_a_part_in_which_nothing_is_left_is_a_success(
    project: pytest.Pytester, workers: tuple[str, ...]
) -> None:
    result = project.runpytest("--voice-scenarios=shop__good", "--voice-shard=1/8", *workers)
    assert result.ret == pytest.ExitCode.OK
    assert not (project.path / "eval_results").exists()
    typo = project.runpytest("--voice-scenarios=shop__good", "--voice-shard=1/8", "-k", "gooood", *workers)
    assert typo.ret == pytest.ExitCode.NO_TESTS_COLLECTED


def test_what_failed_last_time_is_spread_too(project: pytest.Pytester) -> None:
    project.runpytest("--voice-scenarios=shop")
    for index in range(1, 9):
        part = items(project, "--lf", f"--voice-shard={index}/8")
        assert part == (
            {"scenarios/shop.py::shop__wrong_tea"} if Shard(index, 8).holds("shop__wrong_tea") else set()
        )


def test_the_record_of_a_run_tells_which_part_it_is(project: pytest.Pytester) -> None:
    result = project.runpytest("--voice-scenarios=shop__good", "--voice-shard=7/8")
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(["voice scenarios: part 7 of 8"])
    (start,) = json.loads((run_folder(project.path) / "run_args.json").read_text())["invocations"]
    assert start["parsed_args"]["voice_shard"] == "7/8"
    listed = project.runpytest("--voice-list", "--voice-scenarios=shop", "--voice-shard=7/8")
    assert [line.split()[0] for line in listed.outlines] == ["shop__good"]


@pytest.mark.parametrize(
    ("text", "remedy"),
    [
        *(
            (text, "write which part of how many, such as 2/8")
            for text in ("", "2", "2/", "a/b", "-1/2", "1.5/2")
        ),
        ("3/2", "parts are counted from 1: write 1/2 to 2/2"),
        ("0/3", "parts are counted from 1: write 1/3 to 3/3"),
        ("1/0", "parts are counted from 1: write 1/8 to 8/8"),
    ],
)
def test_what_is_no_part_is_refused(project: pytest.Pytester, text: str, remedy: str) -> None:
    result = project.runpytest(f"--voice-shard={text}", "--voice-scenarios=shop")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([f"*--voice-shard={text}: {remedy}"])
