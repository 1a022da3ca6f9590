"""Files of a run that could not be written: told at its end, and never the end of it."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator

import pytest

from pytest_voiceeval.report.outcomes import Outcome
from pytest_voiceeval.report.paths import shown_path


class Unwritten:
    """Collects why files of a run are missing."""

    def __init__(self) -> None:
        self._faults: dict[str, None] = {}

    @contextlib.contextmanager
    def told(self) -> Iterator[None]:
        """Keep a fault of the disk from ending the run, and tell it in the end."""
        try:
            yield
        except OSError as exc:
            self.add(exc)

    def add(self, fault: OSError) -> None:
        """Tell a fault in the end; one that came several times once."""
        self._faults[str(fault)] = None

    def lines(self, outcomes: Iterable[Outcome]) -> list[str]:
        """Return what is missing, and of which scenarios the files are gone that they had."""
        gone = [
            f"{outcome.scenario}: its folder {shown_path(outcome.folder)} is gone, so it is in no rate"
            for outcome in outcomes
            if outcome.is_scored and outcome.folder and not outcome.folder.is_dir()
        ]
        return [*self._faults, *gone]

    def settle(self, session: pytest.Session) -> None:
        """Have a run whose files are not whole end with exit code 1, if nothing else went wrong in it."""
        if self._faults and session.exitstatus == pytest.ExitCode.OK:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED
