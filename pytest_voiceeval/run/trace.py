"""Figures that an agent leaves of its own work: taken over into the metrics as they are."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

from pytest_voiceeval.bridge.endpoint import Endpoint, Traced

FILE = "trace_metrics.json"
LOG_FOLDER = "bot_logs_agent"

MAX_BYTES = 16 * 1024 * 1024
"""Largest file that is taken over: it stands once more in the metrics of the run."""


def trace_metrics(folder: Path) -> dict[str, Any]:
    """Return ``trace_metrics`` for ``metrics.json``, or ``trace_metrics_error``; empty if there is no file.

    The file is ``trace_metrics.json`` of the scenario's folder, else the one in ``bot_logs_agent``.
    """
    present = [
        path for path in (folder / FILE, folder / LOG_FOLDER / FILE) if path.exists() or path.is_symlink()
    ]
    if not present:
        return {}
    path = present[0]
    name = path.relative_to(folder)
    if path.is_symlink():
        return {"trace_metrics_error": f"{name} is a link, which is not followed: left out"}
    try:
        size = path.stat().st_size
        if size > MAX_BYTES:
            return {"trace_metrics_error": f"{name} has {size} bytes, more than {MAX_BYTES}: left out"}
        return {"trace_metrics": json.loads(path.read_text(encoding="utf-8"))}
    except (OSError, ValueError, RecursionError) as exc:
        return {"trace_metrics_error": f"{name} is not JSON that can be read: {exc}"}


def expect_trace(agent: Endpoint) -> None:
    """Have no trace of an earlier call taken for one of the next."""
    if isinstance(agent, Traced):
        agent.trace_file.unlink(missing_ok=True)


def collect_trace(agent: Endpoint, folder: Path) -> None:
    """Move the trace that ``agent`` has left of a call, if there is one, into the scenario's ``folder``."""
    if isinstance(agent, Traced) and agent.trace_file.is_file() and not agent.trace_file.is_symlink():
        target = folder / LOG_FOLDER / FILE
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.move(agent.trace_file, target)
