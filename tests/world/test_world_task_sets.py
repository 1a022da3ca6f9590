from __future__ import annotations

import hashlib
import os
from pathlib import Path

import pytest

from pytest_voiceeval.world.task_sets import task_set_sha256


def test_a_task_set_is_told_by_the_hash_of_its_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EVAL_DATA_ROOT", str(tmp_path))
    tasks = tmp_path / "tau2_retail" / "tasks.json"
    tasks.parent.mkdir()
    for number, content in enumerate((b"[]", b"[{}]"), 1):
        tasks.write_bytes(content)
        os.utime(tasks, ns=(number, number))
        assert task_set_sha256("tau2_retail") == hashlib.sha256(content).hexdigest()
    assert task_set_sha256("tau2_airline") is None
    assert task_set_sha256("restaurant") is None
