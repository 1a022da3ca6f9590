"""Which of several roots data are found in."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from pytest_voiceeval.errors import DataError, DataMissingError
from pytest_voiceeval.world import roots
from pytest_voiceeval.world.artifacts import load_db_artifact
from pytest_voiceeval.world.roots import data_path, data_roots, find_data, get_eval_data_root
from pytest_voiceeval.world.telecom import TelecomUserDB

NAMES = ("first", "given", "user", "pack")


@pytest.fixture(autouse=True)
def _own_roots() -> Iterator[None]:
    kept = roots.kept_roots()
    roots.restore_roots(((), ()))
    yield
    roots.restore_roots(kept)


@pytest.fixture
def places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Path]:
    """Every root there is, with a database that names it."""
    folders = {name: tmp_path / name for name in NAMES}
    monkeypatch.setattr(roots, "user_data_root", lambda: folders["user"])
    for name, folder in folders.items():
        (folder / "shop").mkdir(parents=True)
        (folder / "shop" / "db.json").write_text(f'{{"root": "{name}"}}')
        (folder / "shop" / f"{name}.txt").write_text("")
    monkeypatch.setenv("EVAL_DATA_ROOT", str(folders["first"]))
    roots.use_data_root(folders["given"])
    roots.add_pack_root(folders["pack"])
    return folders


def test_roots_are_searched_in_order(places: dict[str, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    assert [root.name for root in data_roots()] == [*NAMES, "data"]
    found = []
    for take_away in (
        lambda: monkeypatch.delenv("EVAL_DATA_ROOT"),
        lambda: roots.use_data_root(None),
        (places["user"] / "shop" / "db.json").unlink,
        (places["pack"] / "shop" / "db.json").unlink,
    ):
        found.append(load_db_artifact("shop/db")["root"])
        assert data_path("shop", "db.json") == places[found[-1]] / "shop" / "db.json"
        take_away()
    assert found == list(NAMES)
    with pytest.raises(DataError, match="no database 'shop/db'"):
        load_db_artifact("shop/db")


def test_each_file_is_found_in_the_first_root_that_has_it(places: dict[str, Path]) -> None:
    for name, folder in places.items():
        assert data_path("shop", f"{name}.txt") == folder / "shop" / f"{name}.txt"
    assert data_path("shop") == places["first"] / "shop"
    assert find_data("shop", "none.txt") is None


def test_a_whole_database_of_one_root_comes_before_the_tables_of_the_next(places: dict[str, Path]) -> None:
    (places["first"] / "shop" / "db.json").unlink()
    (places["first"] / "shop" / "db").mkdir()
    (places["first"] / "shop" / "db" / "orders.json").write_text("{}")
    assert load_db_artifact("shop/db.json") == {"orders": {}}


def test_one_root_is_named_where_one_is_asked_for(
    places: dict[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert get_eval_data_root() == places["first"]
    monkeypatch.delenv("EVAL_DATA_ROOT")
    assert get_eval_data_root() == places["given"]
    roots.use_data_root(None)
    assert get_eval_data_root() == places["pack"]
    (places["user"] / "bank").mkdir()
    assert get_eval_data_root("bank") == places["user"]
    assert get_eval_data_root("nobody") == places["pack"]


def test_missing_data_of_a_benchmark_say_where_to_put_them(places: dict[str, Path]) -> None:
    remedy = (
        r"tau2_airline.* are not here: no tau2_airline/tasks\.json in .*first, .*; "
        r"get them by `python -m pytest_voiceeval data pull tau2`"
    )
    with pytest.raises(DataMissingError, match=remedy) as caught:
        data_path("tau2_airline", "tasks.json")
    assert caught.value.domain == "tau2_airline"
    with pytest.raises(
        DataMissingError, match=r"data pull eva --from PATH`, or .* by --voice-data-root or EVAL_DATA_ROOT"
    ):
        load_db_artifact("eva_airline/1.1.1.json")


def test_other_missing_data_are_an_error_that_names_the_places(places: dict[str, Path]) -> None:
    with pytest.raises(DataError, match=r"no shop/tasks\.json in .*first, .*EVAL_DATA_ROOT") as caught:
        data_path("shop", "tasks.json")
    assert not isinstance(caught.value, DataMissingError)


def test_a_first_root_that_is_no_folder_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EVAL_DATA_ROOT", "/nowhere/at/all")
    with pytest.raises(DataError, match="EVAL_DATA_ROOT=/nowhere/at/all: there is no such folder"):
        data_path("shop", "db.json")
    monkeypatch.setenv("EVAL_DATA_ROOT", "~nobody-of-that-name/data")
    with pytest.raises(DataError, match="there is no such folder"):
        data_path("shop", "db.json")


@pytest.mark.parametrize(
    "path",
    [("..", "x"), ("shop", "..", "..", "x"), ("shop", "/etc/passwd"), ("link", "x")],
)
def test_no_path_leaves_the_root_it_starts_from(places: dict[str, Path], path: tuple[str, ...]) -> None:
    (places["given"] / "link").symlink_to(places["given"].parent)
    with pytest.raises(DataError, match="leads out of the data root"):
        data_path(*path)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('[a]\nb = 1\nc = 2024-05-01\nd = 2024-05-01T07:32:00\ne = "x"', ""),
        ("a = nan", "nan is not a JSON value"),
        ("a =", r"db\.toml: not TOML"),
    ],
)
def test_a_database_may_be_toml(places: dict[str, Path], text: str, message: str) -> None:
    (places["first"] / "shop" / "db.json").unlink()
    (places["first"] / "shop" / "db.toml").write_text(text)
    if message:
        with pytest.raises(DataError, match=message):
            load_db_artifact("shop/db")
        return
    for name in ("shop/db", "shop/db.toml", "shop/db.json"):
        assert load_db_artifact(name) == {
            "a": {"b": 1, "c": "2024-05-01", "d": "2024-05-01T07:32:00", "e": "x"}
        }


def test_a_telecom_database_in_toml_has_what_it_leaves_out(places: dict[str, Path]) -> None:
    folder = places["first"] / "tau2_telecom"
    folder.mkdir()
    (folder / "user_db.toml").write_text("[device]\nbattery_level = 3")
    found = load_db_artifact("tau2_telecom/user_db")
    expected = TelecomUserDB.model_validate({"device": {"battery_level": 3}})
    assert found == expected.model_dump(mode="json")
    assert found["device"]["app_statuses"]["browser"]["permissions"]["network"] is True
    (folder / "user_db.toml").write_text("[device]\nbattery = 3")
    with pytest.raises(DataError, match=r"user_db\.toml: device\.battery: "):
        load_db_artifact("tau2_telecom/user_db")


def test_two_copies_of_a_benchmark_are_never_mixed(places: dict[str, Path]) -> None:
    for name in ("given", "user"):
        (places[name] / "tau2_retail").mkdir()
    (places["given"] / "tau2_retail" / "tasks.json").touch()
    (places["user"] / "tau2_retail" / "db.json").write_text("{}")
    assert data_path("tau2_retail", "tasks.json").is_relative_to(places["given"])
    assert find_data("tau2_retail", "db.json") is None
    with pytest.raises(DataMissingError, match=r"no database 'tau2_retail/db'.* in \S+/given; get them by"):
        load_db_artifact("tau2_retail/db")
    with pytest.raises(DataMissingError, match=r"no tau2_retail/db\.json in \S+/given; get them by"):
        data_path("tau2_retail", "db.json")


def test_another_process_searches_the_same_roots(
    places: dict[str, Path], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (places["user"] / "shop" / "db.json").unlink()
    here = data_roots()
    environment = roots.environment()
    assert "EVAL_DATA_ROOT" not in environment
    monkeypatch.delenv("EVAL_DATA_ROOT")
    assert roots.environment()["EVAL_DATA_ROOT"] == str(places["given"])
    roots.restore_roots(((), ()))
    monkeypatch.setattr(roots, "user_data_root", lambda: tmp_path / "another")
    for key, value in environment.items():
        monkeypatch.setenv(key, value)
    assert data_roots() == here


def test_roots_that_are_there_twice_are_searched_once(
    places: dict[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    link = places["first"].with_name("link")
    link.symlink_to(places["first"])
    roots.use_data_root(link)
    roots.add_pack_root(places["first"])
    assert data_roots().count(places["first"].resolve()) == 1


def test_the_user_s_data_directory_is_the_platform_s(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", "/somewhere")
    assert roots.user_data_root().parts[-2:] == ("pytest-voiceeval", "data")
