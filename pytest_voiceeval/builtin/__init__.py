"""The built-in pack: ``scenarios``, ``tools`` and ``data`` of this project, wherever they lie.

In an installed wheel they are folders of this package. In a checkout they are folders at the top of the
repository, which is therefore appended to this package's path.
"""

from __future__ import annotations

from pathlib import Path

_here = Path(__file__).resolve().parent

ROOT = _here if (_here / "scenarios").is_dir() else _here.parents[1]
"""The folder that holds the pack."""

if not ROOT.samefile(_here):
    __path__.append(str(ROOT))
