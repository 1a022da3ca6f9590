"""What an item tells in its reports."""

from __future__ import annotations

from collections.abc import Generator

import pytest

from pytest_voiceeval.errors import VoiceEvalError
from pytest_voiceeval.model.safe_text import shown_lines
from pytest_voiceeval.report.properties import SCENARIO, Property, look_up, replaced
from pytest_voiceeval.report.sendable import sendable, sendable_text

MOST_IN_LINE = 100_000
"""Longest line of a message that pytest made: one of an assertion may be long for good reason."""

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
    can hold. The message is one that does nothing to a terminal; what was printed is shown as it was.
    """
    if look_up(report.user_properties, SCENARIO) is None:
        return
    report.user_properties[:] = [(sendable_text(k), sendable(value)) for k, value in report.user_properties]
    report.sections[:] = [(sendable_text(title), sendable_text(text)) for title, text in report.sections]
    if isinstance(report.longrepr, tuple):
        path, line, reason = report.longrepr
        report.longrepr = (path, line, shown_lines(reason))
    elif (text := report.longreprtext) != (plain := shown_lines(text, MOST_IN_LINE)):
        report.longrepr = plain


class SafeTexts:
    """Has texts be such that every reporter can write and show them, before other plugins get to see them.

    A model or a bot may have put half a surrogate pair in, with which a run under Allure would end.
    """

    @pytest.hookimpl(wrapper=True, trylast=True)
    def pytest_fixture_setup(self) -> Generator[None, object, object]:
        """Change the texts of an exception that a fixture raises; those of one of ours are for a person."""
        try:
            return (yield)
        except Exception as exc:
            make = shown_lines if isinstance(exc, VoiceEvalError) else sendable_text
            safe = tuple(make(arg) if isinstance(arg, str) else arg for arg in exc.args)
            if safe != exc.args:
                exc.args = safe
            raise

    @pytest.hookimpl(wrapper=True, trylast=True)
    def pytest_runtest_makereport(self) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        """Change the texts of a report of a scenario."""
        report = yield
        make_sendable(report)
        return report
