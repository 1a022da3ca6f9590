from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_voiceeval.scoring.action_diff import explain_mismatch
from pytest_voiceeval.scoring.match import MatchRules, check_if_task_success

PIZZA: dict[str, Any] = {
    "items": [
        {"name": "Pepperoni Pizza", "price": "9.99", "quantity": "1"},
        {"name": "Extra Cheese", "price": "1.50", "quantity": "1"},
    ],
    "customer_name": "Charlie",
    "total_price": "11.49",
}


def order(**changes: Any) -> dict[str, Any]:
    return {**PIZZA, **changes}


def call(name: str, **arguments: Any) -> dict[str, Any]:
    return {"side": "agent", "name": name, "arguments": arguments}


def test_a_wrong_value_stands_beside_the_expected_one() -> None:
    cheese, pizza = PIZZA["items"][1], {**PIZZA["items"][0], "name": "wrong Pepperoni Pizza"}
    assert explain_mismatch(PIZZA, [order(items=[cheese, pizza])]) == [
        'items[0].name: expected "Pepperoni Pizza", found "wrong Pepperoni Pizza"'
    ]


def test_a_missing_key_is_found_nothing() -> None:
    found = {key: value for key, value in PIZZA.items() if key != "total_price"}
    assert explain_mismatch(PIZZA, [found]) == ['total_price: expected "11.49", found nothing']


def test_a_missing_element_is_found_nothing() -> None:
    assert explain_mismatch(PIZZA, order(items=PIZZA["items"][:1])) == [
        'items[1]: expected {"name": "Extra Cheese", "price": "1.50", "quantity": "1"}, found nothing'
    ]


@pytest.mark.parametrize("nothing", [[], [{"actions": []}], {"actions": []}, {}], ids=range(4))
def test_no_action_at_all_shows_what_was_expected(nothing: Any) -> None:
    (line,) = explain_mismatch(PIZZA, nothing)
    assert line.startswith(
        'nothing was recorded; expected {"items": [{"name": "Pepperoni Pizza", "price": "9.99"'
    )
    assert line.endswith('"total_price": "11.49"}')


def test_an_answer_of_other_keys_is_told_by_its_keys() -> None:
    lines = explain_mismatch(PIZZA, {"drink": "tea", "size": 1})
    assert lines[0] == "answer: expected the keys items, customer_name, total_price; found drink, size"
    assert lines[1].endswith('found {"drink": "tea", "size": 1}')
    assert explain_mismatch([PIZZA, {"a": 1}], [PIZZA, {"z": 1}])[0] == "[1]: expected the keys a; found z"


def test_a_pushed_answer_that_recorded_actions_displaced_is_told() -> None:
    recorded = {"actions": [call("OrderTool", **PIZZA), call("OrderTool"), call("PayTool")]}
    lines = explain_mismatch(PIZZA, [recorded])
    assert lines[0] == "answer: expected the keys items, customer_name, total_price; found actions"
    assert lines[1] == (
        "answer: recorded actions count instead of a pushed answer (OrderTool, PayTool); "
        'write the reference as {"actions": [...]}, or record none'
    )


def test_long_values_are_cut_at_the_end() -> None:
    (line,) = explain_mismatch({"note": "a" * 400 + "b"}, {"note": "a" * 290 + "c" * 400})
    expected, found = line.removeprefix("note: expected ").split(", found ")
    assert expected == '"' + "a" * 299 + " …"
    assert found == '"' + "a" * 290 + "c" * 9 + " …"


def test_every_difference_has_its_line() -> None:
    found = order(items=[], customer_name="Charly", total_price=11.5)
    assert [line.split(":")[0] for line in explain_mismatch(PIZZA, found)] == [
        "items[0]",
        "items[1]",
        "customer_name",
        "total_price",
    ]


def test_what_the_rules_forgive_is_no_difference() -> None:
    rules = MatchRules(ignore_capitalization=True)
    found = order(customer_name="charlie", total_price="12")
    assert explain_mismatch(PIZZA, found, rules) == ['total_price: expected "11.49", found "12"']


