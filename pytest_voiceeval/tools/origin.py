"""Where a class comes from: for messages, and to tell a second definition from a second import."""

from __future__ import annotations

import inspect
import sys
import traceback
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType


@dataclass(frozen=True)
class Origin:
    """Where a class was defined.

    Attributes:
        file: path of the file, or the name of the module where there is no file.
        qualname: qualified name of the class.
        module_name: name of the module.
        module: the module; ``None`` for a class that was made outside of an imported one.
    """

    file: str
    qualname: str
    module_name: str
    module: ModuleType | None

    @classmethod
    def of(cls, defined: type) -> Origin:
        """Return the origin of the class ``defined``."""
        module = sys.modules.get(defined.__module__)
        file = getattr(module, "__file__", None) or defined.__module__
        return cls(file, defined.__qualname__, defined.__module__, module)

    def __str__(self) -> str:
        return f"{self.qualname} in {self.file}"

    @property
    def is_loaded(self) -> bool:
        """Whether the module is imported as it was: neither unloaded nor replaced since."""
        return sys.modules.get(self.module_name) is self.module

    def is_the_same_definition(self, other: Origin) -> bool:
        """Return whether both are one class of one file, perhaps imported twice."""
        return (self.file, self.qualname) == (other.file, other.qualname)


def place_of(exc: BaseException) -> str:
    """Return ``file:line`` of where ``exc`` was raised, relative to the working directory if it lies in it.

    Empty if it was never raised.
    """
    frames = traceback.extract_tb(exc.__traceback__)
    return f"{_shown(frames[-1].filename)}:{frames[-1].lineno}" if frames else ""


def location(cls: type) -> str:
    """Return ``file:line`` of ``cls``, relative to the working directory if it lies in it.

    For what is told to people: the whole file is parsed for it, which would delay calls that are held.
    Without the line where it can't be told (a class made by a call of ``type``).
    """
    file = _shown(Origin.of(cls).file)
    try:
        return f"{file}:{inspect.getsourcelines(cls)[1]}"
    except (OSError, TypeError):
        return file


def _shown(file: str) -> str:
    path = Path(file)
    return str(path.relative_to(Path.cwd())) if path.is_relative_to(Path.cwd()) else file
