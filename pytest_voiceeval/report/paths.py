"""Paths as a person is shown them."""

from __future__ import annotations

import os
from pathlib import Path


def shown_path(path: str | Path) -> str:
    """Return a path as it is typed from here: relative where it lies below, absolute elsewhere."""
    absolute = Path(os.path.abspath(path))
    here = Path.cwd()
    return str(absolute.relative_to(here)) if absolute.is_relative_to(here) else str(absolute)
