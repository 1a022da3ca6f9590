"""One evaluation: hold the call, keep its evidence, score it, write its metrics."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TypeVarTuple

from pytest_voiceeval.bridge.call import hold_call
from pytest_voiceeval.bridge.clock import choose_clock
from pytest_voiceeval.bridge.ending import told
from pytest_voiceeval.bridge.endpoint import Endpoint, Peer, RunsProcess, TakesPieces
from pytest_voiceeval.bridge.settings import CallSettings
from pytest_voiceeval.errors import (
    BotLostError,
    BotRefusedError,
    DefinitionError,
    JudgeError,
    StorageError,
    WorldsPartedError,
)
from pytest_voiceeval.model.conversation import Conversation
from pytest_voiceeval.model.judgement import Judgement
from pytest_voiceeval.model.metrics import Metrics, Scores, Verdict
from pytest_voiceeval.model.turns import AGENT, USER, Side
from pytest_voiceeval.run.agent_turns import INSUFFICIENT, settled, silent_caller
from pytest_voiceeval.run.echoes import echoing_caller
from pytest_voiceeval.run.ends import with_processes
from pytest_voiceeval.run.evidence import has_evidence, write_evidence
from pytest_voiceeval.run.lending import first_of
from pytest_voiceeval.run.logs import CallLog, bots_log_into
from pytest_voiceeval.run.metrics import metrics_json
from pytest_voiceeval.run.settings import RunSettings
from pytest_voiceeval.run.trace import collect_trace, expect_trace
from pytest_voiceeval.scenarios.base import Scenario
from pytest_voiceeval.scenarios.noise import noise_of
from pytest_voiceeval.scoring.composite import score
from pytest_voiceeval.scoring.evidence import unscorable
from pytest_voiceeval.scoring.judging import Judge
from pytest_voiceeval.wire.address import shown
from pytest_voiceeval.world.files import write_json

METRICS = "metrics.json"
JUDGE_RESULT = "judge_result.json"
SCENARIO_CONFIG = "scenario_config"
BOT_LOG = "bot_log.txt"

Ts = TypeVarTuple("Ts")


def hold(
    scenario: Scenario, *, user: Endpoint, agent: Endpoint, settings: RunSettings, folder: Path
) -> Conversation:
    """Hold one call of ``scenario`` and write its evidence into ``folder``.

    The evidence of a call that is interrupted (Ctrl-C) is written as far as it goes.

    Raises:
        BotError: if a bot does not do its part.
        ClockError: if the bots cannot have the clock that was asked for.
        DefinitionError: if nothing limits the length of the call.
    """
    user, agent = first_of(user), first_of(agent)
    call = _Call(scenario, user, agent, settings, folder)
    call.prepare()
    with bots_log_into(folder / BOT_LOG):
        try:
            conversation = call.clock.run(call.hold(on_interrupt=call.keep_what_can_be))
        except Exception as exc:
            if call.unkept is not None:
                raise call.unkept from exc
            raise
    call.keep(conversation)
    collect_trace(agent, folder)
    return conversation


async def hold_beside_others(
    scenario: Scenario, *, user: Endpoint, agent: Endpoint, settings: RunSettings, folder: Path
) -> Conversation:
    """Hold one call as ``hold`` does, on the running loop, which must be of the call's clock.

    Files are written on other threads: other calls on the loop go on meanwhile.

    Raises:
        BotError, ClockError, DefinitionError: as ``hold`` does.
    """
    call = _Call(scenario, user, agent, settings, folder)
    await asyncio.to_thread(call.prepare)
    interrupted: list[Conversation] = []
    log = CallLog(folder / BOT_LOG)
    try:
        await _to_the_end(log.open)
        with log.of_what_runs():
            conversation = await call.hold(on_interrupt=interrupted.append)
    except BaseException:
        for evidence in interrupted or call.ended:
            await _to_the_end(call.keep_what_can_be, evidence)
        raise
    finally:
        log.close()
    await _to_the_end(call.keep, conversation)
    await _to_the_end(collect_trace, agent, folder)
    return conversation


async def _to_the_end(func: Callable[[*Ts], object], *args: *Ts) -> None:
    """Do ``func`` on another thread, and to its end also if what waits for it is cancelled."""
    job = asyncio.ensure_future(asyncio.to_thread(func, *args))
    try:
        await asyncio.shield(job)
    except asyncio.CancelledError:
        await asyncio.wait([job])
        raise


class _Call:
    """What one call is held with.

    Attributes:
        clock: that it is held on.
        ended: what it came to, as soon as that is known: its bots may go on for a while.
        unkept: why evidence of a call that broke off is missing.

    Raises:
        ClockError: if the bots cannot have the clock that was asked for.
        DefinitionError: if nothing limits the length of the call, or a bot is none.
    """

    def __init__(
        self, scenario: Scenario, user: Endpoint, agent: Endpoint, settings: RunSettings, folder: Path
    ) -> None:
        _check_endpoint(USER, user)
        _check_endpoint(AGENT, agent)
        self._seconds = settings.seconds_for(scenario)
        self.clock = choose_clock(settings.clock, user, agent)
        self._scenario = scenario
        self._user = user
        self._agent = agent
        self._settings = settings
        self._folder = folder
        self.ended: list[Conversation] = []
        self.unkept: StorageError | None = None

    def prepare(self) -> None:
        """Tell what is wrong with the scenario before any bot starts, and write down what it is."""
        noise_of(self._scenario)
        self._scenario.save(self._folder / SCENARIO_CONFIG)
        expect_trace(self._agent)

    async def hold(self, on_interrupt: Callable[[Conversation], None]) -> Conversation:
        """Hold it on the running loop; ``on_interrupt`` is given what there is of one that breaks off."""
        settings = CallSettings(
            max_duration=self._seconds,
            inactivity_timeout=self._settings.inactivity_timeout,
            connect_timeout=self._settings.connect_timeout,
            on_interrupt=on_interrupt,
            on_turn=self._settings.on_turn,
            clock=self.clock.name,
        )
        async with self._user.open(self._scenario) as user_url, self._agent.open(self._scenario) as agent_url:
            user, agent = self._peer(self._user, user_url), self._peer(self._agent, agent_url)
            conversation = await hold_call(self._scenario, user=user, agent=agent, settings=settings)
            self.ended.append(conversation)
            self._settings.taken.note(self._agent, conversation)
            return await with_processes(conversation, (self._user, self._agent))

    def _peer(self, bot: Endpoint, url: str) -> Peer:
        peer = Peer(
            bot.side,
            url,
            bot.label,
            takes_pieces=isinstance(bot, TakesPieces) and bot.takes_pieces,
            dialect=self._settings.taken.dialect_of(bot),
        )
        if isinstance(bot, RunsProcess):
            return replace(peer, ready_seconds=bot.ready_seconds, opener=bot.connect)
        return peer

    def keep_what_can_be(self, conversation: Conversation) -> None:
        """Write the evidence of a call that broke off; one that can't be written changes not why it did."""
        try:
            self.keep(conversation)
        except StorageError as exc:
            self.unkept = exc

    def keep(self, conversation: Conversation) -> None:
        """Write the evidence; raises StorageError if it can't be."""
        write_evidence(conversation, self._folder, rate_hz=self._settings.output_sample_rate)


