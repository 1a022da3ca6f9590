"""Worlds over a shared database: plain dicts in all that is done with them, never in one another's way."""

from __future__ import annotations

import copy
import json
import pickle
from collections import ChainMap, OrderedDict
from collections.abc import Callable
from operator import itemgetter
from types import MappingProxyType
from typing import Any

import pydantic
import pytest

from pytest_voiceeval.world.diff import compute_db_diff, diff_by_path
from pytest_voiceeval.world.files import plain
from pytest_voiceeval.world.hashing import get_dict_hash
from pytest_voiceeval.world.overlay import is_shared, own, plain_copy, raw_values, share, unchanged, world_of


@pytest.fixture
def base() -> dict[str, Any]:
    return {
        "users": {"ann": {"name": "Ann", "cards": {"c1": {"amount": 10.0}}}, "bob": {"name": "Bob"}},
        "orders": {"1": {"items": [{"id": "x", "tags": ["none"]}, {"id": "y"}], "status": "pending"}},
        "log": [{"n": 1}, [2]],
    }


def test_worlds_of_one_base_do_not_see_one_another(base: dict[str, Any]) -> None:
    shared = share(base)
    one, other = world_of(shared), world_of(shared)
    one["users"]["ann"]["cards"]["c1"]["amount"] = 0
    one["orders"]["1"]["items"][0]["tags"].append("new")
    one["log"][1].append(3)
    assert other == base
    assert get_dict_hash(other) == get_dict_hash(base)
    assert get_dict_hash(one) != get_dict_hash(base)


def test_what_is_handed_out_twice_is_one_thing(base: dict[str, Any]) -> None:
    world = world_of(base)
    ann = world["users"]["ann"]
    assert world["users"].get("ann") is ann
    assert {**world["users"]}["ann"] is ann
    assert dict(world["users"].items())["ann"] is ann
    assert next(iter(world["users"].values())) is ann
    assert world["users"].copy()["ann"] is ann
    world["best"] = ann
    ann["name"] = "Anna"
    assert world["best"] == {"name": "Anna", "cards": {"c1": {"amount": 10.0}}}


@pytest.mark.parametrize(
    "read",
    [
        pytest.param(lambda users: users["ann"], id="[]"),
        pytest.param(lambda users: users.get("ann"), id="get"),
        pytest.param(lambda users: users.pop("ann"), id="pop"),
        pytest.param(lambda users: [users.popitem(), users.popitem()][1][1], id="popitem"),
        pytest.param(lambda users: users.setdefault("ann", {}), id="setdefault"),
        pytest.param(lambda users: next(iter(users.values())), id="values"),
        pytest.param(lambda users: next(iter(users.items()))[1], id="items"),
        pytest.param(lambda users: users.copy()["ann"], id="copy"),
        pytest.param(lambda users: copy.copy(users)["ann"], id="copy.copy"),
        pytest.param(lambda users: {**users}["ann"], id="**"),
        pytest.param(lambda users: dict(users)["ann"], id="dict"),
        pytest.param(lambda users: dict(**users)["ann"], id="keywords"),
        pytest.param(lambda users: (users | {"x": 1})["ann"], id="|"),
        pytest.param(lambda users: ({"x": 1} | users)["ann"], id="r|"),
        pytest.param(lambda users: (users | users)["ann"], id="both |"),
        pytest.param(lambda users: merged({}, users)["ann"], id="update"),
        pytest.param(lambda users: merged(users, users)["ann"], id="update of itself"),
        pytest.param(lambda users: ChainMap({}, users)["ann"], id="ChainMap"),
        pytest.param(lambda users: MappingProxyType(users)["ann"], id="proxy"),
        pytest.param(itemgetter("ann"), id="itemgetter"),
        pytest.param(lambda users: OrderedDict(users)["ann"], id="OrderedDict"),
        pytest.param(lambda users: copy.deepcopy(users)["ann"], id="deepcopy"),
        pytest.param(lambda users: pickle.loads(pickle.dumps(users))["ann"], id="pickle"),
    ],
)
def test_what_is_handed_out_may_be_changed(base: dict[str, Any], read: Callable[[Any], Any]) -> None:
    shared = share(base)
    ann = read(world_of(shared)["users"])
    ann["name"] = "Anna"
    ann["cards"]["c1"]["amount"] = 0
    assert world_of(shared) == shared == base


