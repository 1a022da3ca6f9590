"""Tells that calls are held at once, and which were not, and why."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import pytest

from pytest_voiceeval.plugin.options import CONCURRENCY
from pytest_voiceeval.report.properties import HELD_ALONE, SCENARIO, look_up


class HeldAlone:
    """Lives in the one process that sees all reports: never on a worker of xdist."""

    def __init__(self, at_once: int) -> None:
        self._at_once = at_once
        self._items: dict[str, set[str]] = defaultdict(set)

    def pytest_report_header(self) -> str:
        """Say how many calls are held at once."""
        return f"voice scenarios: up to {self._at_once} calls at once in each process"

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Remember why a call waited for its turn."""
        reason = look_up(report.user_properties, HELD_ALONE)
        if isinstance(reason, str) and look_up(report.user_properties, SCENARIO) is not None:
            self._items[reason].add(report.nodeid)

    @pytest.hookimpl(trylast=True)
    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        """Tell how many there were, for each reason."""
        for reason, items in sorted(self._items.items()):
            terminalreporter.write_line(
                f"{CONCURRENCY.flag}={self._at_once}: {len(items)} call(s) waited for their turn: {reason}"
            )
