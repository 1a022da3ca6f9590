"""The folder of a scenario in the run's."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_voiceeval.plugin.items import VoiceItem
from pytest_voiceeval.plugin.resuming import earlier_key, invocation_key
from pytest_voiceeval.run.session import RunFolder

run_folder_key = pytest.StashKey[RunFolder]()


def claim_scenario_folder(item: pytest.Item, scenario_name: str) -> Path:
    """Return a new folder for the files of a scenario, with a note of whose it is."""
    from pytest_voiceeval.run.earlier import write_note  # noqa: PLC0415 - light start
    from pytest_voiceeval.run.files import claim_folder, file_name  # noqa: PLC0415 - as above

    owner = item.name if isinstance(item, VoiceItem) else item.nodeid
    if earlier := item.config.stash.get(earlier_key, None):
        earlier.move_aside(owner)
    name = item.name if isinstance(item, VoiceItem) else scenario_name
    folder = claim_folder(item.config.stash[run_folder_key].open() / file_name(name))
    write_note(folder, owner, item.config.stash[invocation_key])
    return folder
