"""The folder of a scenario in the run's."""

from __future__ import annotations

import contextlib
from pathlib import Path

import pytest

from pytest_voiceeval.plugin.items import VoiceItem
from pytest_voiceeval.plugin.resuming import earlier_key, invocation_key
from pytest_voiceeval.run.session import RunFolder

run_folder_key = pytest.StashKey[RunFolder]()


def claim_scenario_folder(item: pytest.Item, scenario_name: str) -> Path:
    """Return a new folder for the files of a scenario, with a note of whose it is."""
    from pytest_voiceeval.run.files import claim_folder, file_name  # noqa: PLC0415 - light start

    if earlier := item.config.stash.get(earlier_key, None):
        earlier.move_aside(_owner(item))
    name = item.name if isinstance(item, VoiceItem) else scenario_name
    folder = claim_folder(item.config.stash[run_folder_key].open() / file_name(name))
    _write_note(folder, item)
    return folder


def note_that_call_is_over(item: pytest.Item, folder: Path) -> None:
    """Note in the folder of ``item``, whose turn never came, that its call came to its end."""
    with contextlib.suppress(OSError):  # then it is told as broken off
        _write_note(folder, item, call_is_over=True)


def _write_note(folder: Path, item: pytest.Item, *, call_is_over: bool = False) -> None:
    from pytest_voiceeval.run.earlier import ItemNote, write_note  # noqa: PLC0415 - light start

    write_note(folder, ItemNote(_owner(item), item.config.stash[invocation_key], call_is_over))


def _owner(item: pytest.Item) -> str:
    return item.name if isinstance(item, VoiceItem) else item.nodeid
