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
        path, *names = text.partition("[")[0].split("::")
        return cls((folder / path).resolve(), tuple(names))

    def covers(self, path: Path) -> bool:
        """Return whether collecting it comes by all of ``path``."""
        return not self.names and path.is_relative_to(self.path)
