"""The scenario files of all packs: where they lie, and how node ids name them. Nothing is imported."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pytest_voiceeval.scenarios.packs import Pack


@dataclass(frozen=True)
class Entry:
    """One scenario file: its pack, its path, and the path part of its node ids."""

    pack: Pack
    path: Path
    node_path: str


class Catalogue:
    """The scenario files of a run, by path and by node id."""

    def __init__(self, packs: Iterable[Pack], rootpath: Path) -> None:
        self.packs = tuple(packs)
        self._by_path: dict[Path, Entry] = {}
        self._by_node_path: dict[str, Entry] = {}
        for pack in self.packs:
            for path in pack.scenario_files():
                entry = Entry(pack, path, _node_path(pack, path, rootpath))
                self._by_path[path] = self._by_node_path[entry.node_path] = entry

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

    def mentions(self, text: str) -> bool:
        """Return whether some scenario file has ``text`` in it, in any case."""
        text = text.lower()
        return any(text in entry.path.read_text("utf-8", "replace").lower() for entry in self)

    def load(self) -> None:
        """Import all packs, which registers their scenarios.

        Raises:
            DefinitionError: if a file of one can't be imported.
        """
        for pack in self.packs:
            pack.load()

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
