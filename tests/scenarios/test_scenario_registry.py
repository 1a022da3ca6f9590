from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from pytest_voiceeval import (
    Scenario,
    SuccessSignal,
    get_eval_scenario,
    list_eval_scenarios,
    register_eval_scenario,
)
from pytest_voiceeval.errors import DuplicateNameError, UnknownNameError
from pytest_voiceeval.scenarios import registry
from pytest_voiceeval.scenarios.registry import (
    absent_tasks,
    named_scenario_class,
    of_split,
    scenario_class,
    scenario_domains,
    select,
)


@pytest.fixture(autouse=True)
def empty_registry(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "_scenarios", {})


def make(scenario_name: str | None, class_name: str = "Made", **fields: Any) -> type[Scenario]:
    fields |= {"success_signals": (SuccessSignal.CLEAN_EXIT,), "__qualname__": class_name}
    if scenario_name is not None:
        fields["name"] = scenario_name
    return type(class_name, (Scenario,), fields)


def register(*names: str) -> None:
    for name in names:
        register_eval_scenario(make(name, f"Class_{name}"))


def test_scenarios_are_listed_in_order_of_registration() -> None:
    register("tea__b", "coffee__a", "solo")
    assert list_eval_scenarios() == ["tea__b", "coffee__a", "solo"]
    assert scenario_domains() == ["tea", "coffee", "solo"]


def test_a_scenario_is_made_anew_by_each_call() -> None:
    cls = register_eval_scenario(make("tea__b"))
    first = get_eval_scenario("tea__b", description="hot")
    assert type(first) is cls is scenario_class("tea__b")
    assert first is not get_eval_scenario("tea__b")
    assert first.description == "hot"
    with pytest.raises(TypeError, match="takes no argument 'sugar'"):
        get_eval_scenario("tea__b", sugar=2)


def test_an_unknown_name_gives_none() -> None:
    assert get_eval_scenario("nothing") is None
    assert scenario_class("nothing") is None


def test_without_a_name_the_class_name_is_taken() -> None:
    register_eval_scenario(make(None, "Unnamed"))
    assert list_eval_scenarios() == ["Unnamed"]


@pytest.mark.parametrize("thing", [object, int, "x"])
def test_only_scenario_classes_are_registered(thing: Any) -> None:
    with pytest.raises(ValueError, match="derive the class from Scenario"):
        register_eval_scenario(thing)


def test_a_computed_name_is_refused() -> None:
    with pytest.raises(ValueError, match="write its name as a text on the class"):
        register_eval_scenario(type("P", (Scenario,), {"name": property(len), "success_signals": ("x",)}))


def test_a_used_name_is_refused_and_both_files_are_named() -> None:
    register("tea__b")
    with pytest.raises(DuplicateNameError, match="scenario 'tea__b' is defined twice") as caught:
        register_eval_scenario(make("tea__b", "Other"))
    assert str(caught.value).count(__file__) == 2
    assert "Class_tea__b" in str(caught.value)


def test_a_subclass_without_a_name_of_its_own_collides_with_its_base() -> None:
    base = register_eval_scenario(make("tea__b"))
    with pytest.raises(DuplicateNameError):
        register_eval_scenario(type("Heir", (base,), {}))


def test_the_same_class_imported_again_replaces_the_first() -> None:
    register("tea__b")
    again = register_eval_scenario(make("tea__b", "Class_tea__b"))
    assert scenario_class("tea__b") is again


@pytest.mark.parametrize(
    ("selectors", "names"),
    [
        (["all"], ["tea__green", "coffee__black", "coffee__white", "solo"]),
        (["coffee"], ["coffee__black", "coffee__white"]),
        (["solo", "tea"], ["tea__green", "solo"]),
        (["coffee__white", "coffee__black"], ["coffee__black", "coffee__white"]),
        (["*__[bg]*"], ["tea__green", "coffee__black"]),
        (["coffee", "coffee__*"], ["coffee__black", "coffee__white"]),
        ([], []),
    ],
)
def test_selecting(selectors: list[str], names: list[str]) -> None:
    register("tea__green", "coffee__black", "coffee__white", "solo")
    assert select(selectors) == names


@pytest.mark.parametrize(
    ("selector", "message"),
    [
        ("cofee", "no scenario or domain 'cofee'; did you mean 'coffee'"),
        ("coffee__blak", "did you mean 'coffee__black'"),
        ("wine", "the domains are: tea, coffee"),
        ("wine*", "the domains are: tea, coffee"),
    ],
)
def test_a_selector_for_nothing_names_the_nearest(selector: str, message: str) -> None:
    register("tea__green", "coffee__black")
    with pytest.raises(UnknownNameError) as caught:
        select(["tea", selector])
    assert message in str(caught.value)


