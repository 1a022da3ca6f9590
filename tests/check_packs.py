"""Types of the packs and of the benchmarks: run by ``tox -e lint``.

The files of a pack import one another relatively, from a folder whose name may be no identifier.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PACKS = (ROOT, ROOT / "examples" / "coffee")


def main() -> int:
    """Return mypy's exit code over all packs, else over the benchmarks."""
    return _check_packs() or _check_benchmarks()


def _check_benchmarks() -> int:
    command = ["mypy", "--config-file", str(ROOT / "pyproject.toml"), *map(str, ROOT.glob("benchmarks/*.py"))]
    environment = {**os.environ, "MYPYPATH": os.pathsep.join([str(ROOT), str(ROOT / "benchmarks")])}
    return subprocess.run([sys.executable, "-m", *command], cwd=ROOT, check=False, env=environment).returncode


def _check_packs() -> int:
    with tempfile.TemporaryDirectory() as folder:
        names = []
        for number, pack in enumerate(PACKS):
            (Path(folder) / f"pack{number}").symlink_to(pack, target_is_directory=True)
            names += [f"pack{number}/{part}" for part in ("scenarios", "tools")]
        command = ["mypy", "--config-file", str(ROOT / "pyproject.toml"), "--explicit-package-bases", *names]
        return subprocess.run(
            [sys.executable, "-m", *command],
            cwd=folder,
            check=False,
            env={**os.environ, "MYPYPATH": str(ROOT)},
        ).returncode


if __name__ == "__main__":
    sys.exit(main())
