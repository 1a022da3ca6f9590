"""Packs: folders with ``scenarios/``, ``tools/`` and ``data/``, imported without touching ``sys.path``."""

from __future__ import annotations

import contextlib
import importlib
import importlib.util
import os
import re
import sys
import traceback
from collections.abc import Iterable
from dataclasses import dataclass
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType

from pytest_voiceeval.errors import DataError, DataMissingError, DefinitionError, FileSkippedError
from pytest_voiceeval.world.roots import BENCHMARKS, add_pack_root, pull_command

BUILTIN = "pytest_voiceeval.builtin"
USER_PARENT = "voice_packs"

REGISTERS = b"register_eval_scenario"
"""What a file in ``scenarios/`` has in its text if it defines scenarios; others are none of ours."""

PACKS_VARIABLE = "VOICEEVAL_PACKS"
"""Environment variable with the folders of the packs that a bot in another process is to know."""


@dataclass(frozen=True)
class Pack:
    """A pack.

    Attributes:
        root: its folder.
        package: name of the package that its modules are imported under.
    """

    root: Path
    package: str

    def scenario_files(self) -> list[Path]:
        """Return the files in ``scenarios/`` that define scenarios, sorted; they are read, not imported."""
        return [path for path in self._files("scenarios") if _registers(path)]

    def tool_files(self) -> list[Path]:
        """Return the files in ``tools/`` that define tools, sorted."""
        return self._files("tools")

    def load(self) -> None:
        """Import all its tools, then all its scenarios, which registers them; skipped files are passed over.

        Raises:
            DefinitionError: if a file can't be imported.
        """
        self.load_tools()
        for path in self.scenario_files():
            with contextlib.suppress(FileSkippedError):
                self.load_file(path)

    def load_tools(self) -> None:
        """Import all its tools; skipped files are passed over."""
        for path in self.tool_files():
            with contextlib.suppress(FileSkippedError):
                self.load_file(path)

    def load_file(self, path: Path) -> ModuleType:
        """Return the module of ``path``, a file in ``scenarios/`` or ``tools/``, imported once.

        Raises:
            DefinitionError: if it lies outside the pack, or can't be imported: says where and why.
            FileSkippedError: if it skips itself; raised from the exception with which it does. A
                ``DataMissingError`` if it lacks data.
        """
        try:
            parts = path.resolve().relative_to(self.root).with_suffix("").parts
        except ValueError:
            raise DefinitionError(f"{path} does not lie in the pack {self.root}") from None
        for part in parts:
            if not part.isidentifier():
                raise DefinitionError(f"{path}: rename it; '{part}' can't be part of a module's name")
        add_pack_root(self.root / "data")
        try:
            return importlib.import_module(".".join([self.package, *parts]))
        except (KeyboardInterrupt, GeneratorExit):
            raise
        except DataMissingError as exc:
            _note(exc)
            raise
        except (DataError, ValueError, OSError, RecursionError) as exc:
            if self.package != BUILTIN or path.stem not in BENCHMARKS:
                raise _import_error(exc, path, self.root) from exc
            raise _unusable(exc, path.stem) from exc
        except BaseException as exc:  # a pack's file may raise anything, also pytest.fail and SystemExit
            if _is_skip(exc):
                raise FileSkippedError(f"{_place(exc, path, self.root)}: skipped: {exc}") from exc
            raise _import_error(exc, path, self.root) from exc

    def _files(self, folder: str) -> list[Path]:
        return sorted(path for path in (self.root / folder).glob("*.py") if not path.name.startswith("_"))


def builtin_pack() -> Pack:
    """Return the pack that this project ships."""
    from pytest_voiceeval.builtin import ROOT  # noqa: PLC0415 - only where the pack is asked for

    return Pack(ROOT, BUILTIN)


def packs_of(roots: Iterable[Path]) -> tuple[Pack, ...]:
    """Return the built-in pack and those in the folders ``roots``, each once. Nothing of them is imported.

    Where one of the folders is a checkout of this project, its pack is the built-in one of this process.
    """
    roots = tuple(roots)
    for root in roots:
        _stand_in(root.resolve())
    return tuple(dict.fromkeys([builtin_pack(), *map(user_pack, roots)]))


