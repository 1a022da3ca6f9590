"""Where data lie: the folders that paths of data start from, searched in order.

``EVAL_DATA_ROOT``, ``--voice-data-root``, the user's data directory, and the ``data`` folders of the packs
that are loaded, the built-in one last.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path

from pytest_voiceeval.errors import DataError, DataMissingError

ROOT_VARIABLE = "EVAL_DATA_ROOT"
"""Environment variable that names the first root."""

ROOTS_VARIABLE = "VOICEEVAL_DATA_ROOTS"
"""Environment variable by which a process tells the bots that it starts all its roots."""

BENCHMARKS = {
    "tau2_airline": "tau2",
    "tau2_retail": "tau2",
    "tau2_telecom": "tau2",
    "eva_airline": "eva",
}
"""The domains whose data are a benchmark's and in no pack, and the names of the benchmarks."""

_given: list[Path] = []
_packs: list[Path] = []


def use_data_root(folder: Path | None) -> None:
    """Make ``folder`` the root that an option names; ``None`` for none."""
    _given[:] = [folder] if folder else []


def add_pack_root(folder: Path) -> None:
    """Make ``folder`` the root of a pack that is loaded; the built-in pack's comes last anyway."""
    if folder not in _packs:
        _packs.append(folder)


def kept_roots() -> tuple[tuple[Path, ...], tuple[Path, ...]]:
    """Return what ``restore_roots`` brings back: what was given, and what packs added."""
    return tuple(_given), tuple(_packs)


def restore_roots(kept: tuple[tuple[Path, ...], tuple[Path, ...]]) -> None:
    """Have the roots of a while ago, as before a run of pytest within one."""
    _given[:], _packs[:] = kept


def user_data_root() -> Path:
    """Return the folder in the user's data directory that is searched for data; it need not exist."""
    from platformdirs import user_data_path  # noqa: PLC0415 - light start

    return user_data_path("pytest-voiceeval", appauthor=False) / "data"


def data_roots() -> tuple[Path, ...]:
    """Return the roots in order, looked up anew on each call: those that are there, and the built-in pack's.

    Raises:
        DataError: if ``EVAL_DATA_ROOT`` names no folder.
    """
    if (first := _first_root()) and not first.is_dir():
        raise DataError(f"{ROOT_VARIABLE}={first}: there is no such folder")
    there = [root for root in _all_roots() if root.is_dir()]
    return tuple(dict.fromkeys(root.resolve() for root in [*there, _builtin_root()]))


def _all_roots() -> Iterator[Path]:
    if first := _first_root():
        yield first
    yield from map(Path, filter(None, os.environ.get(ROOTS_VARIABLE, "").split(os.pathsep)))
    yield from _given
    yield user_data_root()
    own = _builtin_root()
    yield from (root for root in _packs if root != own)
    yield own


def _first_root() -> Path | None:
    text = os.environ.get(ROOT_VARIABLE)
    try:
        return Path(text).expanduser() if text else None
    except RuntimeError:  # ~somebody who is not known
        return Path(text or "")


def _builtin_root() -> Path:
    package = Path(__file__).parents[1]
    installed = package / "builtin" / "data"
    return installed if installed.is_dir() else package.parent / "data"


def get_eval_data_root(domain: str | None = None) -> Path:
    """Return the folder that paths of data start from, looked up anew on each call.

    With a ``domain``, the first root that has a folder of that name. Without one, or if none has, the root
    that was named, by ``EVAL_DATA_ROOT`` or ``--voice-data-root``; else the ``data`` folder of the first pack
    of the project that has one; else that of the built-in pack. To find a file in any root: ``data_path``.
    """
    if domain is not None:
        for root in data_roots():
            if (root / domain).is_dir():
                return root
    if first := _first_root():
        return first
    own = _builtin_root()
    return next((root for root in [*_given, *_packs] if root.is_dir() and root != own), own)


