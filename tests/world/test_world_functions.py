"""Initialisation functions, predicates and sync appliers: registering and running them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from pytest_voiceeval.errors import DuplicateNameError
from pytest_voiceeval.world import initialization, predicates, sync
from pytest_voiceeval.world.initialization import register_initialization_function, run_initialization_actions
from pytest_voiceeval.world.predicates import register_db_state_predicate
from pytest_voiceeval.world.registry import DomainRegistry
from pytest_voiceeval.world.sync import apply_delta, register_sync_applier


@pytest.fixture(autouse=True)
def _own_registries(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(initialization, "INITIALIZATION_FUNCTIONS", DomainRegistry("initialization function"))
    monkeypatch.setattr(predicates, "PREDICATES", DomainRegistry("predicate"))
    monkeypatch.setattr(sync, "SYNC_APPLIERS", DomainRegistry("sync applier"))


def turn_on(db: dict[str, Any], switch: str = "light") -> None:
    db[switch] = "on"


def breaks(db: dict[str, Any]) -> None:
    db["touched"] = True
    raise LookupError("no fuse")


def action(name: str, **arguments: Any) -> dict[str, Any]:
    return {"func_name": name, "arguments": arguments, "side": "user"}


def test_actions_run_in_order_on_the_database() -> None:
    assert register_initialization_function("home")(turn_on) is turn_on
    register_initialization_function("home", "rename")(lambda db, to: db.update({to: db.pop("light")}))
    db: dict[str, Any] = {}
    assert run_initialization_actions("home", db, [action("turn_on"), action("rename", to="lamp")]) == []
    assert db == {"lamp": "on"}


def test_a_failing_action_stops_nothing_and_keeps_what_it_did() -> None:
    register_initialization_function("home")(turn_on)
    register_initialization_function("home")(breaks)
    db: dict[str, Any] = {}
    errors = run_initialization_actions("home", db, [action("breaks"), action("turn_on")])
    assert errors == ["breaks: LookupError: no fuse"]
    assert db == {"touched": True, "light": "on"}


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        pytest.param(
            action("turn_off"),
            "no initialization function 'turn_off' in domain 'home'; registered: turn_on",
            id="unknown",
        ),
        pytest.param({"arguments": {}}, "no initialization function None", id="no name"),
        pytest.param(
            {"func_name": "turn_on", "arguments": [1]}, "turn_on: arguments are an object", id="arguments"
        ),
        pytest.param("turn_on", "an initialization action is an object", id="text"),
        pytest.param(action("turn_on", volume=3), "turn_on: TypeError: ", id="argument too many"),
    ],
)
def test_a_bad_action_is_told_in_words(bad: Any, message: str) -> None:
    register_initialization_function("home")(turn_on)
    (error,) = run_initialization_actions("home", {}, [bad])
    assert error.startswith(message)


def test_null_arguments_are_none() -> None:
    register_initialization_function("home")(turn_on)
    assert run_initialization_actions("home", {}, [{"func_name": "turn_on", "arguments": None}]) == []


def test_domains_share_no_functions() -> None:
    register_initialization_function("home")(turn_on)
    (error,) = run_initialization_actions("office", {}, [action("turn_on")])
    assert error == "no initialization function 'turn_on' in domain 'office'; registered: none"


REGISTERS: list[Any] = [
    pytest.param(lambda name: register_initialization_function("home", name), id="initialization"),
    pytest.param(lambda name: register_db_state_predicate("home", name), id="predicate"),
    pytest.param(lambda name: register_sync_applier("home"), id="applier"),
]


@pytest.mark.parametrize("register", REGISTERS)
def test_a_name_is_registered_once_in_a_domain(register: Callable[[str], Callable[[Any], Any]]) -> None:
    register("switch")(turn_on)
    with pytest.raises(DuplicateNameError, match=r"test_world_functions\.py:\d+: .*first time at .*:\d+;"):
        register("switch")(breaks)


@pytest.mark.parametrize("register", REGISTERS)
def test_a_module_may_be_imported_again(register: Callable[[str], Callable[[Any], Any]]) -> None:
    source = compile("def switch(db): pass", str(Path(__file__).with_name("pack.py")), "exec")
    functions = []
    for _ in range(2):
        namespace: dict[str, Any] = {}
        exec(source, namespace)  # what two imports of one file come to
        functions.append(register("switch")(namespace["switch"]))
    assert functions[0] is not functions[1]


def test_partials_are_only_the_same_as_themselves() -> None:
    once = partial(turn_on, switch="a")
    register_db_state_predicate("home", "switch")(once)
    register_db_state_predicate("home", "switch")(once)
    with pytest.raises(DuplicateNameError):
        register_db_state_predicate("home", "switch")(partial(turn_on, switch="a"))


def test_a_delta_is_assigned_by_dotted_path() -> None:
    db = {"surroundings": {"line": {"active": False}}, "x": 1}
    assert apply_delta("home", db, {"surroundings.line.active": True, "x": None, "new": [1]}) == []
    assert db == {"surroundings": {"line": {"active": True}}, "x": None, "new": [1]}


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("a.missing.c", "a.missing.c: there is no 'missing' on the way"),
        ("a.b.c.d", "a.b.c.d: there is no 'c' on the way"),
        ("a.b.c", "a.b.c: 'c' cannot be set, what holds it is no object"),
    ],
)
def test_a_path_that_leads_nowhere_is_told_and_the_rest_applied(path: str, message: str) -> None:
    db = {"a": {"b": 1}}
    assert apply_delta("home", db, {path: 1, "a.b": 2}) == [message]
    assert db == {"a": {"b": 2}}


def test_a_domain_may_apply_deltas_its_own_way() -> None:
    @register_sync_applier("home")
    def upper(db: dict[str, Any], delta: Mapping[str, Any]) -> None:
        db.update({key.upper(): value for key, value in delta.items()})
        if "bad" in delta:
            raise ValueError("bad is not allowed")

    db: dict[str, Any] = {}
    assert apply_delta("home", db, {"a": 1}) == []
    assert apply_delta("home", db, {}) == []
    assert apply_delta("home", db, {"bad": 1}) == ["sync applier of home: ValueError: bad is not allowed"]
    assert db == {"A": 1, "BAD": 1}


@pytest.mark.parametrize("delta", [None, [], "a"], ids=["null", "list", "text"])
def test_a_delta_that_is_no_object_is_refused(delta: Any) -> None:
    (error,) = apply_delta("home", {}, delta)
    assert error.startswith("a delta is an object")
