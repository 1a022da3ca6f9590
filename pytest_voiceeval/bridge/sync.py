"""Keeping two bots' worlds in step while they talk."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import asynccontextmanager
from functools import partial
from typing import Any

from pytest_voiceeval.bridge.events import Listener
from pytest_voiceeval.bridge.party import Party
from pytest_voiceeval.errors import BotRefusedError, DefinitionError
from pytest_voiceeval.model.conversation import SideEvidence
from pytest_voiceeval.model.turns import Side
from pytest_voiceeval.scenarios.base import Scenario
from pytest_voiceeval.scenarios.shadow import Deltas, Shadow, ShadowFaultError
from pytest_voiceeval.wire.limits import SETUP_SECONDS
from pytest_voiceeval.wire.requests import RequestFailedError
from pytest_voiceeval.world.diff import diff_by_path

SHOWN_DIFFERENCES = 10


def world_sync(
    scenario: Scenario, parties: Mapping[Side, Party], *, note: Callable[[str], None]
) -> WorldSync | Unsynced:
    """Return what keeps the worlds of a scenario's bots in step; one that does nothing if it asks for none.

    Raises:
        DefinitionError: if the scenario's worlds cannot be set up.
    """
    return WorldSync(scenario, parties, note=note) if scenario.syncs_state else Unsynced()


class Unsynced:
    """For a scenario whose worlds have nothing to do with each other."""

    @asynccontextmanager
    async def in_step(self, listeners: Mapping[Side, Listener]) -> AsyncIterator[None]:
        """Run the body."""
        yield

    async def settle(self) -> bool:
        """Return that nothing was done."""
        return False

    def drift(self, evidence: Mapping[Side, SideEvidence]) -> tuple[str, ...]:
        """Return that nothing can part."""
        return ()


class WorldSync:
    """Follows what both bots do, one action at a time, and tells each what its world must learn of it.

    Args:
        scenario: whose worlds are kept in step.
        parties: the two bots.
        note: takes lines for the bridge's log.

    Attributes:
        faults: what did not work during the call; then the worlds cannot be trusted.
    """

    def __init__(
        self, scenario: Scenario, parties: Mapping[Side, Party], *, note: Callable[[str], None]
    ) -> None:
        self._domain = scenario.domain
        self._shadow = Shadow(scenario)
        self._parties = parties
        self._note = note
        self._actions: asyncio.Queue[tuple[Side, Mapping[str, Any]]] = asyncio.Queue()
        self._following: asyncio.Task[None] | None = None
        self._has_moved = False
        self._untold: set[Side] = set()
        self.faults: list[str] = []

    @asynccontextmanager
    async def in_step(self, listeners: Mapping[Side, Listener]) -> AsyncIterator[None]:
        """Bring the initialized worlds in step, and keep them so as long as the body runs.

        Raises:
            BotRefusedError: if a bot does not take what its world must learn before the call.
        """
        try:
            await self._tell(self._shadow.sync())
        except RequestFailedError as exc:
            raise BotRefusedError(f"the worlds could not be brought in step before the call: {exc}") from None
        for side, listener in listeners.items():
            listener.on_action = partial(self._take, side)
        self._following = asyncio.get_running_loop().create_task(
            self._follow_all(), name="bridge follows actions"
        )
        try:
            yield
        finally:
            self._following.cancel()
            await asyncio.wait([self._following])

    def _take(self, side: Side, action: Mapping[str, Any]) -> None:
        self._actions.put_nowait((side, action))

    async def _follow_all(self) -> None:
        """Follow the actions in the order of their arrival, until cancelled."""
        while True:
            side, action = await self._actions.get()
            try:
                await self._follow(side, action)
            finally:
                self._actions.task_done()

    async def settle(self) -> bool:
        """Wait until all actions that were taken are followed, and both bots know.

        Returns:
            Whether any was followed since this was last asked.
        """
        if self._following is not None:
            joined = asyncio.ensure_future(self._actions.join())
            await asyncio.wait([joined, self._following], return_when=asyncio.FIRST_COMPLETED)
            joined.cancel()
            if self._following.done():
                self._following.result()
        has_moved, self._has_moved = self._has_moved, False
        return has_moved

    def drift(self, evidence: Mapping[Side, SideEvidence]) -> tuple[str, ...]:
        """Return where the bots' worlds are not what they must be, as lines; none if they are.

        A bot whose end state could not be pulled, that went away and could not be told, or whose world is its
        own, is not looked at.
        """
        return (
            *self.faults,
            *(line for side, found in evidence.items() for line in self._apart(side, found)),
        )

    def _apart(self, side: Side, found: SideEvidence) -> Iterator[str]:
        if self._parties[side].is_black_box:
            return
        wanted = self._shadow.db_hash(side)
        if side in self._untold or found.actions is None or found.db_hash == wanted:
            return
        lines = [] if found.db is None else diff_by_path(self._shadow.worlds[side], found.db)
        if not lines:
            yield f"the {side}'s world has hash {found.db_hash}; by all recorded actions it must be {wanted}"
            return
        yield f"the {side}'s world, as it must be by all recorded actions → as it is:"
        yield from (f"  {line}" for line in lines[:SHOWN_DIFFERENCES])
        if len(lines) > SHOWN_DIFFERENCES:
            yield f"  … and {len(lines) - SHOWN_DIFFERENCES} more differences"

    async def _follow(self, side: Side, action: Mapping[str, Any]) -> None:
        self._has_moved = True
        try:
            self._shadow.follow(side, action)
            await self._tell(self._shadow.sync())
        except (ShadowFaultError, RequestFailedError, DefinitionError) as exc:
            self.faults.append(str(exc))
            self._note(f"[SYNC] {exc}")

    async def _tell(self, deltas: Deltas) -> None:
        """Send each bot its delta and await its consent.

        Raises:
            RequestFailedError: if a bot does not consent.
        """
        outcomes = await asyncio.gather(
            *(self._tell_one(side, delta) for side, delta in deltas.items()), return_exceptions=True
        )
        for outcome in outcomes:
            if isinstance(outcome, BaseException):
                raise outcome

    async def _tell_one(self, side: Side, delta: Mapping[str, Any]) -> None:
        if self._is_gone(side, delta):
            return
        self._note(f"[SYNC] to the {side}: {dict(delta)!r}")
        arguments = {"domain": self._domain, "delta": delta}
        try:
            answer = await self._parties[side].ask("apply_sync_delta", arguments, limit=SETUP_SECONDS)
        except RequestFailedError:
            if self._is_gone(side, delta):
                return
            raise
        if isinstance(answer, dict) and answer.get("success"):
            return
        errors = answer.get("errors") if isinstance(answer, dict) else None
        told = "; ".join(map(str, errors)) if isinstance(errors, list) and errors else repr(answer)
        raise RequestFailedError(f"the {side} bot did not take apply_sync_delta {dict(delta)!r}: {told}")

    def _is_gone(self, side: Side, delta: Mapping[str, Any]) -> bool:
        """Return whether a bot went away, or has a world of its own; then that is not held to be in step."""
        if self._parties[side].is_black_box:
            return True
        if not self._parties[side].lost.done():
            return False
        self._untold.add(side)
        self._note(f"[SYNC] the {side} is gone and cannot be told: {dict(delta)!r}")
        return True
