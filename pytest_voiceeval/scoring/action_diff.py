"""Why recorded actions do not match the reference: lines by path, expected beside found."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

from pytest_voiceeval.scoring.match import (
    EXACT,
    MatchRules,
    as_answers,
    check_if_task_success,
    counting_answers,
    match_dict,
    match_item,
    pair_greedily,
)
from pytest_voiceeval.world.diff import join_key

MAX_LINES = 30
SHOWN_CHARACTERS = 300

MAX_RANKED = 2_500
"""Pairs of elements that are ranked by how near they are; of longer lists, elements are paired in order."""


def explain_mismatch(reference: Any, prediction: Any, rules: MatchRules = EXACT) -> list[str]:
    """Return one line for each thing that ``prediction`` lacks, at least one; no line if it matches.

    Each reference that matches nothing is held against the answer nearest to it. Example:
    ``items[0].name: expected "Pepperoni Pizza", found "wrong Pepperoni Pizza"``.
    """
    if check_if_task_success(reference, prediction, rules):
        return []
    lines = list(_answer_lines(reference, prediction, rules)) or [
        f"expected {_shown(reference)}, found {_shown(prediction)}"
    ]
    hidden = len(lines) - MAX_LINES
    return lines if hidden <= 1 else [*lines[:MAX_LINES], f"… and {hidden} more differences"]


def _answer_lines(reference: Any, prediction: Any, rules: MatchRules) -> Iterator[str]:
    wanted, given = as_answers(reference), as_answers(prediction)
    if wanted is None or not all(isinstance(answer, dict) for answer in wanted):
        yield f"the reference answer must be an object or a list of objects, it is {_shown(reference)}"
        return
    if given is None:
        yield f"expected {_shown(reference)}, found {_shown(prediction)}"
        return
    if wanted and _is_nothing(given):
        yield f"nothing was recorded; expected {_shown(reference)}"
        return
    counting = counting_answers(wanted, given) or []
    if len(counting) < len(given):
        yield _last_one_counts(wanted[0], given, rules)
    if rules.disallow_extra_items and len(wanted) < len(counting):
        yield f"expected {len(wanted)} answers and no more, found {len(counting)}"
    pairs = pair_greedily(wanted, counting, lambda left, right: match_dict(left, right, rules))
    whole = len(wanted) == 1
    for index, nearest in _leftovers(wanted, counting, pairs, rules):
        path = "" if whole else f"[{index}]"
        if nearest and _has_other_keys(wanted[index], nearest[0]):
            yield from _key_lines(path, wanted[index], nearest[0])
        else:
            yield from _lines(path, wanted[index], nearest, rules)


def _has_other_keys(wanted: dict[str, Any], found: Any) -> bool:
    return bool(wanted and found) and isinstance(found, dict) and wanted.keys().isdisjoint(found)


def _key_lines(path: str, wanted: dict[str, Any], found: dict[str, Any]) -> Iterator[str]:
    """Yield that an answer is of another shape than its reference, no key being in both."""
    place = path or "answer"
    yield f"{place}: expected the keys {', '.join(wanted)}; found {', '.join(map(str, found))}"
    actions = found.get("actions")
    if isinstance(actions, list) and actions:
        names = [action.get("name") if isinstance(action, dict) else None for action in actions]
        told = ", ".join(dict.fromkeys(str(name) for name in names if name is not None)) or "without names"
        yield (
            f"{place}: recorded actions count instead of a pushed answer ({told}); write the reference "
            'as {"actions": [...]}, or record none'
        )
    yield f"{place}: expected {_shown(wanted)}, found {_shown(found)}"


def _shown(value: Any) -> str:
    """Return ``value`` as JSON on one line, cut at the end: a gap inside makes values look alike."""
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= SHOWN_CHARACTERS else f"{text[:SHOWN_CHARACTERS]} …"


def _is_nothing(given: list[Any]) -> bool:
    return all(answer in ({}, {"actions": []}) for answer in given)


def _last_one_counts(wanted: Any, given: list[Any], rules: MatchRules) -> str:
    earlier = any(match_dict(wanted, answer, rules) for answer in given[:-1])
    return f"{len(given)} answers were given, only the last one counts" + (
        "; an earlier one would have matched" if earlier else ""
    )


def _lines(path: str, wanted: Any, nearest: list[Any], rules: MatchRules) -> Iterator[str]:
    """Yield how the element in ``nearest``, which is empty if there is none, differs from ``wanted``."""
    if not nearest:
        yield f"{path or 'answer'}: expected {_shown(wanted)}, found nothing"
        return
    found = nearest[0]
    if isinstance(wanted, dict) and isinstance(found, dict) and not _are_strangers(wanted, found, rules):
        for key, value in wanted.items():
            if key not in found or not match_item(value, found[key], rules):
                here = [found[key]] if key in found else []
                yield from _lines(join_key(path, key), value, here, rules)
    elif isinstance(wanted, list) and isinstance(found, list):
        pairs = pair_greedily(wanted, found, lambda left, right: match_item(left, right, rules))
        for index, candidate in _leftovers(wanted, found, pairs, rules):
            yield from _lines(f"{path}[{index}]", wanted[index], candidate, rules)
    else:
        yield f"{path or 'answer'}: expected {_shown(wanted)}, found {_shown(found)}"


def _are_strangers(wanted: dict[str, Any], found: dict[str, Any], rules: MatchRules) -> bool:
    """Return whether two objects are better shown whole: no key in common, or calls of other names."""
    if wanted and wanted.keys().isdisjoint(found):
        return True
    return "arguments" in wanted and not _same_name(wanted, found, rules)


def _leftovers(
    wanted: Sequence[Any], given: Sequence[Any], pairs: Sequence[int | None], rules: MatchRules
) -> Iterator[tuple[int, list[Any]]]:
    """Yield each wanted element left without a partner, with the nearest free given one if any is left."""
    alone = [index for index, partner in enumerate(pairs) if partner is None]
    taken = set(pairs)
    free = [index for index in range(len(given)) if index not in taken]
    partners: dict[int, int] = {}
    for left, right in _by_nearness(wanted, given, (alone, free), rules):
        if left not in partners and right not in taken:
            partners[left] = right
            taken.add(right)
    for index in alone:
        yield index, [given[partners[index]]] if index in partners else []


def _by_nearness(
    wanted: Sequence[Any], given: Sequence[Any], places: tuple[list[int], list[int]], rules: MatchRules
) -> list[tuple[int, int]]:
    """Return the pairs of ``places`` in both, the nearest first; in order where there is little to choose."""
    alone, free = places
    if len(alone) * len(free) == 1 or len(alone) * len(free) > MAX_RANKED:
        return list(zip(alone, free, strict=False))
    nearness = {
        (left, right): _nearness(wanted[left], given[right], rules) for left in alone for right in free
    }
    return sorted(nearness, key=lambda pair: (-nearness[pair][0], -nearness[pair][1], *pair))


def _nearness(wanted: Any, found: Any, rules: MatchRules) -> tuple[bool, int]:
    return _same_name(wanted, found, rules), _common_leaves(wanted, found, rules)


def _same_name(wanted: Any, found: Any, rules: MatchRules) -> bool:
    if not (isinstance(wanted, dict) and isinstance(found, dict) and "name" in wanted and "name" in found):
        return False
    return match_item(wanted["name"], found["name"], rules)


def _common_leaves(wanted: Any, found: Any, rules: MatchRules) -> int:
    """Return how many scalars of ``wanted`` are matched in ``found`` at their place."""
    if isinstance(wanted, dict):
        if not isinstance(found, dict):
            return 0
        return sum(_common_leaves(value, found[key], rules) for key, value in wanted.items() if key in found)
    if isinstance(wanted, list):
        if not isinstance(found, list):
            return 0
        if len(wanted) * len(found) > MAX_RANKED:
            return sum(_common_leaves(e, f, rules) for e, f in zip(wanted, found, strict=False))
        return sum(max((_common_leaves(e, f, rules) for f in found), default=0) for e in wanted)
    return int(match_item(wanted, found, rules))
