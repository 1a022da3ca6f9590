"""What the arguments of pytest's command line name."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Argument:
    """A collection argument: the path, and the names behind it (``path::name::name``)."""

    path: Path
    names: tuple[str, ...]

    @classmethod
    def parse(cls, text: str, folder: Path) -> Argument:
        """Return what pytest takes ``text`` for when it is started in ``folder``."""
        base, bracket, rest = text.partition("[")
        path, *names = base.split("::")
        if names:
            names[-1] += bracket + rest
        return cls((folder / path).resolve(), tuple(names))

    def covers(self, path: Path) -> bool:
        """Return whether collecting it comes by all of ``path``."""
        return not self.names and path.is_relative_to(self.path)


def spellings(name: str) -> frozenset[str]:
    """Return what a name in a node id may stand for: itself, or what stands before its brackets."""
    return frozenset({name, name.partition("[")[0]})
