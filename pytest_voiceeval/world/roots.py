"""Where fixture data lie."""

from __future__ import annotations

import os
from pathlib import Path

from pytest_voiceeval.errors import DataError

ROOT_VARIABLE = "EVAL_DATA_ROOT"


def get_eval_data_root() -> Path:
    """Return the folder that relative data paths start from, looked up anew on each call.

    ``EVAL_DATA_ROOT`` from the environment, else the ``data`` folder of the built-in pack: inside
    the package when it is installed, beside it in a source checkout.
    """
    if chosen := os.environ.get(ROOT_VARIABLE):
        return Path(chosen).expanduser()
    package = Path(__file__).parents[1]
    installed = package / "builtin" / "data"
    return installed if installed.is_dir() else package.parent / "data"


def resolve_under_root(path: str | os.PathLike[str]) -> Path:
    """Return ``path`` as an absolute path under the data root; it need not exist.

    Links are followed, so that a path that passes leads nowhere else.

    Raises:
        DataError: if the path leaves the root, or is none at all.
    """
    root = get_eval_data_root().resolve()
    try:
        resolved = (root / path).resolve()
    except (TypeError, ValueError, RuntimeError, OSError) as exc:
        raise DataError(f"{path!r} is not a path: {exc}") from exc
    if not resolved.is_relative_to(root):
        raise DataError(
            f"{os.fspath(path)!r} leads out of the data root {root}; "
            f"write a path relative to it, or set {ROOT_VARIABLE}"
        )
    return resolved