def data_path(domain: str, *parts: str) -> Path:
    """Return the file or folder of ``domain``'s data that ``parts`` name, in the first root that has it.

    Example: ``data_path("coffee", "db.json")`` is ``data/coffee/db.json`` of a pack.

    Raises:
        DataMissingError: if no root has it, and it is a benchmark's.
        DataError: if no root has it, or the path leaves the roots.
    """
    found = find_data(domain, *parts)
    if found is None:
        name = Path(domain, *parts).as_posix()
        raise missing_data(domain, f"the data of {domain} are not here: no {name} in {_places(name)}")
    return found


def find_data(domain: str, *parts: str) -> Path | None:
    """Return what ``data_path`` returns, ``None`` if no root has it.

    Raises:
        DataError: if the path leaves the roots.
    """
    found = resolve_under_root(Path(domain, *parts))
    return found if found.exists() else None


def missing_data(domain: str, text: str) -> DataError:
    """Return the error that says that data of ``domain`` are missing, and what to do about it."""
    if domain in BENCHMARKS:
        remedy = f"get them by `{pull_command(domain)}`, or name their folder by --voice-data-root"
        return DataMissingError(domain, text, f"{remedy} or {ROOT_VARIABLE}")
    return DataError(f"{text}; put it there, or set {ROOT_VARIABLE} to the folder that has it")


def pull_command(domain: str) -> str:
    """Return the command that stores the data of ``domain``, one of a benchmark, where they are found."""
    benchmark = BENCHMARKS[domain]
    return f"python -m pytest_voiceeval data pull {benchmark}" + (
        " --from PATH" if benchmark == "eva" else ""
    )


def name_of_root(root: Path) -> str:
    """Return by which setting the folder ``root`` is a root of data."""
    names = {_builtin_root(): "the built-in pack's"}
    names |= dict.fromkeys(_packs, "a pack's")
    names |= {user_data_root(): "the user's data directory"}
    names |= dict.fromkeys(_given, "--voice-data-root")
    if first := _first_root():
        names[first] = ROOT_VARIABLE
    return {place.resolve(): name for place, name in names.items()}.get(root.resolve(), "a root of a run")


def resolve_under_root(path: str | os.PathLike[str]) -> Path:
    """Return ``path`` as an absolute path under the first root that has it; it need not exist in any.

    Links are followed, so that a path that passes leads nowhere else.

    Raises:
        DataError: if the path leaves the roots, or is none at all.
    """
    places = [under(root, path) for root in roots_for(path)]
    inside = [place for place in places if place is not None]
    if found := next((place for place in inside if place.exists()), None):
        return found
    if not inside or (None in places and not Path(path).is_absolute()):
        raise DataError(
            f"{os.fspath(path)!r} leads out of the data root {_places(path)}; "
            f"write a path relative to it, or set {ROOT_VARIABLE}"
        )
    return inside[0]


def roots_for(path: str | os.PathLike[str]) -> tuple[Path, ...]:
    """Return the roots in which ``path`` is looked for: for data of a benchmark the one that has its folder.

    So files of two copies are never mixed.
    """
    roots = data_roots()
    domain = next(iter(Path(path).parts), "") if isinstance(path, str | os.PathLike) else ""
    having = [root for root in roots if domain in BENCHMARKS and (root / domain).is_dir()]
    return (having[0],) if having else roots


def under(root: Path, path: str | os.PathLike[str]) -> Path | None:
    """Return ``path`` as an absolute path under ``root``, ``None`` if it leads elsewhere.

    Raises:
        DataError: if it is no path at all.
    """
    try:
        resolved = (root / path).resolve()
    except (TypeError, ValueError, RuntimeError, OSError) as exc:
        raise DataError(f"{path!r} is not a path: {exc}") from exc
    return resolved if resolved.is_relative_to(root) else None


def _places(path: str | os.PathLike[str]) -> str:
    return ", ".join(map(str, roots_for(path)))


def environment() -> Mapping[str, str]:
    """Return the environment variables that have another process search the same roots.

    A bot that knows only ``EVAL_DATA_ROOT`` gets the root that an option names by it.
    """
    roots = [str(root) for root in _all_roots() if root.is_dir() and os.pathsep not in str(root)]
    variables = {ROOTS_VARIABLE: os.pathsep.join(roots)}
    if _given and not os.environ.get(ROOT_VARIABLE):
        variables[ROOT_VARIABLE] = str(_given[0])
    return variables
