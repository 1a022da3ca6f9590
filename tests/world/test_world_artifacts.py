from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from pytest_voiceeval.errors import DataError
from pytest_voiceeval.world.artifacts import load_db_artifact
from pytest_voiceeval.world.roots import get_eval_data_root, resolve_under_root


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty data root with something beside it."""
    (tmp_path / "outside.json").write_text("{}")
    folder = tmp_path / "data"
    folder.mkdir()
    monkeypatch.setenv("EVAL_DATA_ROOT", str(folder))
    return folder


def test_the_data_root_is_the_environments_first(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert get_eval_data_root() == root
    monkeypatch.setenv("EVAL_DATA_ROOT", "")
    assert get_eval_data_root().name == "data"
    monkeypatch.delenv("EVAL_DATA_ROOT")
    assert get_eval_data_root().is_dir()


@pytest.mark.parametrize("path", ["shop/db", "shop/db.json"])
def test_one_file_is_a_database(root: Path, path: str) -> None:
    (root / "shop").mkdir()
    (root / "shop" / "db.json").write_text('{"orders": {"É": 1}}', encoding="utf-8")
    assert load_db_artifact(path) == {"orders": {"É": 1}}


@pytest.mark.parametrize("path", ["shop/db", "shop/db/", "shop/db.json"])
def test_a_folder_with_a_file_for_each_table_is_a_database(root: Path, path: str) -> None:
    (root / "shop" / "db").mkdir(parents=True)
    (root / "shop" / "db" / "orders.json").write_text('{"1": {}}')
    (root / "shop" / "db" / "customers.json").write_text("[1]")
    (root / "shop" / "db" / "README.md").write_text("not a table")
    assert load_db_artifact(path) == {"orders": {"1": {}}, "customers": [1]}


def test_the_single_file_wins(root: Path) -> None:
    (root / "db").mkdir()
    (root / "db" / "orders.json").write_text("{}")
    (root / "db.json").write_text('{"single": 1}')
    assert load_db_artifact("db") == {"single": 1}


def test_each_load_is_a_fresh_copy(root: Path) -> None:
    (root / "db.json").write_text('{"orders": {}}')
    load_db_artifact("db")["orders"]["1"] = {}
    assert load_db_artifact("db") == {"orders": {}}


def test_a_database_that_changed_on_disk_is_read_again(root: Path) -> None:
    (root / "db").mkdir()
    (root / "db" / "orders.json").write_text('{"1": {}}')
    before = load_db_artifact("db")
    (root / "db" / "orders.json").write_text('{"1": {}, "2": {}}')
    (root / "db" / "customers.json").write_text("{}")
    assert load_db_artifact("db") == {"orders": {"1": {}, "2": {}}, "customers": {}}
    assert before == {"orders": {"1": {}}}
    (root / "db.json").write_text('{"orders": {}}')
    assert load_db_artifact("db") == {"orders": {}}


def test_an_unchanged_database_is_read_once(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (root / "db.json").write_text('{"orders": {}}')
    load_db_artifact("db")
    monkeypatch.setattr(Path, "read_text", lambda *_, **__: pytest.fail("read again"))
    assert load_db_artifact("db") == {"orders": {}}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        pytest.param('{"a":\n 1;}', r"db\.json:2:3: not JSON", id="place of the fault"),
        pytest.param("[1]", r"db\.json: a database is a JSON object, this is list", id="list"),
        pytest.param('{"a": NaN}', r"db\.json: NaN is not a JSON value", id="NaN"),
        pytest.param('{"a":' + "[" * 99_999 + "]" * 99_999 + "}", r"db\.json: .*recursion", id="bottomless"),
        pytest.param(b"\xff", r"db\.json:1:1: .*UTF-8", id="not text"),
    ],
)
def test_a_broken_file_is_named(root: Path, content: str | bytes, message: str) -> None:
    (root / "db.json").write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(DataError, match=message):
        load_db_artifact("db")


def test_missing_data_name_both_places_and_the_remedy(root: Path) -> None:
    with pytest.raises(DataError, match=r"no database 'shop/db': .*db\.json.*shop/db.*EVAL_DATA_ROOT"):
        load_db_artifact("shop/db")


@pytest.mark.parametrize("path", ["", ".json", "/"])
def test_the_root_itself_is_no_database(root: Path, path: str) -> None:
    (root / "db.json").write_text("{}")
    with pytest.raises(DataError):
        load_db_artifact(path)


@pytest.mark.parametrize("path", ["../outside.json", "a/../../outside", "/etc/passwd", "..", "link/outside"])
def test_no_path_leads_out_of_the_root(root: Path, path: str) -> None:
    (root / "link").symlink_to(root.parent)
    with pytest.raises(DataError, match="leads out of the data root"):
        load_db_artifact(path)
    with pytest.raises(DataError, match="leads out of the data root"):
        resolve_under_root(path)


@pytest.mark.parametrize("path", [None, 5, "a\0b"], ids=["none", "number", "null byte"])
def test_what_is_no_path_is_refused(root: Path, path: Any) -> None:
    with pytest.raises(DataError):
        load_db_artifact(path)
    with pytest.raises(DataError, match="is not a path"):
        resolve_under_root(path)


def test_absolute_paths_within_the_root_are_paths(root: Path) -> None:
    assert resolve_under_root(root / "a" / ".." / "b") == root.resolve() / "b"
