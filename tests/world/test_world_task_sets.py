from __future__ import annotations

import hashlib
import os
import shutil
from pathlib import Path

import pytest

from pytest_voiceeval.world.task_sets import data_set, split_sizes, unknown_data

SHARED = Path(__file__).parents[2].parent / "shared" / "data"


def test_a_task_set_is_told_by_the_hash_of_its_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EVAL_DATA_ROOT", str(tmp_path))
    tasks = tmp_path / "tau2_retail" / "tasks.json"
    tasks.parent.mkdir()
    for number, content in enumerate((b"[]", b"[{}]"), 1):
        tasks.write_bytes(content)
        os.utime(tasks, ns=(number, number))
        found = data_set("tau2_retail")
        assert found is not None
        assert found.tasks_sha256 == hashlib.sha256(content).hexdigest()
        listed = f"{found.tasks_sha256}  tasks.json\n"
        assert found.sha256 == hashlib.sha256(listed.encode()).hexdigest()
    assert data_set("tau2_airline") is None
    assert data_set("restaurant") is None


def test_other_data_are_another_set_and_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EVAL_DATA_ROOT", str(tmp_path))
    folder = tmp_path / "tau2_retail"
    folder.mkdir()
    (folder / "tasks.json").write_text("[]")
    (folder / "LICENSE").write_text("x")
    before = data_set("tau2_retail")
    (folder / "db.json").write_text("{}")
    after = data_set("tau2_retail")
    assert before is not None
    assert after is not None
    assert before.tasks_sha256 == after.tasks_sha256
    assert before.sha256 != after.sha256
    assert list(unknown_data(["restaurant__a", "tau2_retail__1", "tau2_retail__2"])) == [
        "the data of tau2_retail are not as in any known release (db.json and 1 more): figures on them are "
        "not known to compare"
    ]
    assert not list(unknown_data(["restaurant__a", "tau2_retailer__1"]))


@pytest.mark.skipif(not SHARED.is_dir(), reason="the benchmarks' data are not here")
@pytest.mark.parametrize("domain", ["tau2_airline", "tau2_retail", "tau2_telecom", "eva_airline"])
def test_data_of_a_release_are_known_and_less_of_them_are_not(
    domain: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EVAL_DATA_ROOT", str(tmp_path))
    shutil.copytree(SHARED / domain, tmp_path / domain)
    assert not list(unknown_data([f"{domain}__1"]))
    victim = "1.1.2.json" if domain == "eva_airline" else "tasks_voice.json"
    (tmp_path / domain / victim).unlink()
    assert list(unknown_data([f"{domain}__1"]))


def test_splits_are_told_by_size_as_far_as_the_data_tell_of_any(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EVAL_DATA_ROOT", str(tmp_path))
    path = tmp_path / "tau2_telecom" / "split_tasks.json"
    assert split_sizes("tau2_telecom") == split_sizes("restaurant") == {}
    path.parent.mkdir()
    path.write_text('{"base": ["1", "2"], "none": []}')
    assert split_sizes("tau2_telecom") == split_sizes("tau2_telecom_workflow") == {"base": 2, "none": 0}
    for broken in (b"[]", b'{"base": 1}', b"\xff", b"{"):
        path.write_bytes(broken)
        assert split_sizes("tau2_telecom") == {}
