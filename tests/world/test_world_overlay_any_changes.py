"""Worlds over a shared database are plain dicts, whatever is done to them, in any order."""

from __future__ import annotations

import copy
import json
import pickle
from collections.abc import Callable, Iterator
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_voiceeval.world.diff import compute_db_diff, diff_by_path
from pytest_voiceeval.world.files import plain
from pytest_voiceeval.world.hashing import ORDER_FREE_KEYS, canonical_text, get_dict_hash
from pytest_voiceeval.world.overlay import plain_copy, share, world_of

scalars = st.sampled_from(
    [None, True, False, 0, 1, -1, 2**70, 0.0, -0.0, 1.0, 0.5, 1e22, 1e-7, "", "a", "é", "none", " NULL\n"]
) | st.text(max_size=3)
keys = st.sampled_from(["a", "b", "c", "é", '"', *sorted(ORDER_FREE_KEYS)[:2], "session"])
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(keys, inner, max_size=4),
    max_leaves=12,
)
bases = st.dictionaries(keys, st.dictionaries(keys, values, max_size=4) | values, min_size=1, max_size=4)
Container = dict[str, Any] | list[Any]
Paths = list[tuple[str | int, ...]]


def containers(value: Any, path: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    """Yield the paths of all objects and lists in ``value``."""
    if isinstance(value, dict | list):
        yield path
        entries = value.items() if isinstance(value, dict) else enumerate(value)
        for key, entry in entries:
            yield from containers(entry, (*path, key))


def at(value: Any, path: tuple[str | int, ...]) -> Any:
    for key in path:
        value = value[key]
    return value


def holds(outer: Any, inner: Any) -> bool:
    """Return whether ``inner`` lies in ``outer``, at any depth, or is it."""
    return any(at(outer, path) is inner for path in containers(outer))


def draw_dict_change(data: st.DataObject) -> Callable[[dict[str, Any]], Any]:
    key, value, other = (
        data.draw(keys),
        data.draw(values),
        data.draw(st.dictionaries(keys, values, max_size=3)),
    )
    return data.draw(
        st.sampled_from(
            [
                lambda d: d.__setitem__(key, copy.deepcopy(value)),
                lambda d: d.pop(key, "nothing"),
                lambda d: d.popitem() if d else None,
                lambda d: d.__delitem__(key) if key in d else None,
                lambda d: d.setdefault(key, copy.deepcopy(value)),
                lambda d: d.update(copy.deepcopy(other)),
                lambda d: d.update(session=1),
                lambda d: d.__ior__(copy.deepcopy(other)),
                lambda d: d | other,
                lambda d: other | d,
                lambda d: {**d},
                dict,
                lambda d: d.copy(),
                copy.copy,
                lambda d: list(d.items()),
                lambda d: sorted(d.values(), key=repr),
                lambda d: d.get(key, "nothing"),
                lambda d: [list(d), list(d.keys()), list(reversed(d)), len(d), key in d],
                lambda d: [list(entry) for entry in d.values() if isinstance(entry, dict | list)],
                lambda d: d.clear(),
                lambda d: dict.__setitem__(d, key, 7),
                lambda d: [entry.clear() for entry in d.values() if isinstance(entry, dict)],
                lambda d: [entry.append(1) for entry in {**d}.values() if isinstance(entry, list)],
                lambda d: json.dumps(d, sort_keys=True),
                lambda d: json.dumps(d, indent=1),
                repr,
            ]
        )
    )


def draw_list_change(data: st.DataObject) -> Callable[[list[Any]], Any]:
    value, other = data.draw(values), data.draw(st.lists(values, max_size=3))
    start, stop = data.draw(st.integers(-4, 4)), data.draw(st.integers(-4, 4))
    return data.draw(
        st.sampled_from(
            [
                lambda x: x.append(copy.deepcopy(value)),
                lambda x: x.extend(copy.deepcopy(other)),
                lambda x: x.insert(start, copy.deepcopy(value)),
                lambda x: x.pop() if x else None,
                lambda x: x.remove(x[0]) if x else None,
                lambda x: x.__setitem__(slice(start, stop), copy.deepcopy(other)),
                lambda x: x.__delitem__(slice(start, stop)),
                lambda x: x.__iadd__(copy.deepcopy(other)),
                lambda x: x.__imul__(2) if len(x) < 4 else None,
                lambda x: x.sort(key=repr),
                lambda x: x.reverse(),
                lambda x: x.clear(),
                lambda x: list.append(x, 7),
                lambda x: [*x, *other],
                lambda x: other + x,
                lambda x: x + other,
                lambda x: x * 2,
                lambda x: x[start:stop],
                lambda x: x.copy(),
                copy.copy,
                tuple,
                lambda x: [entry.clear() for entry in x if isinstance(entry, dict)],
                lambda x: [entry.append(1) for entry in x[start:stop] if isinstance(entry, list)],
                lambda x: json.dumps(x, sort_keys=True),
            ]
        )
    )


def change(twins: list[Any], data: st.DataObject) -> None:
    """Do one and the same thing to each of the twins, and find that it comes to the same."""
    paths: Paths = list(containers(twins[0]))
    path = data.draw(st.sampled_from(paths))
    others = [other for other in paths if not holds(at(twins[0], other), at(twins[0], path))]
    if others and data.draw(st.integers(0, 3)) == 0:
        other, key = data.draw(st.sampled_from(others)), data.draw(keys)
        for twin in twins:
            target, source = at(twin, path), at(twin, other)
            target.append(source) if isinstance(target, list) else target.update({key: source})
        return
    draw = draw_dict_change if isinstance(at(twins[0], path), dict) else draw_list_change
    act = draw(data)
    first, second = [act(at(twin, path)) for twin in twins]
    assert first == second


@settings(max_examples=300, deadline=None)
@given(bases, st.data())
def test_a_world_is_a_plain_dict_whatever_is_done_to_it(base: dict[str, Any], data: st.DataObject) -> None:
    shared, untouched = share(base), copy.deepcopy(base)
    twins: list[Any] = [copy.deepcopy(base), world_of(shared)]
    for _ in range(data.draw(st.integers(0, 8))):
        change(twins, data)
        if data.draw(st.integers(0, 4)) == 0:
            twins = copy.deepcopy(twins)
        reference, world = twins
        assert canonical_text(world) == canonical_text(reference)
        assert get_dict_hash(world) == get_dict_hash(reference)
    reference, world = twins
    assert world == reference
    assert list(world) == list(reference)
    assert json.dumps(world) == json.dumps(reference)
    assert repr(pickle.loads(pickle.dumps(world))) == repr(reference)
    assert repr(plain(world)) == repr(plain(reference))
    fresh = world_of(shared)
    assert get_dict_hash(fresh) == get_dict_hash(untouched)
    assert repr(fresh) == repr(untouched)
    assert compute_db_diff(fresh, world) == compute_db_diff(untouched, reference)
    assert diff_by_path(world, fresh) == diff_by_path(reference, untouched)
    assert repr(plain_copy(world)) == repr(reference)
