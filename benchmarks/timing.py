"""Timing for the benchmarks: CPU time, the best of several runs, printed one figure a line."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any


def best_cpu_seconds(
    act: Callable[..., object], *, prepare: Callable[[], Any] | None = None, repeats: int = 5
) -> float:
    """Return the least CPU seconds that ``act`` took; ``prepare``, uncounted, makes its argument anew."""
    seconds = []
    for _ in range(repeats):
        arguments = () if prepare is None else (prepare(),)
        begun = time.process_time()
        act(*arguments)
        seconds.append(time.process_time() - begun)
    return min(seconds)


def repeated(act: Callable[[], object], times: int) -> Callable[[], None]:
    """Return a function that does ``act`` so many times."""

    def run() -> None:
        for _ in range(times):
            act()

    return run


def print_figure(what: str, seconds: float) -> None:
    """Print one figure, in the unit that fits it."""
    scale, unit = next(
        (s, u) for s, u in ((1.0, "s"), (1e3, "ms"), (1e6, "µs")) if seconds * s >= 1 or u == "µs"
    )
    print(f"  {what:<58} {seconds * scale:8.2f} {unit}", flush=True)
