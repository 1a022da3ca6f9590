"""Collection: scenario files become nodes where they are selected, and nothing where they are not."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from pathlib import Path

import pytest

from pytest_voiceeval.plugin.items import ScenarioFile
from pytest_voiceeval.plugin.selection import Selection


class Collection:
    """The hooks of collection."""

    def __init__(self, selection: Selection) -> None:
        self._selection = selection
        self._scenario_folders = {entry.path.parent for entry in selection.catalogue}

    @pytest.hookimpl(wrapper=True)
    def pytest_collect_file(
        self, file_path: Path, parent: pytest.Collector
    ) -> Generator[None, list[pytest.Collector], list[pytest.Collector]]:
        """Make a scenario file one node if it is selected, none if it is not; leave other files alone."""
        collectors = yield
        entry = self._selection.catalogue.find(file_path)
        if entry is None:
            return collectors
        if entry.path in self._selection.chosen:
            return [ScenarioFile.of_entry(parent, entry, self._selection.chosen[entry.path])]
        if parent.session.isinitpath(file_path):  # named in a way that only pytest understands (--pyargs)
            return [ScenarioFile.of_entry(parent, entry, None)]
        return []

    def pytest_pycollect_makeitem(self, collector: pytest.Collector) -> Sequence[pytest.Item] | None:
        """Leave what else a scenario file defines alone: the file itself yields its scenarios."""
        return [] if isinstance(collector, ScenarioFile) else None

    def pytest_collect_directory(self, path: Path, parent: pytest.Collector) -> pytest.Dir | None:
        """Make ``scenarios`` a plain folder: pytest would import one with ``__init__.py`` a second time."""
        return pytest.Dir.from_parent(parent, path=path) if path in self._scenario_folders else None


class PackFolder(pytest.Collector):
    """A folder on the way to a pack that lies outside of the project: of its content, only the way is seen.

    It is no ``pytest.Directory``, so that pytest loads no ``conftest.py`` of others.
    """

    lane: Lane

    @classmethod
    def on_lane(cls, parent: pytest.Collector, path: Path, lane: Lane) -> PackFolder:
        """Return the node of a folder on a lane."""
        node = cls.from_parent(parent, name=path.name, path=path, nodeid=path.as_posix())
        node.lane = lane
        return node

    def collect(self) -> Iterator[pytest.Collector]:
        """Yield the folders and selected files in it that are on the lane."""
        for path in self.lane.below(self.path):
            if path.suffix == ".py":
                yield from self.ihook.pytest_collect_file(file_path=path, parent=self)
            else:
                yield PackFolder.on_lane(self, path, self.lane)


class Lane:
    """The ways to the selected files."""

    def __init__(self, selection: Selection, rootpath: Path) -> None:
        files = set(selection.chosen)
        self._ways = files | {folder for file in files for folder in file.parents}
        self._rootpath = rootpath.resolve()

    def __contains__(self, path: Path) -> bool:
        return path in self._ways

    def below(self, folder: Path) -> list[Path]:
        """Return what lies directly in ``folder`` and on a way."""
        return sorted(path for path in self._ways if path.parent == folder and path != folder)

    def leads_outside(self, folder: Path) -> bool:
        """Return whether ``folder`` is on a way and not part of the project: elsewhere, or installed."""
        if folder not in self._ways:
            return False
        is_installed = folder.name in ("site-packages", "dist-packages") or (folder / "pyvenv.cfg").exists()
        return is_installed or not (
            folder.is_relative_to(self._rootpath) or self._rootpath.is_relative_to(folder)
        )


class Lanes:
    """Has selected files found that lie outside of the project, or in folders that pytest ignores."""

    def __init__(self, lane: Lane) -> None:
        self._lane = lane

    @pytest.hookimpl(wrapper=True)
    def pytest_ignore_collect(self, collection_path: Path) -> Generator[None, bool | None, bool | None]:
        """Take back that a folder on the way is ignored."""
        ignored = yield
        return False if ignored and self._lane.leads_outside(collection_path) else ignored

    @pytest.hookimpl(tryfirst=True)
    def pytest_collect_directory(self, path: Path, parent: pytest.Collector) -> pytest.Collector | None:
        """Make a folder that is not part of the project one in which only the way is seen."""
        return PackFolder.on_lane(parent, path, self._lane) if self._lane.leads_outside(path) else None


class RunsFailedFirst:
    """With ``--lf``, has scenario files collected whose node id is no path below the root folder.

    pytest skips files that it can't find in what failed last time by their path.
    """

    @pytest.hookimpl(tryfirst=True)
    def pytest_make_collect_report(self, collector: pytest.Collector) -> pytest.CollectReport | None:
        """Collect such a file here, before anyone can skip it; leave errors to pytest."""
        if not isinstance(collector, ScenarioFile):
            return None
        try:
            return pytest.CollectReport(collector.nodeid, "passed", None, list(collector.collect()))
        except (collector.CollectError, pytest.skip.Exception):
            return None