def test_a_scenario_that_is_its_own_domain_is_suggested_once() -> None:
    register("CoffeeLatte", "solo")
    with pytest.raises(UnknownNameError, match=r"; did you mean 'CoffeeLatte'\?$"):
        select(["CoffeLatte"])


def test_selecting_from_an_empty_registry_says_so() -> None:
    with pytest.raises(UnknownNameError, match="no scenario is registered"):
        select(["all"])


def test_one_scenario_is_named_exactly_or_the_error_says_what_is_near() -> None:
    register("tea__green", "tea__black", "coffee__latte")
    assert named_scenario_class("tea__green") is scenario_class("tea__green")
    for text, hint in (
        ("tea__gren", "did you mean 'tea__green'"),
        ("tea", "'tea' is no scenario but stands for 2: name one, such as 'tea__green', 'tea__black'"),
        ("coffee__*", "stands for 1: name one, such as 'coffee__latte'"),
        ("qqq", "pytest --voice-list prints all names"),
    ):
        with pytest.raises(UnknownNameError) as caught:
            named_scenario_class(text)
        assert hint in str(caught.value)


def bench(**splits: str) -> None:
    for number, words in splits.items():
        made = make(f"bench__{number}", f"Bench{number}", splits=frozenset(words.split()))
        register_eval_scenario(made)


def test_a_domain_stands_for_one_split_of_its_benchmark_and_a_name_for_itself() -> None:
    bench(a="base train", b="base test", c="more")
    register("shop__tea")
    assert select(["bench"]) == ["bench__a", "bench__b"]
    assert select(["all"], "test") == ["bench__b", "shop__tea"]
    assert select(["bench__*"], "more") == ["bench__c"]
    assert select(["bench__c"]) == ["bench__c"]


def test_a_split_that_a_benchmark_does_not_have_is_an_error_that_lists_them() -> None:
    bench(a="base train", b="base test")
    register("shop__tea")
    for selector in ("bench", "all", "bench__*"):
        with pytest.raises(UnknownNameError, match="bench has no split 'dev'; it has: base, test, train"):
            select([selector], "dev")


def test_a_split_of_domains_that_have_none_is_an_error_but_where_a_benchmark_is_among_them() -> None:
    bench(a="base train", b="base test")
    register("shop__tea", "cafe__latte")
    for selector, told in (("shop", "shop has no splits"), ("*__[lt]*", "shop, cafe have no splits")):
        with pytest.raises(UnknownNameError, match=f"^no split 'train': {told}; leave it out$"):
            select([selector], "train")
    assert select(["*"], "train") == ["bench__a", "shop__tea", "cafe__latte"]
    assert select(["shop__tea"], "train") == select(["shop"]) == ["shop__tea"]
    assert of_split(["shop__tea"], "train", demanded=False) == ["shop__tea"]
    assert of_split([], "train") == []


@pytest.fixture
def listed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Data of a benchmark, two tasks of which are here, in four splits."""
    monkeypatch.setenv("EVAL_DATA_ROOT", str(tmp_path))
    splits = {"base": ["1", "2"], "full": ["1", "2", "3"], "small": ["3", "4"], "one": ["1"]}
    (tmp_path / "tau2_telecom").mkdir()
    (tmp_path / "tau2_telecom" / "split_tasks.json").write_text(json.dumps(splits))
    for domain in ("tau2_telecom", "tau2_telecom_workflow"):
        for number, words in (("1", "base full one"), ("2", "base full")):
            made = make(f"{domain}__{number}", f"{domain}{number}", splits=frozenset(words.split()))
            register_eval_scenario(made)


@pytest.mark.usefixtures("listed")
@pytest.mark.parametrize("domain", ["tau2_telecom", "tau2_telecom_workflow"])
def test_a_split_of_which_no_task_is_here_is_an_error_that_says_so(domain: str) -> None:
    told = f"the split 'small' of {domain} has 2 tasks, none of which is in the data here; those have tasks "
    with pytest.raises(UnknownNameError, match=f"{told}of: base, full, one$"):
        select([domain], "small")


@pytest.mark.usefixtures("listed")
def test_tasks_of_a_split_that_are_not_here_are_told() -> None:
    names = select(["tau2_telecom"], "full")
    register("shop__tea")
    assert list(absent_tasks([*names, "shop__tea"], "full")) == [
        "the split 'full' of tau2_telecom has 3 tasks, of which 2 are in the data here"
    ]
    for split in ("base", "one", "small", "dev"):
        assert not list(absent_tasks(names, split))


def test_a_benchmark_without_the_default_split_is_held_as_a_whole() -> None:
    bench(a="train", b="test")
    assert select(["bench"]) == ["bench__a", "bench__b"]
    assert select(["bench"], "train") == ["bench__a"]
