"""Where a class comes from: for messages, and to tell a second definition from a second import."""

from __future__ import annotations

import inspect
import sys
from pathlib import Path


def source_file(cls: type) -> str:
    """Return the path of the file that defines ``cls``, or its module's name if there is no file."""
    module = sys.modules.get(cls.__module__)
    return getattr(module, "__file__", None) or cls.__module__


def location(cls: type) -> str:
    """Return ``file:line`` of ``cls``, relative to the working directory where that is shorter.

    Without the line where it can't be told (a class made by a call of ``type``).
    """
    file = source_file(cls)
    path = Path(file)
    if path.is_relative_to(Path.cwd()):
        file = str(path.relative_to(Path.cwd()))
    try:
        return f"{file}:{inspect.getsourcelines(cls)[1]}"
    except (OSError, TypeError):
        return file


def stamp(cls: type) -> tuple[str, str]:
    """Return what two imports of one definition have in common: file and qualified name."""
    return source_file(cls), cls.__qualname__


def is_loaded(cls: type) -> bool:
    """Return whether the module that defines ``cls`` is (still) imported."""
    return cls.__module__ in sys.modules
