"""``--voice-shard``: one of several parts of a run, which machines that know nothing of each other hold."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from typing import Any

import pytest

from pytest_voiceeval.plugin.marks import SCENARIO_MARK
from pytest_voiceeval.report.properties import SCENARIO, look_up

LEFT_OUTPUT = "voice_left_to_other_shards"
"""Under this key a worker of xdist tells how many scenarios it left to others."""


@dataclass(frozen=True)
class Shard:
    """The part ``index``, from 1, of ``count``."""

    index: int
    count: int

    def holds(self, scenario_name: str) -> bool:
        """Return whether a scenario is in this part: that follows from its name alone."""
        digest = hashlib.sha256(scenario_name.encode("utf-8", "surrogatepass")).digest()
        return int.from_bytes(digest[:8]) % self.count == self.index - 1


def shard(text: str) -> Shard | None:
    """Return which part of how many; ``None`` for an empty text."""
    if not text.strip():
        return None
    found = re.fullmatch(r"\s*(\d{1,6})\s*/\s*(\d{1,6})\s*", text, re.ASCII)
    if found is None:
        raise ValueError("write which part of how many, such as 2/8")
    index, count = int(found[1]), int(found[2])
    if not 1 <= index <= count:
        raise ValueError(f"parts are counted from 1: write 1/{count or 8} to {count or 8}/{count or 8}")
    return Shard(index, count)


class Sharding:
    """Leaves the scenarios of other parts to them; tests that are of no scenario are in every part."""

    def __init__(self, part: Shard) -> None:
        self._part = part
        self._left = 0

    def pytest_report_header(self) -> str:
        """Say which part this is."""
        return f"voice scenarios: part {self._part.index} of {self._part.count}"

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, config: pytest.Config, items: list[pytest.Item]) -> None:
        """Deselect what another part holds, of what is selected otherwise."""
        others = [item for item in items if (name := _scenario_of(item)) and not self._part.holds(name)]
        if others:
            self._left = len(others)
            left = set(others)
            items[:] = [item for item in items if item not in left]
            config.hook.pytest_deselected(items=others)
        if hasattr(config, "workeroutput"):
            config.workeroutput[LEFT_OUTPUT] = self._left

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        """Learn from a worker of xdist whether it left any to others."""
        self._left += getattr(node, "workeroutput", {}).get(LEFT_OUTPUT, 0)

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Let a part in which nothing is left be a success: what there is, other parts hold."""
        if self._left and session.exitstatus == pytest.ExitCode.NO_TESTS_COLLECTED:
            session.exitstatus = pytest.ExitCode.OK


def _scenario_of(item: pytest.Item) -> str | None:
    """Return the scenario that an item is about: its own, or that of its mark; ``None`` if it is of none."""
    if isinstance(name := look_up(item.user_properties, SCENARIO), str):
        return name
    mark = item.get_closest_marker(SCENARIO_MARK)
    return str(mark.args[0]) if mark and mark.args else None
