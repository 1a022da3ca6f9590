"""What holds for all comparisons."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from pytest_voiceeval.scoring.match import MatchRules, check_if_task_success, match_item, match_list

rules = st.builds(MatchRules, st.booleans(), st.booleans(), st.booleans(), st.booleans())
# Texts that read as NaN do not match themselves, which is a rule and not tested here.
texts = st.text().filter(lambda text: text.strip().lstrip("+-").lower() != "nan")
scalars = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | texts
values = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4)
)
objects = st.dictionaries(st.text(), values, max_size=4)


@given(values, rules)
def test_everything_but_nan_matches_itself(value: Any, rules: MatchRules) -> None:
    assert match_item(value, value, rules)


@given(st.lists(objects, max_size=4), rules)
def test_answers_match_themselves(answers: list[Any], rules: MatchRules) -> None:
    assert check_if_task_success(answers, answers, rules)


@given(objects, objects, rules)
def test_keys_that_the_reference_lacks_are_tolerated(
    reference: dict[str, Any], more: dict[str, Any], rules: MatchRules
) -> None:
    assert check_if_task_success(reference, {**more, **reference}, rules)


@given(st.lists(objects, min_size=2, max_size=4), st.data())
def test_one_reference_is_held_against_the_last_answer(answers: list[Any], data: st.DataObject) -> None:
    reference = data.draw(objects)
    assert check_if_task_success(reference, answers) == check_if_task_success(reference, answers[-1])


@given(st.lists(st.integers(-1000, 1000), unique=True, max_size=6), st.data())
def test_order_in_lists_does_not_count(elements: list[int], data: st.DataObject) -> None:
    assert match_list(elements, data.draw(st.permutations(elements)))


@given(st.lists(st.text(alphabet="ab"), max_size=4), st.lists(st.text(alphabet="ab"), max_size=6))
def test_a_list_of_texts_matches_where_it_is_contained(wanted: list[str], found: list[str]) -> None:
    contained = all(wanted.count(text) <= found.count(text) for text in wanted)
    assert match_list(wanted, found) == contained


@given(values, values, rules)
def test_no_comparison_raises(reference: Any, prediction: Any, rules: MatchRules) -> None:
    assert match_item(reference, prediction, rules) in (True, False)
    assert check_if_task_success(reference, prediction, rules) in (True, False)


@given(scalars, scalars)
def test_leniency_never_costs_a_match_of_scalars(reference: Any, prediction: Any) -> None:
    lenient = MatchRules(ignore_capitalization=True)
    assert match_item(reference, prediction, lenient) or not match_item(reference, prediction)


@given(st.lists(objects, max_size=3), st.lists(objects, max_size=4), rules)
def test_strictness_never_gains_a_match(wanted: list[Any], found: list[Any], rules: MatchRules) -> None:
    strict = MatchRules(
        rules.ignore_capitalization, rules.ignore_punctuation, rules.clean_text, disallow_extra_items=True
    )
    lenient = MatchRules(rules.ignore_capitalization, rules.ignore_punctuation, rules.clean_text)
    assert not check_if_task_success(wanted, found, strict) or check_if_task_success(wanted, found, lenient)
