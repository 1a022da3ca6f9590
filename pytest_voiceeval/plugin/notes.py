"""What an item tells in its reports."""

from __future__ import annotations

import pytest

from pytest_voiceeval.report.properties import SCENARIO, Property, look_up, replaced
from pytest_voiceeval.report.sendable import sendable, sendable_text

noted_key = pytest.StashKey[set[str]]()


def note(item: pytest.Item, pairs: list[Property]) -> None:
    """Have the reports of ``item`` carry properties, in place of those of the same names."""
    item.stash.setdefault(noted_key, set()).update(name for name, _ in pairs)
    item.user_properties[:] = replaced(item.user_properties, pairs)


def forget(item: pytest.Item) -> None:
    """Have the reports of ``item`` carry nothing that was noted before but the scenario.

    A plugin may run an item again: what the try before came to is not what this one comes to.
    """
    names = item.stash.get(noted_key, set()) - {SCENARIO}
    item.user_properties[:] = [pair for pair in item.user_properties if pair[0] not in names]


def make_sendable(report: pytest.TestReport) -> None:
    """Have the report of a scenario carry only what JUnit XML and xdist can; leave other reports alone.

    Whatever a fixture, a model or a bot put in: properties become plain values, and texts such that UTF-8
    can hold.
    """
    if look_up(report.user_properties, SCENARIO) is None:
        return
    report.user_properties[:] = [(sendable_text(k), sendable(value)) for k, value in report.user_properties]
    report.sections[:] = [(sendable_text(title), sendable_text(text)) for title, text in report.sections]
    if isinstance(report.longrepr, tuple):
        path, line, reason = report.longrepr
        report.longrepr = (path, line, sendable_text(reason))
    elif (text := report.longreprtext) != (plain := sendable_text(text)):
        report.longrepr = plain
