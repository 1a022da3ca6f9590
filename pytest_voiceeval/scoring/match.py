"""Comparing what was recorded with the reference answer.

Scalars match as numbers or as text, objects by the reference's keys, lists without regard to order.
Anything malformed matches nothing; no comparison raises.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from pytest_voiceeval.scenarios.base import Scenario

T = TypeVar("T")

ABSOLUTE_TOLERANCE = 1e-8
RELATIVE_TOLERANCE = 1e-5
"""Share of the *prediction* by which two numbers may differ."""

REMEMBERED_CHARACTERS = 200
"""Greatest length of a text whose normal forms are remembered."""

_PUNCTUATION = re.compile(r"[^\w\s]")
_AMOUNT = re.compile(
    r"\s*(?P<sign>[-+\u2212]?)\s*[$€£¥]?\s*(?P<sign_inside>[-+\u2212]?)"
    r"(?P<whole>\d+|\d{1,3}(?:,\d{3})+)(?P<fraction>\.\d+)?\s*[$€£¥]?\s*"
)


@dataclass(frozen=True)
class MatchRules:
    """How strictly a prediction is held to the reference.

    Attributes:
        ignore_capitalization: compare texts in lower case.
        ignore_punctuation: delete all but letters, digits, ``_`` and blanks from texts; compare
            amounts of money by value.
        clean_text: accepted, and without effect of its own: results stay comparable with published
            ones.
        disallow_extra_items: no more answers than the reference has; only among several answers,
            never within one.
    """

    ignore_capitalization: bool = False
    ignore_punctuation: bool = False
    clean_text: bool = False
    disallow_extra_items: bool = False

    @classmethod
    def of(cls, scenario: Scenario, *, strict: bool = False) -> MatchRules:
        """Return the rules that ``scenario`` asks for; ``strict`` disallows extra items whatever it says."""
        return cls(
            ignore_capitalization=bool(scenario.ignore_capitalization),
            ignore_punctuation=bool(scenario.ignore_punctuation),
            clean_text=bool(scenario.clean_text),
            disallow_extra_items=strict or bool(scenario.disallow_extra_items),
        )


EXACT = MatchRules()


def check_if_task_success(reference: Any, prediction: Any, rules: MatchRules = EXACT) -> bool:
    """Return whether the answers in ``prediction`` hold everything that ``reference`` asks for.

    Both are an object or a list of objects. One reference is held against the last answer; several
    each take the first answer that matches and is not taken yet, in the reference's order.
    """
    wanted = as_answers(reference)
    given = counting_answers(wanted, as_answers(prediction))
    if wanted is None or given is None:
        return False
    if rules.disallow_extra_items and len(wanted) != len(given):
        return False
    return None not in pair_greedily(wanted, given, lambda left, right: match_dict(left, right, rules))


def normalize_scenario_payload(payload: Any) -> Any:
    """Return the only object of a list of one; everything else as it is."""
    if isinstance(payload, list) and len(payload) == 1 and isinstance(payload[0], dict):
        return payload[0]
    return payload


def as_answers(payload: Any) -> list[Any] | None:
    """Return ``payload`` as a list of answers; ``None`` if it is neither an object nor a list."""
    normal = normalize_scenario_payload(payload)
    if isinstance(normal, dict):
        return [normal]
    return normal if isinstance(normal, list) else None


def counting_answers(wanted: list[Any] | None, given: list[Any] | None) -> list[Any] | None:
    """Return the answers that count: the last one where one is wanted, else all."""
    return given[-1:] if wanted is not None and given is not None and len(wanted) == 1 else given


def pair_greedily(
    wanted: Sequence[Any], given: Sequence[Any], matches: Callable[[Any, Any], bool]
) -> list[int | None]:
    """Return for each wanted element the index of the given one it takes, ``None`` for none.

    Each takes the first match not taken yet and never gives it back. A cleverer pairing would pass
    answers that published results fail.
    """
    free = list(range(len(given)))
    pairs: list[int | None] = []
    for element in wanted:
        taken = next((index for index in free if matches(element, given[index])), None)
        if taken is not None:
            free.remove(taken)
        pairs.append(taken)
    return pairs


def match_item(reference: Any, prediction: Any, rules: MatchRules = EXACT) -> bool:
    """Return whether ``prediction`` matches ``reference``, by the kind of the reference."""
    if isinstance(reference, dict):
        return match_dict(reference, prediction, rules)
    if isinstance(reference, list):
        return match_list(reference, prediction, rules)
    return match_str_and_float(reference, prediction, rules)


def match_dict(reference: Any, prediction: Any, rules: MatchRules = EXACT) -> bool:
    """Return whether ``prediction`` is an object with all keys of ``reference``, their values matching."""
    if not (isinstance(reference, dict) and isinstance(prediction, dict)):
        return False
    return all(
        key in prediction and match_item(value, prediction[key], rules) for key, value in reference.items()
    )


def match_list(reference: Any, prediction: Any, rules: MatchRules = EXACT) -> bool:
    """Return whether every element of ``reference`` finds one of its own in the list ``prediction``."""
    if not (isinstance(reference, list) and isinstance(prediction, list)):
        return False
    return None not in pair_greedily(
        reference, prediction, lambda left, right: match_item(left, right, rules)
    )


def match_str_and_float(reference: Any, prediction: Any, rules: MatchRules = EXACT) -> bool:
    """Return whether two scalars match: as numbers if both are, else as text.

    A list or an object as ``prediction`` is turned into its text form.
    """
    left, right = _number(reference), _number(prediction)
    if left is not None and right is not None:
        if _is_digits(reference) and math.isfinite(left) and right.is_integer():
            return _same_digits(reference, prediction, right)
        return _numbers_match(left, right)
    if isinstance(reference, bool):
        return False
    return _texts_match(str(reference), str(prediction), rules)


def match_action(reference: Mapping[str, Any], prediction: Mapping[str, Any]) -> bool:
    """Return whether two action records have one name and equal arguments.

    ``compare_args`` of the reference selects the arguments: absent or null takes all, an empty list
    takes none. Equality is plain: the order of lists counts. The verdict does not use this.
    """
    chosen = reference.get("compare_args")
    return reference.get("name") == prediction.get("name") and _selected(reference, chosen) == _selected(
        prediction, chosen
    )


def _selected(record: Mapping[str, Any], chosen: Sequence[str] | None) -> dict[str, Any]:
    arguments = record.get("arguments") or {}
    return dict(arguments) if chosen is None else {key: arguments.get(key) for key in chosen}


def _remembered(function: Callable[..., T]) -> Callable[..., T]:
    """Return ``function`` of a text, that remembers what it made of short ones: they come again and again."""
    remembering = lru_cache(maxsize=8192)(function)

    def call(text: str, *more: Any) -> T:
        return (remembering if len(text) <= REMEMBERED_CHARACTERS else function)(text, *more)

    return call


def _number(value: Any) -> float | None:
    if isinstance(value, str):
        return _text_number(value)
    return _as_float(value) if isinstance(value, int | float) else None


def _as_float(value: str | float) -> float | None:
    try:
        return float(value)
    except (ValueError, OverflowError):
        return None


_text_number = _remembered(_as_float)


def _numbers_match(reference: float, prediction: float) -> bool:
    if not (math.isfinite(reference) and math.isfinite(prediction)):
        return reference == prediction
    return abs(reference - prediction) <= ABSOLUTE_TOLERANCE + RELATIVE_TOLERANCE * abs(prediction)


def _is_digits(value: Any) -> bool:
    return isinstance(value, str) and value.strip().isdecimal()


def _same_digits(reference: str, prediction: Any, prediction_number: float) -> bool:
    """Compare without tolerance: a text of digits alone may well be a telephone number or a date."""
    exact = isinstance(prediction, int) or _is_digits(prediction)
    return int(reference) == (int(prediction) if exact else int(prediction_number))


def _texts_match(reference: str, prediction: str, rules: MatchRules) -> bool:
    if rules.ignore_punctuation:
        left, right = _amount(reference), _amount(prediction)
        if left is not None and right is not None:
            return left == right
    flags = (rules.ignore_capitalization, rules.ignore_punctuation)
    return _plain(reference, *flags) == _plain(prediction, *flags)


@_remembered
def _amount(text: str) -> Decimal | None:
    """Return the value of an amount such as ``$1,299.00``; deleting its signs would change it."""
    found = _AMOUNT.fullmatch(text)
    if found is None or (found["sign"] and found["sign_inside"]):
        return None
    value = Decimal(found["whole"].replace(",", "") + (found["fraction"] or ""))
    return -value if (found["sign"] or found["sign_inside"]) in ("-", "\u2212") else value


@_remembered
def _plain(text: str, ignore_capitalization: bool, ignore_punctuation: bool) -> str:
    if ignore_capitalization:
        text = text.lower()
    return _PUNCTUATION.sub("", text) if ignore_punctuation else text
