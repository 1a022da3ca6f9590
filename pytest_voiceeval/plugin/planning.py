"""``--setup-only`` and ``--setup-plan``: pytest shows which fixtures tests have; no call is held for them."""

from __future__ import annotations

from typing import Any

import pytest

CALL_FIXTURES = ("voice_folder", "_voice_can_be_scored", "voice_conversation", "voice_metrics")
"""Fixtures that are there for one call: its folder, and what comes of it."""


def is_only_planned(config: pytest.Config) -> bool:
    """Return whether pytest sets fixtures up, or shows which it would, and runs no test."""
    return bool(config.getoption("setuponly", default=False))


def holds_calls(config: pytest.Config) -> bool:
    """Return whether pytest runs tests in this session."""
    return not (config.option.collectonly or is_only_planned(config))


class OnlyPlanned:
    """Has no fixture of a call set up, nor one that builds on it; pytest shows them all the same.

    pytest does so with every fixture where it is asked for the plan alone.
    """

    def __init__(self) -> None:
        self._planned: set[str] = set()
        self._set_up: set[pytest.FixtureDef[Any]] = set()

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_setup(self) -> None:
        """Begin anew, but for wide fixtures: those of the same name may be others in the next test."""
        self._planned = {*CALL_FIXTURES, *(fixture.argname for fixture in self._set_up)}

    @pytest.hookimpl(tryfirst=True)
    def pytest_fixture_setup(self, fixturedef: pytest.FixtureDef[Any], request: Any) -> object | None:
        """Give a fixture that needs a call no value."""
        if self._planned.isdisjoint({fixturedef.argname, *fixturedef.argnames}):
            return None
        self._planned.add(fixturedef.argname)
        self._set_up.add(fixturedef)
        fixturedef.cached_result = (None, fixturedef.cache_key(request), None)
        return fixturedef.cached_result

    def pytest_fixture_post_finalizer(self, fixturedef: pytest.FixtureDef[Any]) -> None:
        """Forget a fixture that is torn down."""
        self._set_up.discard(fixturedef)
