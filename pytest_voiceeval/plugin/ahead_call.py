"""The call of one item that is held beside others."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest

from pytest_voiceeval.plugin.folders import note_that_call_is_over
from pytest_voiceeval.plugin.notes import note
from pytest_voiceeval.report.properties import CALL_SECONDS, attempts

if TYPE_CHECKING:
    from pathlib import Path

    from pytest_voiceeval.model.conversation import Conversation, RetriedAttempt
    from pytest_voiceeval.run.lending import Lender
    from pytest_voiceeval.run.settings import RunSettings
    from pytest_voiceeval.run.together import HeldCall
    from pytest_voiceeval.scenarios.base import Scenario


class AheadCall:
    """The call of one item, from when it is handed over until the item takes what it came to.

    Attributes:
        scenario: as it is held.
        held: by the thread of the calls.
        retried: the calls of it that do not count.
        seconds: of wall time that it took, retries included; ``None`` while it goes on.
    """

    held: HeldCall[Conversation]

    def __init__(self, scenario: Scenario, claim: Callable[[], Path]) -> None:
        self.scenario = scenario
        self.retried: list[RetriedAttempt] = []
        self.seconds: float | None = None
        self._claim = claim
        self._claiming = threading.Lock()
        self._folder: Path | None = None

    def folder(self) -> Path:
        """Return its folder, made when it begins, or when it is asked for before."""
        with self._claiming:
            if self._folder is None:
                self._folder = self._claim()
            return self._folder

    def note_end(self, item: pytest.Item) -> None:
        """Have its folder tell that it came to its end, if it did, and ``item`` does not take it any more.

        One that is broken off while its bots are given up has come to its end, too.
        """
        from pytest_voiceeval.run.evidence import has_ended  # noqa: PLC0415 - heavy

        if self._folder is not None and (self.held.is_over or has_ended(self._folder)):
            note_that_call_is_over(item, self._folder)

    def tell(self, item: pytest.Item) -> None:
        """Have the reports of ``item`` carry how long its call took, and how often it was held."""
        if self.retried:
            note(item, attempts(len(self.retried) + 1, self.retried[-1].reason))
        if self.seconds is not None:
            note(item, [(CALL_SECONDS, round(self.seconds, 3))])

    async def hold(self, users: Lender, agents: Lender, settings: RunSettings) -> Conversation:
        """Hold it, once there are bots for it."""
        from pytest_voiceeval.run.retries import hold_beside_others_until_it_counts  # noqa: PLC0415 - heavy

        async with users.lent() as user, agents.lent() as agent:
            begun = time.monotonic()
            try:
                return await hold_beside_others_until_it_counts(
                    self.scenario,
                    user=user,
                    agent=agent,
                    settings=settings,
                    folder=self.folder(),
                    on_retry=self.retried.append,
                )
            finally:
                self.seconds = time.monotonic() - begun
