"""Where pipecat's log goes: it logs through loguru, which by default writes to stderr."""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Iterator
from pathlib import Path


def mute_default_sink() -> None:
    """Remove the sink that loguru has from the start; sinks that the user added stay."""
    from loguru import logger  # noqa: PLC0415 - only where a call is held

    with contextlib.suppress(ValueError):
        logger.remove(0)


@contextlib.contextmanager
def bots_log_into(path: Path) -> Iterator[None]:
    """Have the log of embedded bots written to a file, and nowhere else unless the user wants it.

    What pipecat deprecates within itself is no concern of a run that makes errors of warnings.
    """
    from loguru import logger  # noqa: PLC0415 - only where a call is held

    mute_default_sink()
    sink = logger.add(path, level="DEBUG", encoding="utf-8", diagnose=False, backtrace=False)
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", category=DeprecationWarning, module=r"pipecat\.")
            yield
    finally:
        logger.remove(sink)
