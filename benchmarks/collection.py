"""Collecting all scenarios: wall time of ``pytest --collect-only``, beside that of pytest without the plugin.

Run by ``tox -e bench``.
"""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

from timing import print_figure

ROOT = Path(__file__).parent.parent
BASE = [sys.executable, "-m", "pytest", "--collect-only", "-q", "-p", "no:cacheprovider"]


def wall_seconds(*arguments: str) -> tuple[float, int]:
    """Return the least wall seconds of a collection, and how many items it found."""
    seconds, found = [], 0
    for _ in range(3):
        begun = time.perf_counter()
        run = subprocess.run([*BASE, *arguments], cwd=ROOT, capture_output=True, text=True, check=False)
        seconds.append(time.perf_counter() - begun)
        found = sum("::" in line for line in run.stdout.splitlines())
    return min(seconds), found


def main() -> None:
    """Print the figures."""
    print("collection, with the start of Python and pytest", flush=True)
    bare, _ = wall_seconds("-p", "no:voiceeval", "tests/audio")
    print_figure("one folder of tests, without the plugin", bare)
    with_plugin, _ = wall_seconds("tests/audio")
    print_figure("the same with the plugin", with_plugin)
    every, found = wall_seconds("--voice-scenarios=all")
    print_figure(f"all {found} scenarios", every)


if __name__ == "__main__":
    main()
