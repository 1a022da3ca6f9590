"""Holding a call: sound both ways at a steady pace, until it ends; then the evidence."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import Any

from pytest_voiceeval.audio.jitter import JitterBuffer
from pytest_voiceeval.bridge.ending import broken_off_by, cause_of, ending, told
from pytest_voiceeval.bridge.endpoint import Peer
from pytest_voiceeval.bridge.endpoint_faults import check_endpoints
from pytest_voiceeval.bridge.events import Listener
from pytest_voiceeval.bridge.limits import FAREWELL_SECONDS, next_limit
from pytest_voiceeval.bridge.live import LiveTurns
from pytest_voiceeval.bridge.noise import measured, noisy_channel
from pytest_voiceeval.bridge.opening import kick_off, see_to_start
from pytest_voiceeval.bridge.parties import party_of
from pytest_voiceeval.bridge.party import Party
from pytest_voiceeval.bridge.pulls import pull_both
from pytest_voiceeval.bridge.settings import CallSettings
from pytest_voiceeval.bridge.setup import prepare
from pytest_voiceeval.bridge.simulator import check_present, check_working
from pytest_voiceeval.bridge.sync import world_sync
from pytest_voiceeval.bridge.tape import Tape
from pytest_voiceeval.bridge.ticker import Ticker
from pytest_voiceeval.bridge.turns import turns_of
from pytest_voiceeval.bridge.understanding import until_understood
from pytest_voiceeval.bridge.undisturbed import undisturbed
from pytest_voiceeval.bridge.warp import wall_time
from pytest_voiceeval.model.conversation import Conversation, SideEvidence
from pytest_voiceeval.model.ending import Ending
from pytest_voiceeval.model.stop_reason import StopReason
from pytest_voiceeval.model.turns import AGENT, SIDES, USER, Side, other
from pytest_voiceeval.scenarios.base import Scenario

RATE_HZ = 16_000
"""Rate of the sound that both bots get, and of the recording."""

FRAME_SECONDS = 0.02
"""Length of a frame."""

FRAME_SAMPLES = round(RATE_HZ * FRAME_SECONDS)

SETTLE_SECONDS = 0.2
"""How long an agent that said that the call is over, and has nothing left to say, may begin to speak yet."""

SYNTHESIS_SECONDS = 3.0
"""How long one that has a text left to say may take until it is heard."""

DRAIN_SECONDS = 20.0
"""How long a last sentence may last after that."""

LEAST_SECONDS = 0.001
"""The shortest wait for a limit: time that stands still while it is waited for must come beyond it."""

CHECK_SECONDS = 1.0
"""How often the limits of a call are looked at: a message may bring one nearer."""

MOST_PULLS = 3
"""How often the evidence is asked for where a tool of a bot is still at work."""

RECONNECT_SECONDS = 1.0
"""How long a bot that hung up is tried again, for its evidence."""


async def hold_call(scenario: Scenario, *, user: Peer, agent: Peer, settings: CallSettings) -> Conversation:
    """Prepare both bots for ``scenario``, hold the call, and return its evidence.

    An error that breaks it off tells whose fault it is, in which turn it came, and after which event.

    Raises:
        DefinitionError: if the scenario asks for what cannot be done.
        BotUnreachableError: if a bot cannot be reached or never gets ready.
        BotRefusedError: if a bot refuses its part of the scenario.
        BotLostError: if the simulated user goes away during the call.
        ModelEndpointError: if a model or hosted speech that an embedded bot needs fails for good.
    """
    call: _Call | None = None
    try:
        async with asyncio.TaskGroup() as tasks:
            call = _Call(scenario, {USER: user, AGENT: agent}, settings, tasks)
            return await call.hold()
    except ExceptionGroup as group:
        error = group.exceptions[0]
        raise told(error, call.ending()) if call else error from error.__cause__


class _Call:
    """The state of one call."""

    def __init__(
        self, scenario: Scenario, peers: dict[Side, Peer], settings: CallSettings, tasks: asyncio.TaskGroup
    ) -> None:
        self._scenario = scenario
        self._noise = noisy_channel(scenario, RATE_HZ)
        self._settings = settings
        self._tasks = tasks
        self._loop = asyncio.get_running_loop()
        self._origin = self._loop.time()
        self._begun: float | None = None
        self._started_at = wall_time(self._loop)
        self._events: list[str] = []
        self._ending: Ending | None = None
        self._tape = Tape(RATE_HZ, FRAME_SAMPLES)
        self._last_told = 0.0
        self._exit: asyncio.Future[None] = self._loop.create_future()
        self._listeners = {side: self._listener(side) for side in SIDES}
        self._live = LiveTurns(scenario.name or "", settings.on_turn, self._listeners.values())
        self._parties: dict[Side, Party] = {
            side: party_of(
                peers[side],
                settings.opener,
                tasks,
                rate_hz=RATE_HZ,
                hear=self._listeners[side].hear,
                note=self._note,
            )
            for side in SIDES
        }
        self._sync = world_sync(scenario, self._parties, note=self._note)

    async def hold(self) -> Conversation:
        """Go through the whole call and return its evidence."""
        try:
            await prepare(self._scenario, self._parties, limit=self._settings.connect_timeout)
            async with self._sync.in_step(self._listeners):
                with undisturbed():
                    reason = await self._talk()
                evidence = await self._pull()
            return self._conversation(reason, evidence)
        except BaseException as exc:  # whatever ends the call early: what there is of it is handed over
            self._ending = self.ending(str(exc) or type(exc).__name__)
            if self._begun is not None and self._settings.on_interrupt is not None:
                self._settings.on_interrupt(self._conversation(broken_off_by(exc), {}))
            raise
        finally:
            for listener in self._listeners.values():
                listener.marks.forget()
            await asyncio.gather(*(party.close() for party in self._parties.values()))

    def ending(self, cause: str = "") -> Ending:
        """Return how the call ended; if it has not yet, how it ends now, by ``cause``."""
        return self._ending or ending(cause, tape=self._tape, now=self._now(), events=self._events)

    async def _pull(self) -> dict[Side, SideEvidence]:
        """Return both bots' evidence, as it is once no action is on its way any more."""
        await self._sync.settle()
        for _ in range(MOST_PULLS):
            evidence = await pull_both(
                self._scenario,
                self._parties,
                self._listeners,
                reconnect_limit=RECONNECT_SECONDS,
                note=self._note,
            )
            if not await self._sync.settle():
                break
        return evidence

    async def _talk(self) -> StopReason:
        for side in SIDES:
            await self._parties[side].reopen_if_lost(self._settings.connect_timeout)
        self._begun = self._loop.time()
        self._started_at = wall_time(self._loop)
        self._note("the call begins")
        for party in self._parties.values():
            party.begin()
        ticker = Ticker(self._begun, FRAME_SECONDS, self._carry)
        starting = self._tasks.create_task(see_to_start(self._parties, self._tape, note=self._note))
        try:
            await kick_off(self._parties[AGENT])
            reason = await self._until_over(ticker.failed)
            self._ending = self.ending(self._cause(reason))
            self._note(f"the call is over: {reason.value}: {self._ending.cause}")
            await self._drain(reason)
            await until_understood(self._parties, self._tape, now=self._now)
            if ticker.failed.done():
                ticker.failed.result()
        finally:
            ticker.stop()
            starting.cancel()
            self._live.end()
        return reason

    def _carry(self, number: int) -> None:
        """Give each side the frame ``number`` of the other's sound, and put both on the tape."""
        due = number * FRAME_SECONDS
        user = self._listeners[USER].buffer.pop(due)
        agent = self._listeners[AGENT].buffer.pop(due)
        noisy = None if self._noise is None else self._noise.mix(user.samples)
        self._tape.record(user, agent, user_heard=noisy)
        self._parties[AGENT].play(user, noisy)
        self._parties[USER].play(agent)

    async def _until_over(self, fault: asyncio.Future[None]) -> StopReason:
        lost = {side: self._parties[side].lost for side in SIDES}
        while True:
            if self._exit.done():
                return StopReason.EXIT
            if lost[AGENT].done():
                return StopReason.AGENT_HANGUP
            check_present(self._parties[USER], lost[USER], self._listeners[USER])
            if fault.done():
                fault.result()
            reason, at = next_limit(self._settings, self._listeners, self._last_activity())
            is_over = self._now() >= at
            is_silent = is_over and reason is StopReason.INACTIVITY
            check_endpoints(self._listeners, self._parties, silent=is_silent)
            if is_silent:
                check_working(self._parties[USER], self._listeners)
            if is_over:
                return reason
            gone = [future for future in lost.values() if not future.done()]
            waited: list[asyncio.Future[Any]] = [self._exit, *gone, fault]
            await asyncio.wait(
                waited,
                timeout=min(max(at - self._now(), LEAST_SECONDS), CHECK_SECONDS),
                return_when=asyncio.FIRST_COMPLETED,
            )

    def _cause(self, reason: StopReason) -> str:
        lost = self._parties[AGENT].lost
        silence = self._now() - self._last_activity()
        hang_up = str(lost.result()) if lost.done() else ""
        return cause_of(reason, self._listeners, self._settings, self._tape, silence=silence, hang_up=hang_up)

    async def _drain(self, reason: StopReason) -> None:
        """Hear out the agent's last sentence, after it has ended the call or hung up."""
        listener = self._listeners[AGENT]
        if reason not in (StopReason.EXIT, StopReason.AGENT_HANGUP):
            return
        gone = self._parties[AGENT].lost
        begun = quiet_since = self._now()
        while self._now() < begun + DRAIN_SECONDS:
            patience = SYNTHESIS_SECONDS if listener.has_text_left else SETTLE_SECONDS
            if not listener.buffer.empty or (listener.speaking and not gone.done()):
                quiet_since = self._now()
            elif gone.done() or self._now() >= quiet_since + patience:
                return
            elif quiet_since > begun and listener.announces and not listener.has_text_left:
                return  # it has said that it stopped
            await asyncio.sleep(FRAME_SECONDS)

    def _conversation(self, reason: StopReason, evidence: dict[Side, SideEvidence]) -> Conversation:
        agent = self._parties[AGENT]
        return Conversation(
            scenario_name=self._scenario.name or "",
            turns=turns_of(self._tape, heard=[AGENT] if agent.is_black_box else []),
            stop_reason=reason,
            ending=self.ending(),
            started_at=self._started_at,
            ended_at=self._started_at + timedelta(seconds=max(self._now(), 0.0)),
            recording=self._tape.recording(),
            agent=evidence.get(AGENT, self._listeners[AGENT].evidence()),
            user=evidence.get(USER, self._listeners[USER].evidence()),
            pushed=tuple(self._listeners[AGENT].pushed),
            simulator_end_reported=self._listeners[USER].said_exit,
            agent_is_black_box=agent.is_black_box,
            agent_recognised_by=agent.recognised_by,
            agent_protocol=agent.peer.dialect.protocol,
            agent_closed_normally=agent.lost.done() and agent.lost.result().is_normal,
            clock=self._settings.clock,
            noise=measured(self._noise),
            drift=self._sync.drift(evidence),
            events=tuple(self._events),
        )

    def _listener(self, side: Side) -> Listener:
        buffer = JitterBuffer(RATE_HZ, FRAME_SAMPLES)
        said, hears = self._tape.track(side), self._tape.track(other(side))
        listener = Listener(side, buffer, said, now=self._now, note=self._note, hears=hears)
        listener.on_activity = self._active
        listener.on_exit = self._agent_said_exit if side == AGENT else self._user_said_exit
        return listener

    def _agent_said_exit(self) -> None:
        if not self._exit.done():
            self._exit.set_result(None)

    def _user_said_exit(self) -> None:
        self._note(f"[USER] ended the call; {FAREWELL_SECONDS:g} s of silence end it unless the agent does")
        self._active()

    def _active(self) -> None:
        self._last_told = self._now()

    def _last_activity(self) -> float:
        """Return when a bot was last heard, or told something."""
        return max(self._last_told, self._tape.heard_until)

    def _now(self) -> float:
        """Return the tape's time: seconds since the call began; below 0 before."""
        return self._loop.time() - self._now_absolute()

    def _now_absolute(self) -> float:
        return self._begun if self._begun is not None else float("inf")

    def _note(self, line: str) -> None:
        at = self._loop.time() - (self._begun if self._begun is not None else self._origin)
        self._events.append(f"[{at:8.3f}s] {line}")
