"""What ``data pull`` refuses, replaces and clears, and what ``data list`` tells."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest
from benchmark_sources import (
    EVA,
    SHARED,
    TASKS,
    Out,
    checkout,
    files_below,
    refused,
    written,
)

from pytest_voiceeval.__main__ import main

pytestmark = pytest.mark.usefixtures("root")


@pytest.mark.parametrize(
    ("changed", "complaint"),
    [
        ({"retail_policy_md": None}, "the data of tau2_retail are not whole: no policy.md beside "),
        ({"airline_db_json": None}, "no db.json (or a folder db with JSON files) beside "),
        ({"airline_db_json": '{"users": {}}'}, "db.json of tau2_airline has no flights, reservations; take "),
        (
            {"retail_tasks_json": '[{"id": "7"}]'},
            "tasks.json of tau2_retail: not a list of tasks with ids (Key",
        ),
        (
            {"telecom_split_tasks_json": "[1]"},
            "split_tasks.json of tau2_telecom: an object of lists of ids is ",
        ),
        ({"telecom_user_db_toml": None}, "tau2_telecom are not whole: no user_db.json (or .toml) beside "),
        ({"telecom_split_tasks_json": None}, "tau2_telecom are not whole: no split_tasks.json beside "),
        ({"telecom_db_toml": "["}, "db.toml: not TOML: "),
        ({"telecom_db_toml": "[[lines]]\nline_id = 1"}, "db.toml: lines.0.line_id: Input should be"),
        ({"telecom_user_db_toml": "[device]\ncolour = 1"}, "user_db.toml: device.colour: Extra inputs"),
        ({"retail_db_json": "{"}, "retail/db.json: not JSON: "),
        ({"retail_tasks_json": "{}"}, "tasks.json of tau2_retail: not a list of tasks with ids"),
        ({"retail_tasks_json": "[1]"}, "tasks.json of tau2_retail: not a list of tasks with ids"),
        ({"retail_policy_md": "caf\udce9"}, "retail/policy.md: not UTF-8: "),
        ({"retail_tasks_json": "[]"}, "tasks.json of tau2_retail: it has no tasks"),
    ],
)
def test_a_bad_source_is_one_error_and_changes_nothing(
    tmp_path: Path, root: Path, capsys: Out, changed: dict[str, str | None], complaint: str
) -> None:
    assert main(["data", "pull", "tau2", "--from", str(checkout(tmp_path / "good"))]) == 0
    capsys.readouterr()
    before = files_below(root)
    source = checkout(tmp_path / "bad", airline_policy_md="Be other.", **changed)
    assert complaint in refused(capsys, "pull", "tau2", "--from", str(source))
    assert files_below(root) == before


def test_a_place_without_data_is_told_with_what_was_looked_for(tmp_path: Path, capsys: Out) -> None:
    error = refused(capsys, "pull", "tau2", "--from", str(tmp_path))
    for place in ("data/tau2/domains/airline/tasks.json", "tau2_airline/tasks.json", "airline/tasks.json"):
        assert str(tmp_path / place) in error
    error = refused(capsys, "pull", "eva", "--from", str(tmp_path))
    assert f"{tmp_path / 'data/airline_dataset.jsonl'}, {tmp_path / 'eva_airline'}" in error
    assert "there is no such folder" in refused(capsys, "pull", "eva", "--from", str(tmp_path / "nowhere"))
    assert "by --from PATH" in refused(capsys, "pull", "eva")


def test_eva_without_a_database_of_a_scenario_is_refused(tmp_path: Path, capsys: Out) -> None:
    source = written(tmp_path / "eva", EVA)
    (source / "data/airline_scenarios/1.1.3.json").unlink()
    error = refused(capsys, "pull", "eva", "--from", str(source))
    assert "1 of 2 databases are not there, such as 1.1.3.json" in error


def test_a_copy_is_replaced_as_a_whole(tmp_path: Path, root: Path) -> None:
    written(root / "tau2_airline", {"stale.json": "{}"})
    source = written(tmp_path / "kept", SHARED)
    for _ in range(2):
        assert main(["data", "pull", "tau2", "--from", str(source)]) == 0
        assert "stale.json" not in files_below(root / "tau2_airline")
        assert [path.name for path in root.iterdir()] == ["tau2_airline"]


def test_a_copy_comes_back_if_the_new_one_cannot_take_its_place(
    tmp_path: Path, root: Path, monkeypatch: pytest.MonkeyPatch, capsys: Out
) -> None:
    written(root / "tau2_airline", {"old.json": "{}"})
    rename = Path.rename

    def fails(self: Path, target: Path) -> Path:
        if self.suffix == ".part":
            raise OSError("the disk is gone")
        return rename(self, target)

    monkeypatch.setattr(Path, "rename", fails)
    error = refused(capsys, "pull", "tau2", "--from", str(written(tmp_path / "kept", SHARED)))
    assert "the disk is gone" in error
    assert files_below(root) == {"tau2_airline/old.json": b"{}"}


def test_the_list_tells_what_is_here_and_what_to_type(
    tmp_path: Path, root: Path, monkeypatch: pytest.MonkeyPatch, capsys: Out
) -> None:
    source = written(tmp_path / "kept", SHARED)
    written(source, {"tau2_airline/split_tasks.json": '{"base": ["1"]}'})
    assert main(["data", "pull", "tau2", "--from", str(source)]) == 0
    capsys.readouterr()
    assert main(["data", "list"]) == 0
    out = capsys.readouterr().out
    folder = root / "tau2_airline"
    place = f"{folder} (the user's data directory)"
    assert (
        f"tau2_airline: 2 tasks (1 in split base), unknown from {source}, in {place}\n  figures on these data"
        in out
    )
    assert "tau2_retail: not here; type: python -m pytest_voiceeval data pull tau2\n" in out
    assert "eva_airline: not here; type: python -m pytest_voiceeval data pull eva --from PATH\n" in out
    written(folder, {"policy.md": "Be rude.", "MANIFEST.json": (folder / "MANIFEST.json").read_text()})
    assert main(["data", "list"]) == 0
    assert "\n  changed since it was pulled: policy.md\n" in capsys.readouterr().out
    written(folder, {"tasks.json": "[", "MANIFEST.json": "{}"})
    assert main(["data", "list"]) == 0
    out = capsys.readouterr().out
    assert "tau2_airline: 0 tasks (1 in split base), of no known release, in " in out
    assert "tasks.json cannot be read: " in out
    assert "MANIFEST.json cannot be read" in out
    monkeypatch.setenv("EVAL_DATA_ROOT", str(source))
    assert main(["data", "list"]) == 0
    assert f"in {source / 'tau2_airline'} (EVAL_DATA_ROOT)\n" in capsys.readouterr().out


def test_data_that_another_root_hides_are_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Out
) -> None:
    source = written(tmp_path / "kept", SHARED)
    monkeypatch.setenv("EVAL_DATA_ROOT", str(source))
    assert main(["data", "pull", "tau2", "--from", str(source)]) == 0
    hiding = f"  not used: {source / 'tau2_airline'} (EVAL_DATA_ROOT) comes before it\n"
    assert hiding in capsys.readouterr().out
    monkeypatch.delenv("EVAL_DATA_ROOT")
    assert main(["data", "pull", "tau2", "--from", str(source)]) == 0
    assert "not used" not in capsys.readouterr().out


@pytest.mark.skipif(shutil.which("git") is None, reason="needs git")
def test_the_version_of_a_checkout_is_what_git_calls_it(tmp_path: Path, root: Path) -> None:
    source = checkout(tmp_path / "bench")
    settings = ("-c", "user.name=me", "-c", "user.email=me@localhost", "-c", "commit.gpgsign=false")
    for command in (("init", "-q"), ("add", "."), ("commit", "-q", "-m", "all"), ("tag", "v7")):
        subprocess.run(["git", "-C", str(source), *settings, *command], check=True)
    assert main(["data", "pull", "tau2", "--from", str(source)]) == 0
    assert json.loads((root / "tau2_retail" / "MANIFEST.json").read_text())["version"] == "v7"


@pytest.mark.parametrize("command", ["pull", "list"])
def test_what_a_killed_pull_left_is_removed(tmp_path: Path, root: Path, capsys: Out, command: str) -> None:
    source = checkout(tmp_path / "bench")
    (root / ".tau2_airline.x1.part").mkdir(parents=True)
    written(root, {".tau2_retail.x1.old/tau2_retail/tasks.json": TASKS})
    assert main(["data", *(["pull", "tau2", "--from", str(source)] if command == "pull" else ["list"])]) == 0
    names = ["tau2_airline", "tau2_retail", "tau2_telecom"] if command == "pull" else ["tau2_retail"]
    assert sorted(path.name for path in root.iterdir()) == names
    assert "tau2_retail: 2 tasks" in capsys.readouterr().out
