"""Calls that are held ahead of their items' turns, several at once."""

from __future__ import annotations

import concurrent.futures
from collections.abc import Generator
from functools import partial
from typing import TYPE_CHECKING, Any

import pytest

from pytest_voiceeval.plugin.ahead_call import AheadCall
from pytest_voiceeval.plugin.ahead_of_turn import NotAhead, upcoming, wide_values
from pytest_voiceeval.plugin.folders import claim_scenario_folder
from pytest_voiceeval.plugin.items import VoiceItem
from pytest_voiceeval.plugin.means import Means
from pytest_voiceeval.plugin.notes import note
from pytest_voiceeval.report.properties import HELD_ALONE

if TYPE_CHECKING:
    from pathlib import Path

    from pytest_voiceeval.bridge.endpoint import Endpoint
    from pytest_voiceeval.model.conversation import Conversation
    from pytest_voiceeval.run.lending import Lender
    from pytest_voiceeval.run.together import CallThread, HeldCall
    from pytest_voiceeval.scenarios.base import Scenario

MOST_FINISHED = 32
"""Calls that may be over and wait for pytest to come to their items; a recording of each is in memory."""

SCANNED = 200
"""Items after the present one that are looked at for calls to hold."""

BREAK_OFF_SECONDS = 15.0
"""How long a call that is broken off may take to write what there is of it."""

BOTS = ("voice_user", "voice_agent")
"""Fixtures whose values are lent to calls."""

CHARGED = "on the clock charged calls are held one after another"