def _check_endpoint(side: Side, bot: object) -> None:
    """Raise DefinitionError if ``bot``, which a fixture may have brought, is none of that side."""
    if not callable(getattr(bot, "open", None)):
        raise DefinitionError(
            f"{shown(str(bot))!r} is no {side} bot; let the fixture voice_{side} return an endpoint, such as "
            f'RemoteBot("{side}", "ws://127.0.0.1:8765")'
        )
    found = getattr(bot, "side", None)
    if found != side:
        raise DefinitionError(
            f"{bot!r} is given as the {side} bot, and its side is {found!r}; make it with {side!r}"
        )


def evaluate_conversation(
    scenario: Scenario,
    conversation: Conversation,
    *,
    settings: RunSettings,
    folder: Path,
    judge: Judge | None = None,
) -> Metrics:
    """Score a conversation and write ``metrics.json`` into ``folder``.

    A ``judge`` is asked before, and what it says is written into ``judge_result.json``. One that comes to no
    judgement makes the verdict ``Verdict.ERROR`` if that counts.

    Evidence that ``hold`` has not written there, because the conversation came from elsewhere, is
    written first.

    Raises:
        WorldsPartedError: if the worlds of the two bots did not stay in step.
        BotRefusedError: if a bot did not give the end state that a whitelisted signal needs.
        DefinitionError: if the judge is none.
        BotLostError: if the agent answered too few times because the simulated user never spoke, or failed
            because that did nothing but repeat it.
    """
    if not has_evidence(folder):
        write_evidence(conversation, folder, rate_hz=settings.output_sample_rate)
    _check_evidence(scenario, conversation, settings)
    judgement = None
    if judge is not None:
        judgement = _judgement(judge, scenario, conversation, settings)
        write_json(folder / JUDGE_RESULT, judgement.to_json())
    scores = _scores(scenario, conversation, settings, judgement)
    measured = metrics_json(scenario, conversation, scores, folder, judgement=judgement)
    content = settled(measured, settings.min_agent_turns)
    if INSUFFICIENT in content:
        scores = replace(scores, verdict=Verdict.FAILED)
    write_json(folder / METRICS, content)
    return Metrics(conversation.scenario_name, scores, str(folder), content)