def _stand_in(root: Path) -> None:
    """Make the pack of a checkout of this project the built-in one, unless that is in use already.

    The package may run from elsewhere, as after an ordinary install; its own copy of the pack would define
    every tool and scenario of the checkout a second time.
    """
    from pytest_voiceeval import builtin  # noqa: PLC0415 - only where packs are asked for

    is_checkout = root.joinpath(*BUILTIN.split("."), "__init__.py").is_file()
    is_in_use = any(name.startswith(f"{BUILTIN}.") for name in sys.modules)
    if is_checkout and not is_in_use and root != builtin.ROOT:
        builtin.ROOT = root
        builtin.__path__[:] = [str(root)]


def user_pack(root: Path) -> Pack:
    """Return the pack in the folder ``root``; the built-in one if that is its folder."""
    root = root.resolve()
    if root == builtin_pack().root:
        return builtin_pack()
    stem = re.sub(r"\W", "_", root.name) or "pack"
    name, number = f"{USER_PARENT}.{stem}", 1
    while (present := sys.modules.get(name)) is not None and list(present.__path__) != [str(root)]:
        number += 1
        name = f"{USER_PARENT}.{stem}_{number}"
    _ensure_package(USER_PARENT, [])
    _ensure_package(name, [str(root)])
    return Pack(root, name)


def named_roots(text: str) -> tuple[Path, ...]:
    """Return the folders of packs that ``PACKS_VARIABLE`` names; those that are not there are left out."""
    return tuple(root for name in text.split(os.pathsep) if name and (root := Path(name)).is_dir())


def is_pack(root: Path) -> bool:
    """Return whether the folder ``root`` has a file that defines scenarios; nothing is imported."""
    return bool(Pack(root, "").scenario_files())


def load_scenario_file(pack: Pack, path: Path) -> ModuleType:
    """Return the module of a scenario file of ``pack``, after importing the pack's tools.

    Raises:
        DefinitionError: if it, or a tool, can't be imported.
        FileSkippedError: if it skips itself.
    """
    pack.load_tools()
    return pack.load_file(path)


def _ensure_package(name: str, search: list[str]) -> None:
    """Make ``name`` importable as a package whose modules lie in ``search``."""
    if name in sys.modules:
        return
    importlib.invalidate_caches()
    spec = ModuleSpec(name, loader=None, is_package=True)
    spec.submodule_search_locations = search
    package = importlib.util.module_from_spec(spec)
    package.__path__ = search
    sys.modules[name] = package
    parent, _, child = name.rpartition(".")
    if parent:
        setattr(sys.modules[parent], child, package)


def _registers(path: Path) -> bool:
    try:
        return REGISTERS in path.read_bytes()
    except OSError:  # a folder of that name, a dangling link, no permission: nothing to import
        return False


def _is_skip(exc: BaseException) -> bool:
    """Return whether pytest takes ``exc`` for a skip."""
    import unittest  # noqa: PLC0415 - only where something was raised, as pytest

    import pytest  # noqa: PLC0415

    return isinstance(exc, pytest.skip.Exception | unittest.SkipTest)


def _unusable(exc: Exception, domain: str) -> DataMissingError:
    """Return, and have it told, that data of a benchmark are here and cannot be used: other domains can."""
    missing = DataMissingError(
        domain, f"the data of {domain} can't be used: {exc}", f"get them by `{pull_command(domain)}`"
    )
    _note(missing)
    return missing


def _note(missing: DataMissingError) -> None:
    from pytest_voiceeval.scenarios.registry import note_missing_data  # noqa: PLC0415 - light start

    note_missing_data(missing)


def _import_error(exc: BaseException, path: Path, root: Path) -> DefinitionError:
    """Return the error that says where in the pack ``exc`` was raised, what it is, and its text."""
    where = _place(exc, path, root)
    if isinstance(exc, DefinitionError):
        return type(exc)(f"{where}: {exc}")
    return DefinitionError(f"{where}: {type(exc).__name__}: {exc}")


def _place(exc: BaseException, path: Path, root: Path) -> str:
    """Return the file, and the line where it can be told, that ``exc`` was raised at in a pack."""
    file, line = str(path), None
    for frame in traceback.extract_tb(exc.__traceback__):
        if any(Path(frame.filename).is_relative_to(root / folder) for folder in ("scenarios", "tools")):
            file, line = frame.filename, frame.lineno
    if isinstance(exc, SyntaxError) and exc.filename:
        file, line = exc.filename, exc.lineno
    return f"{file}:{line}" if line else file