class CallsAhead:
    """Holds the calls of up to ``at_once`` items at once: that of the present item, and of those after it.

    pytest still runs one item after another, in their order. When it comes to an item, what its call has
    come to may be there already.
    """

    def __init__(self, at_once: int) -> None:
        self._at_once = at_once
        self._calls: dict[pytest.Item, AheadCall] = {}
        self._live: dict[pytest.FixtureDef[Any], object] = {}
        self._why_not: dict[pytest.Item, str] = {}
        self._lenders: dict[int, Lender] = {}
        self._bots: dict[pytest.FixtureDef[Any], object] = {}
        self._thread: CallThread | None = None
        self._clock_name = ""

    def call_of(self, item: pytest.Item) -> AheadCall | None:
        """Return the call of ``item`` that was handed over ahead of its turn, if there is one."""
        return self._calls.get(item)

    def conversation(
        self, item: pytest.Item, scenario: Scenario, folder: Path, means: Means
    ) -> Conversation | None:
        """Return the call of ``item``, held now if it was not yet; others are held meanwhile.

        ``None`` if it must be held alone, which it may when this returns.

        Raises:
            BotError, ClockError, DefinitionError: as ``hold`` does.
        """
        clock = means.clock()
        if clock.name == "charged" or (self._thread and clock.name != self._clock_name):
            note(item, [(HELD_ALONE, CHARGED if clock.name == "charged" else "its clock is another one")])
            _wait(self._unfinished(), concurrent.futures.ALL_COMPLETED)
            return None
        if why := self._why_not.get(item):
            note(item, [(HELD_ALONE, why)])
        call = self._calls.get(item) or self._begin(item, AheadCall(scenario, lambda: folder), means)
        try:
            while not call.held.outcome.done():
                self._begin_others(item)
                _wait([call.held, *self._unfinished()], concurrent.futures.FIRST_COMPLETED)
            self._begin_others(item)
            return call.held.outcome.result()
        except BaseException as exc:  # of the call, or whatever ends the waiting for it
            if isinstance(exc, KeyboardInterrupt):
                self._break_off()
            call.held.cancel()
            _wait([call.held], concurrent.futures.ALL_COMPLETED, BREAK_OFF_SECONDS)
            raise
        finally:
            self._calls.pop(item, None)
            call.tell(item)

    def _begin(self, item: pytest.Item, call: AheadCall, means: Means) -> AheadCall:
        from pytest_voiceeval.run.together import CallThread  # noqa: PLC0415 - heavy

        users, agents = self._lender(means.user), self._lender(means.agent)
        if self._thread is None:
            clock = means.clock()
            self._thread, self._clock_name = CallThread(clock, self._at_once), clock.name
        call.held = self._thread.submit(partial(call.hold, users, agents, means.settings))
        self._calls[item] = call
        return call

    def _lender(self, endpoint: Endpoint) -> Lender:
        from pytest_voiceeval.run.lending import Lender  # noqa: PLC0415 - heavy

        if id(endpoint) not in self._lenders:
            self._lenders[id(endpoint)] = Lender(endpoint, self._at_once)
        return self._lenders[id(endpoint)]

    def _begin_others(self, item: pytest.Item) -> None:
        """Hand over calls of the next items: as many as are held at once, and as many to follow them.

        The thread begins those when places get free, whatever pytest does meanwhile.
        """
        if item.session.shouldstop or item.session.shouldfail:
            return
        following = upcoming(item)[:SCANNED]
        for other in self._calls.keys() - {item, *following}:
            self._drop(other)  # another worker of xdist has it now
        for other in following:
            if len(self._unfinished()) >= 2 * self._at_once or len(self._calls) > MOST_FINISHED:
                return
            if other not in self._calls and isinstance(other, VoiceItem):
                self._begin_ahead(other)

    def _begin_ahead(self, item: VoiceItem) -> None:
        """Hand the call of ``item`` over, if it may be held ahead of its turn."""
        try:
            scenario, means = self._prepared(item)
            call = AheadCall(scenario, partial(claim_scenario_folder, item, item.name))
            self._begin(item, call, means)
        except NotAhead as exc:
            self._why_not[item] = str(exc)
        else:
            self._why_not.pop(item, None)

    def _prepared(self, item: VoiceItem) -> tuple[Scenario, Means]:
        """Return what the call of ``item`` is held of and with.

        Raises:
            NotAhead: if it may not be held now.
        """
        from pytest_voiceeval.scoring.judging import missed_without_judge  # noqa: PLC0415 - light start

        values = wide_values(item, self._live)
        try:
            scenario = item.scenario()
            unscorable = values["voice_judge"] is None and missed_without_judge(scenario)
            settings = values["voice_settings"].run_settings()
            means = Means(values["voice_user"], values["voice_agent"], settings)
            is_other = means.clock().name != self._clock_name
            for bot in (means.user, means.agent):
                self._lender(bot)
        except Exception:  # whatever it is: it is raised, and told, when its turn comes
            raise NotAhead from None
        if unscorable or is_other:
            raise NotAhead
        return scenario, means

    def _unfinished(self) -> list[HeldCall[Conversation]]:
        return [call.held for call in self._calls.values() if not call.held.outcome.done()]

    def _drop(self, item: pytest.Item) -> None:
        """Break off the call of ``item``, which does not take it."""
        if (call := self._calls.pop(item, None)) is not None:
            call.held.cancel()

    def _break_off(self) -> None:
        for call in self._calls.values():
            call.held.cancel()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, object, object]:
        """Keep pipecat's deprecations from the calls; drop the call of an item that did not take it."""
        from pytest_voiceeval.run.logs import quieten_pipecat  # noqa: PLC0415 - light start

        quieten_pipecat()
        try:
            return (yield)
        finally:
            self._drop(item)
            self._why_not.pop(item, None)

    @pytest.hookimpl(wrapper=True)
    def pytest_fixture_setup(self, fixturedef: pytest.FixtureDef[Any]) -> Generator[None, object, object]:
        """Remember the values of the fixtures of the session, and the bots of narrower ones."""
        value = yield
        if fixturedef.scope == "session":
            self._live[fixturedef] = value
        if fixturedef.argname in BOTS:
            self._bots[fixturedef] = value
        return value

    def pytest_fixture_post_finalizer(self, fixturedef: pytest.FixtureDef[Any]) -> None:
        """Forget a fixture that is torn down, and a bot that no other fixture has."""
        self._live.pop(fixturedef, None)
        bot = self._bots.pop(fixturedef, None)
        if bot is not None and not any(other is bot for other in self._bots.values()):
            self._lenders.pop(id(bot), None)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_teardown(self, item: pytest.Item, nextitem: pytest.Item | None) -> None:
        """Break off what is still held if this is the last item, before the bots are given up."""
        if nextitem is None or item.session.shouldstop or item.session.shouldfail:
            self.close()

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self) -> None:
        """Break off what is still held, however the run ended."""
        self.close()

    def close(self) -> None:
        """Break off what is held, and end the thread; it may be begun anew.

        Raises:
            RuntimeError: if a call does not end.
        """
        thread, self._thread = self._thread, None
        is_closed = thread is None or thread.close()
        for item, call in self._calls.items():
            call.note_end(item)
        self._calls.clear()
        self._lenders.clear()
        if not is_closed:
            raise RuntimeError(f"calls on the clock {self._clock_name} do not end, and were left alone")


def _wait(calls: list[HeldCall[Conversation]], until: str, seconds: float | None = None) -> None:
    """Wait for calls; a signal ends it."""
    concurrent.futures.wait([call.outcome for call in calls], seconds, until)
