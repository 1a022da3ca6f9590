"""How a scenario differs from what it was when its result was made."""

from __future__ import annotations

import tempfile
from pathlib import Path

from pytest_voiceeval.run.files import read_json
from pytest_voiceeval.scenarios.base import Scenario


def scenario_changes(scenario: Scenario | type[Scenario], saved: Path) -> list[str]:
    """Return the names of the files in ``saved``, a ``scenario_config``, that would be others now.

    None where nothing was saved: then nothing is known. If the scenario can't be made or saved any more,
    that is what is returned.
    """
    if not saved.is_dir():
        return []
    with tempfile.TemporaryDirectory() as place:
        now = Path(place)
        try:
            (scenario() if isinstance(scenario, type) else scenario).save(now)
        except Exception as exc:  # whatever a scenario raises is a change, and its old result stands
            return [f"it can't be saved any more: {exc}"]
        names = {path.name for path in (*now.iterdir(), *saved.iterdir()) if not path.name.startswith(".")}
        return sorted(name for name in names if not _same(now / name, saved / name))


def _same(one: Path, other: Path) -> bool:
    if not (one.is_file() and other.is_file()):
        return False
    if one.read_bytes() == other.read_bytes():
        return True
    content = read_json(one) if one.suffix == ".json" else None
    return content is not None and bool(content == read_json(other))
