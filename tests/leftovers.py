"""What a process holds, so that a test can prove that it left nothing behind."""

from __future__ import annotations

import asyncio
import gc
import os
import threading
from collections import Counter
from collections.abc import Coroutine
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

T = TypeVar("T")

FDS = Path("/proc/self/fd")
SETTLING_SECONDS = 30.0
"""How long a bot may take, on the call's clock, to see that its connection is gone."""


@dataclass(frozen=True)
class Possessions:
    """Threads, children and open descriptors of this process, by name."""

    held: Counter[str]

    @classmethod
    def now(cls) -> Possessions:
        """Return what is held; what nobody refers to any more is collected first, and warns of itself."""
        gc.collect()
        names = [f"thread {thread.name}" for thread in threading.enumerate()]
        children = Path(f"/proc/self/task/{threading.get_native_id()}/children")
        names += [f"child {pid}" for pid in children.read_text().split()] if children.exists() else []
        return cls(Counter([*names, *_descriptors()]))

    def beyond(self, before: Possessions) -> list[str]:
        """Return what is held now and was not ``before``."""
        return sorted((self.held - before.held).elements())


def _descriptors() -> list[str]:
    found = []
    for number in os.listdir(FDS) if FDS.exists() else ():
        try:
            target = os.readlink(FDS / number)
        except OSError:  # the one that the listing itself needed
            continue
        # The number of an inode says nothing to a person, and of sockets it is another one each time.
        found.append(f"descriptor of {target.partition(':[')[0]}")
    return found


async def leaving_no_task(call: Coroutine[Any, Any, T]) -> T:
    """Await ``call``; raise AssertionError if a task that began in it goes on."""
    before = asyncio.all_tasks()
    try:
        return await call
    finally:
        left = asyncio.all_tasks() - before
        if left:
            _, left = await asyncio.wait(left, timeout=SETTLING_SECONDS)
        assert not left, f"tasks go on: {left}"
