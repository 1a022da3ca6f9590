"""Where the files of a scenario lie."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from pathlib import Path

from pytest_voiceeval.world.roots import data_roots


def data_folders(cls: type) -> list[Path]:
    """Return where relative paths of a scenario class start, in order.

    ``data`` of the pack that it lies in, of the packs of its bases, and the data roots.
    """
    return list(dict.fromkeys(folder.absolute() for folder in [*_packs(cls), *data_roots()]))


def _packs(cls: type) -> Iterator[Path]:
    for base in cls.__mro__[:-1]:
        try:
            folder = Path(inspect.getfile(base)).parent
        except (OSError, TypeError):  # made where there is no file
            continue
        if folder.name == "scenarios" and base.__module__ != f"{__package__}.base":
            yield folder.parent / "data"
