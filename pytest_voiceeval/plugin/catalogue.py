"""The scenario files of all packs: where they lie, and how node ids name them. Nothing is imported."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_voiceeval.errors import DataMissingError, FileSkippedError

if TYPE_CHECKING:
    from pytest_voiceeval.scenarios.packs import Pack

CATCH_ALL = ("*", "*.py")
"""Patterns of test modules that name every file, and so do not tell one from a scenario file."""


@dataclass(frozen=True)
class Entry:
    """One scenario file.

    Attributes:
        pack: where it lies.
        path: of the file.
        node_path: the path part of its node ids.
        is_own: it is of a pack of the project, not of one that is lent to it.
    """

    pack: Pack
    path: Path
    node_path: str
    is_own: bool

    def mentions(self, words: Iterable[str]) -> bool:
        """Return whether one of ``words`` stands in the file, in any case."""
        text = self.path.read_text("utf-8", "replace").lower()
        return any(word.lower() in text for word in words)


class Catalogue:
    """The scenario files of a run, by path and by node id.

    Args:
        packs: where they may lie; a pack without any is none.
        rootpath: pytest's root folder.
        project_roots: folders of the packs that are the project's own; others are lent.
        test_files: patterns of the files that are test modules, which stay so.
        split: of benchmarks; their other tasks are not in a file that is named as a whole.

    Attributes:
        packs: those that have scenario files.
        split: of benchmarks.
        skipped: the files that skipped themselves when they were loaded, and why.
        lacking: those of them whose data are not here.
    """

    def __init__(
        self,
        packs: Iterable[Pack],
        rootpath: Path,
        *,
        project_roots: Iterable[Path] = (),
        test_files: Iterable[str] = (),
        split: str = "base",
    ) -> None:
        self.split = split
        roots = {root.resolve() for root in project_roots}
        patterns = [pattern for pattern in test_files if pattern not in CATCH_ALL]
        self._by_path: dict[Path, Entry] = {}
        self._by_node_path: dict[str, Entry] = {}
        self.skipped: dict[Path, str] = {}
        self.lacking: dict[Path, DataMissingError] = {}
        for pack in packs:
            is_own = pack.root in roots
            for path in pack.scenario_files():
                if not (is_own and _fits(path, patterns)):
                    entry = Entry(pack, path, _node_path(pack, path, rootpath), is_own)
                    self._by_path[path] = self._by_node_path[entry.node_path] = entry
        self.packs = tuple(dict.fromkeys(entry.pack for entry in self))

    def __iter__(self) -> Iterator[Entry]:
        return iter(self._by_path.values())

    def find(self, path: Path) -> Entry | None:
        """Return the entry of a file, however its path is written; ``None`` if it is no scenario file."""
        if path.suffix != ".py" or path.parent.name != "scenarios":
            return None
        return self._by_path.get(path) or self._by_path.get(path.resolve())

    def find_node(self, node_path: str) -> Entry | None:
        """Return the entry that node ids name so."""
        return self._by_node_path.get(node_path)

    def in_folder(self, folder: Path) -> list[Entry]:
        """Return the entries that lie directly in ``folder``."""
        return [entry for entry in self if entry.path.parent == folder]

    def load(self, wanted: Callable[[Entry], bool] = lambda _: True) -> None:
        """Import the packs of the wanted files, which registers their scenarios; note what skips itself.

        Raises:
            DefinitionError: if a file of one can't be imported.
        """
        entries = [entry for entry in self if wanted(entry)]
        for pack in dict.fromkeys(entry.pack for entry in entries):
            pack.load_tools()
        for entry in entries:
            try:
                entry.pack.load_file(entry.path)
            except FileSkippedError as exc:
                self.skipped[entry.path] = str(exc)
                if isinstance(exc, DataMissingError):
                    self.lacking[entry.path] = exc

    def scenarios(self) -> dict[str, Entry]:
        """Return the registered scenarios that lie in these files, in order of registration."""
        from pytest_voiceeval.scenarios.registry import (  # noqa: PLC0415 - it is heavy
            list_eval_scenarios,
            scenario_class,
        )

        found = {}
        for name in list_eval_scenarios():
            cls = scenario_class(name)
            source = getattr(sys.modules.get(getattr(cls, "__module__", "")), "__file__", None)
            if source and (entry := self.find(Path(source))):
                found[name] = entry
        return found

    def of_split(self, names: Iterable[str], *, demanded: bool = True) -> list[str]:
        """Return those of ``names`` that are part of the run's split of their benchmark, or of none.

        Raises:
            UnknownNameError: if a benchmark has other splits, or all have none and one is ``demanded``.
        """
        from pytest_voiceeval.scenarios.registry import of_split  # noqa: PLC0415 - it is heavy

        return of_split(names, self.split, demanded=demanded)


def _fits(path: Path, patterns: Iterable[str]) -> bool:
    """Return whether a pattern of ``python_files`` names ``path``, as pytest takes it."""
    return any(
        path.match(pattern) if "/" in pattern else fnmatchcase(path.name, pattern) for pattern in patterns
    )


def _node_path(pack: Pack, path: Path, rootpath: Path) -> str:
    """Return how node ids name ``path``: as short as it can be, and never like another file.

    Relative to the root folder, except for a pack that is installed somewhere: relative to the pack.
    """
    in_pack = path.relative_to(pack.root)
    root = rootpath.resolve()
    if pack.root == root:
        return in_pack.as_posix()
    if path.is_relative_to(root) and not _is_installed(pack.root):
        return path.relative_to(root).as_posix()
    if (root / in_pack).exists():
        return (Path(*pack.package.split(".")) / in_pack).as_posix()
    return in_pack.as_posix()


def _is_installed(folder: Path) -> bool:
    return "site-packages" in folder.parts or "dist-packages" in folder.parts
