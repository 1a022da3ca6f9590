"""Which tasks of a benchmark are here: releases of one differ, and their figures do not compare."""

from __future__ import annotations

import hashlib
from functools import lru_cache
from pathlib import Path

from pytest_voiceeval.world.roots import find_data

TASK_FILES = {
    "tau2_airline": "tasks.json",
    "tau2_retail": "tasks.json",
    "tau2_telecom": "tasks.json",
    "eva_airline": "eva_airline_dataset.jsonl",
}
"""The file that has the tasks of a benchmark's domain."""


def task_set_sha256(domain: str) -> str | None:
    """Return the SHA-256 of the file that has the tasks of ``domain``; ``None`` if it is no benchmark's.

    Also if the file is not here.
    """
    name = TASK_FILES.get(domain)
    path = find_data(domain, name) if name else None
    return _sha256(path, path.stat().st_mtime_ns) if path else None


@lru_cache(16)
def _sha256(path: Path, changed_at: int) -> str:
    """Return the SHA-256 of a file as it was at ``changed_at``, in nanoseconds."""
    return hashlib.sha256(path.read_bytes()).hexdigest()
