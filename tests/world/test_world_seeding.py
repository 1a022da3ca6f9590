from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from pytest_voiceeval.world import initialization
from pytest_voiceeval.world.registry import DomainRegistry
from pytest_voiceeval.world.seeding import seed


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("EVAL_DATA_ROOT", str(tmp_path))
    (tmp_path / "db.json").write_text('{"orders": {}}', encoding="utf-8")
    return tmp_path


@pytest.fixture
def functions(monkeypatch: pytest.MonkeyPatch) -> None:
    registry: DomainRegistry[Any] = DomainRegistry("initialization function")
    registry.add("coffee", "open_shop", lambda db, **arguments: db.update(arguments))
    monkeypatch.setattr(initialization, "INITIALIZATION_FUNCTIONS", registry)


@pytest.mark.usefixtures("root")
def test_a_database_is_loaded_from_its_path_and_the_path_is_gone() -> None:
    state: dict[str, Any] = {"kept": 1}
    assert seed(state, {"db_path": "db.json", "more": 2}, [], "coffee") == []
    assert state == {"kept": 1, "more": 2, "db": {"orders": {}}}


def test_a_database_that_is_given_is_taken_as_it_is() -> None:
    state: dict[str, Any] = {}
    assert seed(state, {"db": {"a": 1}, "db_path": "nowhere"}, [], "coffee") == []
    assert state == {"db": {"a": 1}}


@pytest.mark.usefixtures("functions")
def test_actions_run_on_the_database_and_each_error_is_told() -> None:
    state: dict[str, Any] = {}
    actions = [
        {"func_name": "open_shop", "arguments": {"open": True}},
        {"func_name": "close_shop", "arguments": {}},
    ]
    errors = seed(state, {"db": {}}, actions, "coffee")
    assert state["db"] == {"open": True}
    assert errors == [
        "no initialization function 'close_shop' in domain 'coffee'; registered: open_shop",
    ]


@pytest.mark.usefixtures("root")
@pytest.mark.parametrize(
    ("initial", "error"),
    [
        ({"db_path": "nowhere"}, "db_path: no database 'nowhere'"),
        ({}, "actions: there is no database to run them on"),
    ],
)
def test_without_a_database_no_action_is_run(initial: dict[str, Any], error: str) -> None:
    [told] = seed({}, initial, [{"func_name": "open_shop"}], "coffee")
    assert told.startswith(error)