def merged(target: dict[str, Any], other: dict[str, Any]) -> dict[str, Any]:
    target.update(other)
    return target


def test_aliases_in_a_world_stay_aliases_in_its_copy(base: dict[str, Any]) -> None:
    world = world_of(base)
    world["best"] = world["users"]["ann"]
    twin = copy.deepcopy(world)
    twin["best"]["name"] = "Anna"
    assert twin["users"]["ann"]["name"] == "Anna"
    assert world["users"]["ann"]["name"] == "Ann"


@pytest.mark.parametrize("part", [{}, []])
def test_an_empty_part_and_its_copy_are_unchanged(part: Any) -> None:
    shared = share({"empty": part})
    world = world_of(shared)
    assert world["empty"] == part
    assert unchanged(copy.deepcopy(world)["empty"]) is shared["empty"]


def test_an_empty_object_in_place_of_nothing_is_a_change() -> None:
    base = {"seat": {"of": None}}
    world = world_of(base)
    world["seat"]["of"] = type(world)()
    assert get_dict_hash(world) == get_dict_hash({"seat": {"of": {}}})
    assert compute_db_diff(base, world) == compute_db_diff(base, {"seat": {"of": {}}})


def test_a_change_and_its_undoing_leave_no_trace(base: dict[str, Any]) -> None:
    shared = share(base)
    world = world_of(shared)
    order = world["orders"]["1"]
    order["status"], before = "cancelled", order["status"]
    assert unchanged(world) is None
    order["status"] = before
    assert unchanged(world) is shared
    world["users"]["carl"] = world["users"].pop("bob")
    assert unchanged(world) is None


def test_a_key_that_is_no_text_hashes_as_in_a_plain_dict(base: dict[str, Any]) -> None:
    world = world_of({"a": {"x": {}}, "b": {}})
    world["b"][1] = {}
    assert get_dict_hash(world) == get_dict_hash({"a": {"x": {}}, "b": {1: {}}})
    world["a"][None] = 1
    with pytest.raises(TypeError):
        get_dict_hash(world)


def test_a_world_holds_what_json_has() -> None:
    for value in ({"a": {1}}, {"a": [(1, 2)]}, {"a": {2: 1}}, {"a": b"x"}):
        with pytest.raises(TypeError):
            world_of(value)


def test_shared_parts_refuse_to_be_changed(base: dict[str, Any]) -> None:
    part = share(base)
    for act in (
        lambda: part.update(a=1),
        lambda: part.__setitem__("a", 1),
        lambda: part.pop("users"),
        lambda: part["log"].append(1),
        lambda: part["log"].__delitem__(0),
        part["log"].sort,
    ):
        with pytest.raises(TypeError, match="shared by all its worlds"):
            act()
    mine = copy.deepcopy(part["orders"])
    mine["1"]["items"][0]["id"] = "z"
    assert part == base
    assert own(5) == 5


def test_pydantic_takes_a_record_for_an_object(base: dict[str, Any]) -> None:
    class Order(pydantic.BaseModel):
        items: list[dict[str, Any]]
        status: str

    world = world_of(base)
    order = Order.model_validate(world["orders"]["1"])
    assert order.model_dump() == base["orders"]["1"]
    assert json.loads(order.model_dump_json()) == base["orders"]["1"]
    assert pydantic.TypeAdapter(Any).dump_json(world) == pydantic.TypeAdapter(Any).dump_json(base)


def test_a_match_statement_sees_an_object(base: dict[str, Any]) -> None:
    match world_of(base):
        case {"users": {"ann": {"name": name, **rest}}}:
            rest["cards"]["c1"]["amount"] = 0
            assert name == "Ann"
        case _:
            pytest.fail("no match")
    assert base["users"]["ann"]["cards"]["c1"]["amount"] == 10.0


def test_looking_for_a_hash_or_a_difference_copies_nothing(base: dict[str, Any]) -> None:
    shared = share(base)
    one, other = world_of(shared), world_of(shared)
    one["users"]["ann"]["name"] = "Anna"
    assert diff_by_path(other, one) == ['users.ann.name: "Ann" → "Anna"']
    assert compute_db_diff(other, one)["tables_modified"].keys() == {"users"}
    assert get_dict_hash(other) != get_dict_hash(one)
    assert json.loads(json.dumps(plain(one))) == plain_copy(one) == one
    assert all(map(is_shared, raw_values(other)))
    assert [is_shared(value) for value in raw_values(one)] == [False, True, True]
