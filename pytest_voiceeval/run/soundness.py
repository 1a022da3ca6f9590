"""Whether a scenario is sound: it can be held, it can be passed, and not without doing what it asks for."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import Any, TypeVar

from pytest_voiceeval.bridge.call import RATE_HZ
from pytest_voiceeval.bridge.noise import noisy_channel
from pytest_voiceeval.errors import VoiceEvalError
from pytest_voiceeval.model.signals import SuccessSignal
from pytest_voiceeval.model.turns import AGENT, SIDES, USER
from pytest_voiceeval.run.dry_bot import DryBot
from pytest_voiceeval.run.findings import Finding
from pytest_voiceeval.run.gold import GoldOutcome, gold_outcome
from pytest_voiceeval.run.plays import has_criteria, play_faults
from pytest_voiceeval.run.settings import RunSettings
from pytest_voiceeval.scenarios.base import Scenario
from pytest_voiceeval.scenarios.checks import check_tools
from pytest_voiceeval.scoring.match import MatchRules, check_if_task_success
from pytest_voiceeval.scoring.payload import reference_payload
from pytest_voiceeval.tools.origin import location
from pytest_voiceeval.world.hashing import get_dict_hash
from pytest_voiceeval.world.predicates import PREDICATES

T = TypeVar("T")

JSON_TYPES = ("array", "boolean", "integer", "null", "number", "object", "string")


def check_scenario(name: str, cls: type[Scenario]) -> Iterator[Finding]:
    """Yield what is wrong with a scenario, and what its author should know, the basic things first.

    What cannot be looked at because of a fault before it is left out.
    """
    checker = _Checker(name, cls)
    try:
        scenario = cls()
    except Exception as exc:  # a pack's class may raise anything; so may each part of it below
        yield checker.fault(f"the scenario cannot be made: {_told(exc)}")
        return
    try:
        basic = [*checker.definition(scenario), *checker.tools(scenario)]
        yield from basic
        if not any(finding.is_fault for finding in basic):
            yield from checker.outcome(scenario)
    except Exception as exc:  # a pack's properties and tools may raise anything
        yield checker.fault(f"it cannot be looked at: {_told(exc)}")


class _Checker:
    """Looks at one scenario; each method yields what it finds."""

    def __init__(self, name: str, cls: type[Scenario]) -> None:
        self._name = name
        self._place = location(cls)

    def fault(self, what: str, remedy: str = "") -> Finding:
        """Return a fault of the scenario."""
        return Finding(self._place, self._name, what, remedy)

    def note(self, what: str) -> Finding:
        """Return what is no fault and should be known."""
        return Finding(self._place, self._name, what, is_fault=False)

    def definition(self, scenario: Scenario) -> Iterator[Finding]:
        """Look at what a call needs before it begins."""
        yield from self._attempt(lambda: scenario.whitelist)[1]
        yield from self._attempt(lambda: RunSettings().seconds_for(scenario))[1]
        yield from self._attempt(lambda: noisy_channel(scenario, RATE_HZ))[1]
        for side in SIDES:
            prompt, faults = self._attempt(
                partial(scenario.prompt, side), f"the {side}'s prompt cannot be made: "
            )
            yield from faults
            if prompt is not None and not prompt.strip():
                yield self.fault(f"the {side}'s prompt is empty", "a bot refuses it; describe who it plays")
        assertions, faults = self._attempt(lambda: list(scenario.db_state_assertions or []))
        yield from faults
        for assertion in assertions or ():
            yield from self._assertion(scenario, assertion)

    def _assertion(self, scenario: Scenario, assertion: object) -> Iterator[Finding]:
        if not isinstance(assertion, dict):
            yield self.fault(f"a DB assertion is no object: {assertion!r}")
            return
        name, side = assertion.get("func_name"), assertion.get("side")
        if side not in SIDES:
            yield self.fault(f"DB assertion {name!r} has side {side!r}", f"write {USER!r} or {AGENT!r}")
        if not isinstance(name, str) or PREDICATES.find(scenario.domain, name) is None:
            yield self.fault(f"DB assertion: {PREDICATES.unknown(scenario.domain, name)}")

    def tools(self, scenario: Scenario) -> Iterator[Finding]:
        """Look at the tools of both sides: they are there, can be made, and tell a model what they take."""
        _, unknown = self._attempt(lambda: check_tools(scenario, rehearsed=True))
        yield from unknown
        if unknown:
            return
        for side in SIDES:
            bot, faults = self._attempt(
                partial(DryBot.of, scenario, side), f"the {side}'s bot cannot be prepared: "
            )
            yield from faults
            if bot is not None:
                yield from self._schemas(bot, len(scenario.resources(side).tools))

    def _schemas(self, bot: DryBot, named: int) -> Iterator[Finding]:
        if len(bot.tools) < named:
            yield self.fault(
                f"two tools of the {bot.side} have one name among {', '.join(bot.tools)}",
                "a model cannot tell them apart; rename one",
            )
        for name, tool in bot.tools.items():
            schema, faults = self._attempt(tool.schema, f"tool '{name}' has no schema: ")
            yield from faults
            if schema is not None:
                yield from self._parameters(name, schema["properties"], schema["required"])

    def _parameters(self, name: str, properties: Any, required: Any) -> Iterator[Finding]:
        for parameter, described in properties.items():
            kind = described.get("type") if isinstance(described, dict) else None
            kinds = kind if isinstance(kind, list) else [kind]
            if kind is not None and not all(one in JSON_TYPES for one in kinds):
                yield self.fault(
                    f"parameter '{parameter}' of tool '{name}' has type {kind!r}, which JSON Schema has not",
                    f"write one of: {', '.join(JSON_TYPES)}",
                )
        for parameter in required:
            if parameter not in properties:
                yield self.fault(
                    f"tool '{name}' requires '{parameter}', which is none of its parameters",
                    f"it has: {', '.join(properties) or 'none'}",
                )

    def outcome(self, scenario: Scenario) -> Iterator[Finding]:
        """Look at what the scenario is judged by, and whether that can be passed and failed."""
        gold, faults = self._attempt(lambda: gold_outcome(scenario))
        yield from faults
        if gold is None:
            return
        for fault in gold.initialization_faults:
            yield self.fault(f"its worlds cannot be initialized: {fault}")
        yield from self._criteria(scenario)
        yield from self._reference(scenario)
        yield from self._replay(scenario, gold)
        yield from play_faults(scenario, gold, self.fault, self.note)

    def _criteria(self, scenario: Scenario) -> Iterator[Finding]:
        lacking = [signal for signal in scenario.whitelist if not has_criteria(scenario, signal)]
        for signal in lacking:
            yield self.note(f"{signal.value} is whitelisted and has nothing to be judged by: {NEEDS[signal]}")
        deciding = [signal for signal in scenario.whitelist if signal is not SuccessSignal.CLEAN_EXIT]
        if all(signal in lacking for signal in deciding):
            yield self.fault(
                "nothing can score it but how the call ends: any agent that hangs up passes",
                "whitelist a signal that has criteria",
            )

    def _reference(self, scenario: Scenario) -> Iterator[Finding]:
        reference = reference_payload(scenario)
        if SuccessSignal.ACTION_MATCH not in scenario.whitelist or reference is None:
            return
        if not check_if_task_success(reference, reference, MatchRules.of(scenario)):
            yield self.fault(
                "its reference answer does not match itself",
                "write an object, or a list of objects, without values such as NaN that equal nothing",
            )

    def _replay(self, scenario: Scenario, gold: GoldOutcome) -> Iterator[Finding]:
        if gold.replay is None or gold.replayed is None:
            return
        for fault in gold.replay.faults:
            yield self.fault(f"its gold actions cannot be replayed: {fault}")
        expected = scenario.expected_scenario_db
        if expected is not None and get_dict_hash(expected) != gold.replayed[AGENT]:
            yield self.fault(
                "its gold actions do not lead to the database that it expects",
                "derive expected_scenario_db from them",
            )
        if (total := len(scenario.db_state_assertions or ())) > gold.holding_after:
            yield self.fault(f"after its gold actions {gold.holding_after} of {total} DB assertions hold")

    def _attempt(self, act: Callable[[], T], before: str = "") -> tuple[T | None, list[Finding]]:
        """Return what ``act`` returns, and a fault for each line of what it raises instead."""
        try:
            return act(), []
        except VoiceEvalError as exc:
            found = [Finding.of(line, self._name, self._place) for line in str(exc).splitlines()]
            told = [replace(one, what=before + _unnamed(one.what, self._name)) for one in found]
            return None, told
        except Exception as exc:  # a pack's code may raise anything
            return None, [self.fault(before + _told(exc))]


NEEDS = {
    SuccessSignal.ACTION_MATCH: "there is no reference_answer",
    SuccessSignal.DB_STATE_MATCH: "there is no expected_scenario_db",
    SuccessSignal.DB_STATE_ASSERTION: "there are no db_state_assertions",
    SuccessSignal.NL_ASSERTION: "there are no nl_assertions",
}
"""What is missing where a signal has no criteria; the other signals need none."""


def _told(exc: Exception) -> str:
    return f"{type(exc).__name__}: {exc}"


def _unnamed(text: str, name: str) -> str:
    """Return ``text`` without the scenario's name at its beginning, which a finding has anyway."""
    return text.removeprefix(f"scenario {name}: ").removeprefix(f"scenario {name!r} ")
