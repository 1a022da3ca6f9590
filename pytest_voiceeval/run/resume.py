"""What a run that was begun before has come to: which scenarios need not be held again."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

from pytest_voiceeval.run.words import ERROR

ResumeState = Literal["fresh", "in_flight", "completed"]

KILLED = ".killed."
"""Stands in the name of a folder that was moved aside: its call was broken off, or its process killed."""

KILLED_MARK = "__KILLED__"
"""An empty file in such a folder."""

REPLACED = ".replaced."
"""Stands in the name of a folder that was moved aside though its call came to its end: to no result that
counts, such as an error."""

ATTEMPT = ".attempt"
"""Stands in the name of a folder between the scenario's and the number of the attempt."""

_ATTEMPT = re.compile(rf"{re.escape(ATTEMPT)}\d+(\.\d+)?$")
_STAMP = re.compile(r"\d{8}_\d{6}")
_SIGNS = {"metrics.json", "item.json", "bridge_log.txt", "scenario_config"}


def classify_scenario_resume_state(
    scenario_directory: Path | str, min_agent_turns: int = 0
) -> tuple[ResumeState, str]:
    """Return what became of a scenario that leaves its files in a folder, and why.

    ``fresh``: it was never begun. ``in_flight``: it has no result that counts, and is to be held again: none
    was written, the call came to nothing, the agent answered fewer than ``min_agent_turns`` times, or a
    judge broke. ``completed``: with how the call stopped.
    """
    folder = Path(scenario_directory)
    if not folder.is_dir():
        return "fresh", "no subdir"
    path = folder / "metrics.json"
    if not path.exists():
        return "in_flight", "no metrics.json (in-flight)"
    try:
        metrics = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as exc:
        return "in_flight", f"metrics.json unreadable ({exc})"
    if not isinstance(metrics, dict):
        return "in_flight", f"metrics.json unreadable (it holds no object but {type(metrics).__name__})"
    return _state(metrics | {"scenario_directory": str(folder)}, min_agent_turns)


def _state(metrics: Mapping[str, Any], min_agent_turns: int) -> tuple[ResumeState, str]:
    from pytest_voiceeval.run.agent_turns import agent_turn_count  # noqa: PLC0415 - light start

    stop_reason = str(metrics.get("stop_reason") or "?")
    if not metrics.get("total_turns"):
        return "in_flight", "0 turns (bot crashed before audio)"
    count = agent_turn_count(metrics) if min_agent_turns > 0 else None
    if count is not None and count < min_agent_turns:
        return "in_flight", f"{count} agent LLM response(s) < {min_agent_turns} ({stop_reason})"
    if metrics.get("verdict") == ERROR:
        return "in_flight", f"judge error ({metrics.get('judge_error') or stop_reason})"
    return "completed", stop_reason


def scenario_folders(run: Path) -> list[Path]:
    """Return the folders in a run's folder that are a scenario's, sorted; none that was moved aside."""
    return sorted(path for path in run.iterdir() if _is_scenario_folder(path))


def _is_scenario_folder(path: Path) -> bool:
    if KILLED in path.name or REPLACED in path.name or _ATTEMPT.search(path.name) or not path.is_dir():
        return False
    try:
        names = {inner.name for inner in path.iterdir() if not inner.name.startswith(".")}
    except OSError:  # another process has moved it aside meanwhile
        return False
    return KILLED_MARK not in names and (not names or bool(names & _SIGNS))


def find_run(text: str, output_dir: Path, base: Path) -> Path:
    """Return the folder of the run that ``text`` names: its timestamp, its name, or its path from ``base``.

    Raises:
        ValueError: if there is none; the text says what there is.
    """
    text = text.strip().rstrip("/") or text.strip()
    if not text:
        raise ValueError("write the timestamp, the name or the folder of a run")
    name = f"eval_{text}" if _STAMP.fullmatch(text) else text
    candidates = [output_dir / name] if Path(name).name == name else []
    candidates.append(base / Path(text).expanduser())
    for folder in candidates:
        if folder.is_dir():
            if not _is_run(folder):
                raise ValueError(
                    "this folder holds no run: neither run_args.json nor the folder of a scenario; name the "
                    "eval_… folder that a run made"
                )
            return folder.resolve()
        if folder.exists():
            raise ValueError("this is a file; name the folder that the run made")
    raise ValueError(f"no such run; {_known_runs(output_dir)}")


def _is_run(folder: Path) -> bool:
    if folder.name.startswith("eval_") or (folder / "run_args.json").exists():
        return True
    return any((path / "scenario_config").is_dir() for path in folder.iterdir() if path.is_dir())


def _known_runs(output_dir: Path) -> str:
    runs = sorted(path.name for path in output_dir.glob("eval_*") if path.is_dir())
    if not runs:
        return f"there is none in {output_dir}"
    return f"the latest in {output_dir}: {', '.join(runs[-3:])}"
