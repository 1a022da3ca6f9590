"""Collection: scenario files become nodes where they are selected, and nothing where they are not."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from pytest_voiceeval.plugin.items import ScenarioFile
from pytest_voiceeval.plugin.selection import Selection

if TYPE_CHECKING:
    from pytest_voiceeval.scenarios.packs import Pack

BUILTIN_PACKAGE = "pytest_voiceeval.builtin"


class Collection:
    """The hooks of collection."""

    def __init__(self, selection: Selection) -> None:
        self._selection = selection
        self._pack_folders = frozenset(
            folder for pack in selection.catalogue.packs for folder in _plain_folders(pack)
        )

    @pytest.hookimpl(wrapper=True)
    def pytest_collect_file(
        self, file_path: Path, parent: pytest.Collector
    ) -> Generator[None, list[pytest.Collector], list[pytest.Collector]]:
        """Make a scenario file one node if it is selected, none if it is not, and never a test module."""
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
        """Make the folders of a pack plain folders: pytest would import those with ``__init__.py``."""
        return pytest.Dir.from_parent(parent, path=path) if path in self._pack_folders else None


def _plain_folders(pack: Pack) -> Iterator[Path]:
    """Yield ``scenarios`` of a pack; of the installed one also the packages that it lies in."""
    folder = pack.root / "scenarios"
    yield folder
    while pack.package == BUILTIN_PACKAGE and (folder.parent / "__init__.py").exists():
        folder = folder.parent
        yield folder


class Lanes:
    """Lets a walk over folders come by selected files that lie in folders it ignores.

    An installed pack in a virtual environment below the root folder is such a file. Of an opened
    folder nothing but the way to the file is walked.
    """

    def __init__(self, files: frozenset[Path]) -> None:
        self._lane = files | {folder for file in files for folder in file.parents}
        self._opened: set[Path] = set()

    @pytest.hookimpl(wrapper=True)
    def pytest_ignore_collect(self, collection_path: Path) -> Generator[None, bool | None, bool | None]:
        """Take back that a folder on the way is ignored; ignore what else lies in it."""
        ignored = yield
        if collection_path in self._lane:
            if ignored or collection_path.parent in self._opened:
                self._opened.add(collection_path)
            return False if ignored else ignored
        return True if collection_path.parent in self._opened else ignored


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
        except collector.CollectError:
            return None
