"""The folders of scenarios in a run that was begun before, told apart by whose they are."""

from __future__ import annotations

import os
import re
from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from pathlib import Path
from typing import Any

from pytest_voiceeval.run.files import claim_folder, file_name, read_json
from pytest_voiceeval.run.history import read_invocations
from pytest_voiceeval.run.item_outcomes import read_outcomes
from pytest_voiceeval.run.resume import (
    KILLED,
    KILLED_MARK,
    REPLACED,
    ResumeState,
    classify_scenario_resume_state,
    scenario_folders,
)
from pytest_voiceeval.run.words import BROKEN_OFF, NOT_RUN
from pytest_voiceeval.world.files import write_json, write_text

ITEM_FILE = "item.json"
CALL_IS_OVER = "call_is_over"
STAMP_LENGTH = len("20261130_141734")


@dataclass(frozen=True)
class ItemNote:
    """Whose a folder is.

    Attributes:
        item: name of the scenario's item, or the node id of a test by hand.
        invocation: which start made the folder; begins with the time of it.
        call_is_over: its call came to its end ahead of the turn of its item, which never came.
    """

    item: str
    invocation: str
    call_is_over: bool = False


def write_note(folder: Path, note: ItemNote) -> None:
    """Note in a folder whose it is."""
    over = {CALL_IS_OVER: True} if note.call_is_over else {}
    write_json(folder / ITEM_FILE, {"item": note.item, "invocation": note.invocation} | over)


def read_note(folder: Path) -> ItemNote | None:
    """Return whose a folder is; ``None`` if nothing in it says so."""
    content = read_json(folder / ITEM_FILE)
    if not isinstance(content, dict):
        return None
    over = content.get(CALL_IS_OVER) is True
    return ItemNote(str(content.get("item")), str(content.get("invocation")), over)


def new_invocation() -> str:
    """Return a name that no other start has."""
    return f"{datetime.now():%Y%m%d_%H%M%S}_{os.urandom(6).hex()}"


class EarlierRun:
    """What earlier invocations left in the folder of a run. What this one makes there is never looked at.

    Args:
        folder: of the run.
        invocation: which start this is.
        min_agent_turns: how often an agent must have answered.
    """

    def __init__(self, folder: Path, invocation: str, min_agent_turns: int) -> None:
        self.folder = folder
        self._invocation = invocation
        self._min_agent_turns = min_agent_turns

    @cached_property
    def _folders(self) -> dict[str, Path]:
        """The last folder of each item; of one that has no note, by the name of the folder."""
        found: dict[str, Path] = {}
        for folder in sorted(scenario_folders(self.folder), key=_number):
            note = read_note(folder)
            if note is None or note.invocation != self._invocation:
                found[note.item if note else folder.name] = folder
        return found

    def folder_of(self, item: str) -> Path | None:
        """Return the folder that an item left; ``None`` if there is none."""
        return self._folders.get(item) or self._folders.get(file_name(item))

    def completed(self, item: str) -> Path | None:
        """Return the folder with the result of an item that needs not be held again; else ``None``."""
        folder = self.folder_of(item)
        if folder is None or self._state(folder) != "completed":
            return None
        return folder

    def move_aside(self, item: str) -> Path | None:
        """Move what an item left without a result aside; return where to, ``None`` if there is nothing."""
        folder = self.folder_of(item)
        if folder is None or not folder.is_dir() or self._state(folder) == "completed":
            return None
        is_killed = not self._came_to_an_end(folder)
        infix = KILLED if is_killed else REPLACED
        aside = claim_folder(folder.with_name(f"{folder.name}{infix}{self._invocation[:STAMP_LENGTH]}"))
        folder.replace(aside)
        if is_killed:
            write_text(aside / KILLED_MARK, "")
        self._folders.pop(item, None)
        self._folders.pop(file_name(item), None)
        return aside

    def _came_to_an_end(self, folder: Path) -> bool:
        """Return whether a call ended by itself, as its metrics say, or what the start recorded."""
        note = read_note(folder)
        if isinstance(read_json(folder / "metrics.json"), dict) or (note and note.call_is_over):
            return True
        starts = read_invocations(self.folder)
        own = [start for start in starts if note and start.get("invocation") == note.invocation]
        return any(
            outcome.folder == folder.name
            and outcome.verdict is None  # with one, there were metrics, which are lost
            and outcome.outcome not in (BROKEN_OFF, NOT_RUN)
            for outcome in read_outcomes(own).values()
        )

    def others(self, items: Collection[str]) -> dict[str, Path]:
        """Return the folders with metrics of a scenario, of all items but ``items``."""
        known = {*items, *map(file_name, items)}
        return {
            item: folder
            for item, folder in self._folders.items()
            if item not in known and own_content(folder).get("scenario_name")
        }

    def states(self) -> dict[str, tuple[ResumeState, str]]:
        """Return what became of every item that left a folder, and why."""
        return {
            item: classify_scenario_resume_state(folder, self._min_agent_turns)
            for item, folder in self._folders.items()
        }

    def makers(self) -> set[str | None]:
        """Return which starts made the results that stand; ``None`` for one that nothing tells of."""
        notes = [read_note(folder) for folder in self._folders.values() if self._state(folder) == "completed"]
        return {note.invocation if note else None for note in notes}

    def _state(self, folder: Path) -> str:
        return classify_scenario_resume_state(folder, self._min_agent_turns)[0]


def begun_items(folder: Path, invocation: str) -> dict[str, Path]:
    """Return the items for which a start of the run made a folder in ``folder``, each with its last one."""
    notes = ((read_note(each), each) for each in sorted(scenario_folders(folder), key=_number))
    return {note.item: each for note, each in notes if note is not None and note.invocation == invocation}


def _number(folder: Path) -> tuple[str, int]:
    """Return a folder's name and number: ``name.2`` is the second that was made for it."""
    found = re.fullmatch(r"(.+)\.(\d+)", folder.name)
    return (found[1], int(found[2])) if found else (folder.name, 1)


def own_content(folder: Path) -> dict[str, Any]:
    """Return what ``metrics.json`` of a folder holds, with the folder where it is now."""
    content = read_json(folder / "metrics.json")
    return (content if isinstance(content, dict) else {}) | {"scenario_directory": str(folder)}