@pytest.mark.parametrize(
    ("found", "line"),
    [
        pytest.param({"a": [1]}, 'a: expected {"b": 1}, found [1]', id="list for an object"),
        pytest.param({"a": {"c": 2}}, 'a: expected {"b": 1}, found {"c": 2}', id="no key in common"),
        pytest.param({"a": {"b": 2}}, "a.b: expected 1, found 2", id="deep"),
        pytest.param(["text"], 'answer: expected {"a": {"b": 1}}, found "text"', id="text in a list"),
        pytest.param("text", 'expected {"a": {"b": 1}}, found "text"', id="text"),
        pytest.param(None, 'expected {"a": {"b": 1}}, found null', id="null"),
    ],
)
def test_other_shapes_stand_beside_the_expected_one(found: Any, line: str) -> None:
    assert explain_mismatch({"a": {"b": 1}}, found) == [line]


def test_each_reference_is_held_against_its_nearest_action() -> None:
    wanted = [call("pay", bill="B1", amount=5), call("pay", bill="B2", amount=7), call("close", line="L1")]
    found = [call("close", line="L2"), call("pay", bill="B2", amount=8), call("pay", bill="B1", amount=5)]
    assert explain_mismatch({"actions": wanted}, [{"actions": found}]) == [
        "actions[1].arguments.amount: expected 7, found 8",
        'actions[2].arguments.line: expected "L1", found "L2"',
    ]


def test_an_action_of_another_name_is_shown_whole() -> None:
    assert explain_mismatch(
        {"actions": [call("pay", bill="B1")]}, [{"actions": [call("close", bill="B1")]}]
    ) == [
        'actions[0]: expected {"side": "agent", "name": "pay", "arguments": {"bill": "B1"}}, '
        'found {"side": "agent", "name": "close", "arguments": {"bill": "B1"}}'
    ]


def test_several_answers_are_numbered() -> None:
    assert explain_mismatch([{"a": 1, "b": 1}, {"a": 2}], [{"a": 2}, {"a": 1, "b": 3}]) == [
        "[0].b: expected 1, found 3"
    ]


def test_where_one_answer_is_wanted_the_last_one_counts() -> None:
    assert explain_mismatch({"a": 1}, [{"a": 1}, {"a": 2}]) == [
        "2 answers were given, only the last one counts; an earlier one would have matched",
        "a: expected 1, found 2",
    ]
    assert explain_mismatch({"a": 1}, [{"a": 3}, {"a": 2}])[0] == (
        "2 answers were given, only the last one counts"
    )


def test_answers_too_many_are_counted_where_they_are_not_allowed() -> None:
    strict = MatchRules(disallow_extra_items=True)
    assert explain_mismatch([{"a": 1}, {"b": 1}], [{"a": 1}, {"b": 1}, {"c": 1}], strict) == [
        "expected 2 answers and no more, found 3"
    ]
    assert explain_mismatch([], [{}], strict) == ["expected 0 answers and no more, found 1"]


def test_a_reference_that_is_no_object_is_the_scenarios_fault() -> None:
    (line,) = explain_mismatch([["a"], {}], [{}])
    assert line == 'the reference answer must be an object or a list of objects, it is [["a"], {}]'


def test_a_long_explanation_is_cut() -> None:
    lines = explain_mismatch({str(n): n for n in range(50)}, {"0": 0, "extra": 1})
    assert len(lines) == 31
    assert lines[-1] == "… and 19 more differences"


scalars = st.sampled_from([None, True, 0, 1, 2.5, "a", "A", "1"])
values = st.recursive(
    scalars,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["name", "arguments", "x"]), inner)
    ),
    max_leaves=12,
)
rules = st.builds(MatchRules, st.booleans(), st.booleans(), st.booleans(), st.booleans())


@given(values, values, rules)
def test_there_is_an_explanation_exactly_where_there_is_no_match(
    reference: Any, prediction: Any, rules: MatchRules
) -> None:
    lines = explain_mismatch(reference, prediction, rules)
    assert (lines == []) == check_if_task_success(reference, prediction, rules)


def test_elements_of_long_lists_are_held_against_one_another_in_order() -> None:
    reference = {"actions": [{"name": "lend", "n": n} for n in range(60)]}
    prediction = [{"actions": [{"name": "lend", "n": 1000 + n} for n in range(60)]}]
    lines = explain_mismatch(reference, prediction)
    assert lines[:2] == ["actions[0].n: expected 0, found 1000", "actions[1].n: expected 1, found 1001"]
    assert lines[-1] == "… and 30 more differences"
