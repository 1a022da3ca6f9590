"""A call without sound: a rehearsal played in process, with the scenario's own tools and worlds."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

from pytest_voiceeval.errors import DefinitionError
from pytest_voiceeval.model.conversation import Conversation, Recording
from pytest_voiceeval.model.stop_reason import StopReason
from pytest_voiceeval.model.turns import AGENT, SIDES, USER, Side, Turn, other
from pytest_voiceeval.run.dry_bot import bots_of, bring_in_step
from pytest_voiceeval.scenarios.base import Scenario
from pytest_voiceeval.scenarios.rehearsal import Line, Rehearsal, Say, Use
from pytest_voiceeval.tools.origin import location

SECONDS_A_WORD = 0.4
PAUSE_SECONDS = 0.5
START = datetime(2025, 1, 1, 12)
"""When a dry call begins: it is the same on every run."""


def hold_dry(scenario: Scenario, rehearsal: Rehearsal | None = None) -> Conversation:
    """Return the evidence of a call in which both sides keep to ``rehearsal``, or to the scenario's own.

    Tools are called as a bot calls them, in turn with what is said, and worlds that are kept in step are
    synchronised after each. Nothing is spoken or heard: the recording is empty, and the times of turns follow
    from the number of their words. The call ends when the agent says so, or when a side has nothing to say.

    Raises:
        DefinitionError: if the scenario has no rehearsal, or its worlds cannot be set up.
        UnknownNameError: if one of its tools is not there.
    """
    script = rehearsal or scenario.rehearsal
    if script is None:
        raise DefinitionError(f"{location(type(scenario))}: scenario {scenario.name} has no rehearsal")
    return asyncio.run(_DryCall(scenario, script).hold())


class _DryCall:
    """The state of one call."""

    def __init__(self, scenario: Scenario, rehearsal: Rehearsal) -> None:
        self._scenario = scenario
        self._bots = bots_of(scenario)
        self._left: dict[Side, list[Line]] = {side: list(rehearsal.lines(side)) for side in SIDES}
        self._played = dict.fromkeys(SIDES, 0)
        self._contexts: dict[Side, list[dict[str, Any]]] = {
            side: [{"role": "system", "content": scenario.prompt(side)}] for side in SIDES
        }
        self._turns: list[Turn] = []
        self._now = 0.0

    async def hold(self) -> Conversation:
        reason = await self._talk()
        evidence = {
            side: self._bots[side].evidence(self._contexts[side], self._played[side]) for side in SIDES
        }
        return Conversation(
            scenario_name=self._scenario.name or "",
            turns=tuple(self._turns),
            stop_reason=reason,
            started_at=START,
            ended_at=START + timedelta(seconds=self._now),
            recording=Recording(b"", 16_000),
            agent=evidence[AGENT],
            user=evidence[USER],
            pushed=tuple(self._bots[AGENT].sent.enclosed("final_response")),
            simulator_end_reported=self._bots[USER].said_exit,
            clock="charged",
        )

    async def _talk(self) -> StopReason:
        speaker: Side = AGENT
        heard = "Hello"
        while True:
            self._contexts[speaker].append({"role": "user", "content": heard})
            heard = await self._turn(speaker)
            if self._bots[AGENT].said_exit:
                return StopReason.EXIT
            if not heard:
                return StopReason.INACTIVITY
            speaker = other(speaker)

    async def _turn(self, side: Side) -> str:
        """Play the lines of ``side`` until it speaks; return what it says, empty for nothing."""
        while self._left[side] and not self._bots[AGENT].said_exit:
            line = self._left[side].pop(0)
            self._played[side] += 1
            if isinstance(line, Say):
                self._say(side, line.text)
                return line.text.strip()
            answer = await self._bots[side].use(line.tool, line.arguments)
            self._contexts[side] += _tool_messages(self._played[side], line, answer.delivered)
            bring_in_step(self._scenario, self._bots)
        return ""

    def _say(self, side: Side, text: str) -> None:
        self._contexts[side].append({"role": "assistant", "content": text})
        if text.strip():
            start = self._now + PAUSE_SECONDS
            self._now = start + SECONDS_A_WORD * len(text.split())
            self._turns.append(Turn(side, start, self._now, text))


def _tool_messages(number: int, line: Use, answer: Any) -> Sequence[dict[str, Any]]:
    """Return a tool call and its result as a model's messages."""
    call = {"name": line.tool, "arguments": json.dumps(dict(line.arguments))}
    return (
        {"role": "assistant", "tool_calls": [{"id": f"call_{number}", "type": "function", "function": call}]},
        {"role": "tool", "tool_call_id": f"call_{number}", "content": json.dumps(answer, default=str)},
    )