def _scores(
    scenario: Scenario, conversation: Conversation, settings: RunSettings, judgement: Judgement | None
) -> Scores:
    """Return what the signals come to; raises BotLostError as ``evaluate_conversation``."""
    scores = score(
        scenario,
        conversation,
        strict_match=settings.strict_match,
        judgement=judgement,
        policy=settings.conversation_end_policy,
        judge_threshold=settings.judge_threshold,
    )
    if scores.verdict is Verdict.FAILED and (reason := echoing_caller(conversation)):
        raise told(BotLostError(reason), conversation.ending)
    return scores


def _check_evidence(scenario: Scenario, conversation: Conversation, settings: RunSettings) -> None:
    """Return if there is enough evidence to score by; raises as ``evaluate_conversation``."""
    if conversation.drift:
        apart = "\n".join(conversation.drift)
        parted = f"{conversation.scenario_name}: the worlds of the two bots did not stay in step: {apart}"
        raise told(WorldsPartedError(parted), conversation.ending)
    if reason := unscorable(scenario, conversation):
        ends = filter(None, (conversation.user.ended, conversation.agent.ended))
        raise told(BotRefusedError("\n".join([reason, *ends])), conversation.ending)
    if reason := silent_caller(conversation, settings.min_agent_turns):
        raise told(BotLostError(reason), conversation.ending)


def check_judge(judge: Judge | None) -> None:
    """Raise DefinitionError if ``judge`` is none; ``None`` says that there is none."""
    if judge is not None and not callable(getattr(judge, "judge", None)):
        raise DefinitionError(f"{judge!r} is no judge: it has no method judge(scenario, conversation)")


def _judgement(
    judge: Judge, scenario: Scenario, conversation: Conversation, settings: RunSettings
) -> Judgement:
    """Return what ``judge`` says; raises DefinitionError if that is no judgement."""
    check_judge(judge)
    try:
        judgement: object = judge.judge(scenario, conversation, strict_match=settings.strict_match)
    except JudgeError as exc:
        return Judgement(error=str(exc))
    if not isinstance(judgement, Judgement):
        raise DefinitionError(f"the judge {judge!r} returned {judgement!r}; return a Judgement")
    return judgement
