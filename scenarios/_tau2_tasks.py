"""Tasks of tau2 as they lie in its files: read, joined, and checked as far as they are used."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import BaseModel, TypeAdapter, ValidationError, field_validator

from pytest_voiceeval import data_path, find_data


class _Instructions(BaseModel):
    task_instructions: str
    reason_for_call: str
    known_info: str | None = None
    unknown_info: str | None = None


class _UserScenario(BaseModel):
    instructions: _Instructions


class _Action(BaseModel):
    name: str
    arguments: dict[str, Any] = {}
    requestor: str = "assistant"


class _Call(BaseModel):
    env_type: str
    func_name: str
    arguments: dict[str, Any] | None = None


class _Assertion(_Call):
    assert_value: Any = None
    message: str | None = None


class _InitialState(BaseModel):
    initialization_actions: list[_Call] | None = None


class _Criteria(BaseModel):
    actions: list[_Action] | None = None
    env_assertions: list[_Assertion] | None = None
    nl_assertions: list[str] | None = None


class _Record(BaseModel):
    id: str
    user_scenario: _UserScenario
    initial_state: _InitialState = _InitialState()
    evaluation_criteria: _Criteria

    @field_validator("initial_state", mode="before")
    @classmethod
    def _none_is_nothing(cls, state: Any) -> Any:
        return {} if state is None else state


@dataclass(frozen=True)
class BenchmarkTask:
    """One task.

    Attributes:
        id: as in the file.
        personality: how the caller is to behave.
        reason: why the caller calls.
        known, unknown: what the caller knows and does not know; empty if nothing is said.
        actions: its gold actions, each ``{"name", "arguments", "requestor"}``.
        initialization_actions: what happened to the worlds before the call; ``None`` if nothing did.
        db_state_assertions: what must be true of the worlds after it; ``None`` if nothing is said.
        nl_assertions: sentences that must be true of the call; ``None`` if there are none.
        splits: names of the splits that it is part of; ``None`` if the data say nothing of splits.
        persona_name: label of the voice that the benchmark gives to the caller.
    """

    id: str
    personality: str
    reason: str
    known: str
    unknown: str
    actions: tuple[Mapping[str, Any], ...]
    initialization_actions: list[dict[str, Any]] | None
    db_state_assertions: list[dict[str, Any]] | None
    nl_assertions: list[str] | None
    splits: frozenset[str] | None
    persona_name: str | None


def read_tasks(domain: str) -> list[BenchmarkTask]:
    """Return the tasks of ``domain`` that are meant to be spoken, by id.

    Raises:
        DataMissingError: if its data are not there.
        ValueError: if a file is there and is not as it must be.
    """
    records = _read(data_path(domain, "tasks.json"), TypeAdapter(list[_Record]))
    splits = _read(find_data(domain, "split_tasks.json"), TypeAdapter(dict[str, list[str]]))
    voices = _voices(find_data(domain, "tasks_voice.json"))
    return [
        _task(record, splits, None if voices is None else voices[record.id])
        for record in sorted(records, key=lambda record: _place(record.id))
        if voices is None or record.id in voices
    ]


def read_policy(domain: str, name: str) -> str:
    """Return a text that the agents of ``domain`` are given.

    Raises:
        DataMissingError: if it is not there.
        ValueError: if it cannot be read.
    """
    path = data_path(domain, name)
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, ValueError) as exc:
        raise ValueError(f"{path}: {exc}; pull it again") from None


def _task(record: _Record, splits: Mapping[str, list[str]] | None, persona: str | None) -> BenchmarkTask:
    told = record.user_scenario.instructions
    criteria = record.evaluation_criteria
    return BenchmarkTask(
        id=record.id,
        personality=told.task_instructions,
        reason=told.reason_for_call,
        known=told.known_info or "",
        unknown=told.unknown_info or "",
        actions=tuple(
            {
                "name": action.name,
                "arguments": action.arguments,
                "requestor": _side(action.requestor),
            }
            for action in criteria.actions or ()
        ),
        initialization_actions=_calls(record.initial_state.initialization_actions),
        db_state_assertions=_calls(criteria.env_assertions),
        nl_assertions=criteria.nl_assertions or None,
        splits=None if splits is None else frozenset(_holding(record.id, splits)),
        persona_name=persona,
    )


def _calls(records: Sequence[_Call] | None) -> list[dict[str, Any]] | None:
    """Return calls of functions with their side under the name that it has here; ``None`` for none."""
    calls = [record.model_dump() for record in records or ()]
    return [{"side": _side(call.pop("env_type")), **call} for call in calls] or None


def _side(name: str) -> str:
    """Return the side that the benchmark calls ``user`` or ``assistant``."""
    return "user" if name == "user" else "agent"


def _holding(task_id: str, splits: Mapping[str, list[str]]) -> Iterator[str]:
    return (name for name, ids in splits.items() if task_id in ids)


def _voices(path: Path | None) -> dict[str, str | None] | None:
    """Return the label of the caller's voice by id of the task; ``None`` if there is no such file.

    Only the tasks in it are meant to be spoken. The file is large, and hardly any of it is used.
    """
    whole = _read(path, TypeAdapter(dict[str, Any]))
    if whole is None:
        return None
    configs = whole.get("configs")
    if not isinstance(configs, dict):
        raise ValueError(f"{path}: 'configs' is missing; it maps ids of tasks to their voices")
    return {task_id: _persona(config) for task_id, config in configs.items()}


def _persona(config: Any) -> str | None:
    for key in ("configs", "control", "persona_name"):
        config = config.get(key) if isinstance(config, dict) else None
    return config if isinstance(config, str) else None


def _read(path: Path | None, form: TypeAdapter[Any]) -> Any:
    """Return what a JSON file holds in the given form; ``None`` if there is no such file."""
    if path is None:
        return None
    try:
        return form.validate_python(json.loads(path.read_text(encoding="utf-8")))
    except ValidationError as exc:
        first = exc.errors(include_url=False)[0]
        where = ".".join(map(str, first["loc"]))
        raise ValueError(f"{path}: {where}: {first['msg']}") from None
    except (OSError, ValueError) as exc:
        raise ValueError(f"{path}: {exc}") from None


def _place(task_id: str) -> tuple[int, int, str]:
    """Return what sorts ids: numbers by value, before any text."""
    return (0, int(task_id), "") if task_id.isdecimal() else (1, 0, task_id)
