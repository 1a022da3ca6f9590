"""Tool calls: one call on a fresh copy of its databases, after the steps that come before it."""

from __future__ import annotations

import asyncio
import importlib
import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from pytest_voiceeval.model.turns import AGENT, SIDES, USER, Side
from pytest_voiceeval.run.dry_bot import DryBot, ToolAnswer
from pytest_voiceeval.scenarios.base import Scenario
from pytest_voiceeval.scenarios.registry import get_eval_scenario, list_eval_scenarios
from pytest_voiceeval.tools.registry import list_schema_tools_for_eval
from pytest_voiceeval.world.artifacts import load_db_artifact
from pytest_voiceeval.world.hashing import get_dict_hash
from pytest_voiceeval.world.initialization import run_initialization_actions
from pytest_voiceeval.world.sync import apply_delta

from .compare import difference, same, shown
from .files import Given, GoldenFileError
from .scoring import set_at


def call_fault(given: Given) -> str:
    """Return how a tool call does not hold, part by part; empty if it holds.

    Raises:
        GoldenFileError: if the case is not in the form of one.
    """
    stage = Stage(given["domain"], given["db"])
    return "; ".join(asyncio.run(_faults(stage, given)))


async def _faults(stage: Stage, given: Given) -> list[str]:
    for step in given.get("precondition", []):
        await stage.prepare(Given(step))
    bot = stage.bot(given["side"])
    recorded, hash_before = len(bot.records), stage.hash(bot.side)
    exits = sum(1 for _ in bot.sent.enclosed("exit"))
    answer = await bot.use(stage.called(bot, given["tool"]), Given(given["arguments"]))
    found = {
        "recorded": bot.records[recorded:],
        "ends_call": sum(1 for _ in bot.sent.enclosed("exit")) > exits,
        "db_hash_before": hash_before,
        "db_hash_after": stage.hash(bot.side),
    }
    faults = [_answer_fault(given, answer)]
    if "after_sync" in given:
        stage.sync()
        found["after_sync"] = {side: stage.hash(side) for side in given["after_sync"]}
    for field in _comparable(given, found):
        value, expected = _settled(found[field]), _settled(given[field])
        if not same(value, expected):
            faults.append(f"{field}: found {shown(value)}, expected {shown(expected)}")
    return [fault for fault in faults if fault]


def _comparable(given: Given, found: Mapping[str, Any]) -> Iterator[str]:
    """Yield the fields to compare: no hashes where the outcome is another one each time."""
    for field in found:
        if field in given and not (given.get("random_id") and field in ("db_hash_after", "after_sync")):
            yield field


def _answer_fault(given: Given, answer: ToolAnswer) -> str:
    rule = given.get("compare", "exact")
    wanted = given.get("delivered", given["result"])
    for name, value, expected in (
        ("delivered", answer.delivered, wanted),
        *([] if answer.raised or given.get("raised") else [("result", answer.result, given["result"])]),
    ):
        if fault := difference(rule, _settled(value), _settled(expected)):
            return f"{name}: {fault}"
    return ""


def _settled(value: Any) -> Any:
    """Return ``value`` as JSON has it, whole numbers alike."""
    return _numbers_alike(json.loads(json.dumps(value, default=str)))


def _numbers_alike(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _numbers_alike(part) for key, part in value.items()}
    if isinstance(value, list):
        return [_numbers_alike(part) for part in value]
    return float(value) if isinstance(value, int) and not isinstance(value, bool) else value


class Stage:
    """The two bots of a domain, on fresh copies of the databases ``path`` or ``path + path``, agent first."""

    def __init__(self, domain: str, databases: str | None) -> None:
        paths = (databases or "").split(" + ")
        named = zip((AGENT, USER), paths, strict=False)
        worlds = {side: {"db": load_db_artifact(path)} for side, path in named if path}
        self._domain = domain
        self._bots = {side: DryBot(side, domain, self._tools(), initial=worlds.get(side)) for side in SIDES}
        self._sync = sync_of(domain)

    def _tools(self) -> dict[str, dict[str, Any]]:
        return {name: {} for name in (*list_schema_tools_for_eval(self._domain), "EndConversationTool")}

    def bot(self, side: str) -> DryBot:
        """Return the bot of ``side``."""
        for name in SIDES:
            if name == side:
                return self._bots[name]
        raise GoldenFileError(f"no side {side!r}; there are: {', '.join(SIDES)}")

    def called(self, bot: DryBot, name: str) -> str:
        """Return ``name`` if a model can call a tool by it."""
        if name not in bot.tools:
            raise GoldenFileError(
                f"no tool {name!r} in domain {self._domain!r}; there are: {', '.join(bot.tools)}"
            )
        return name

    def hash(self, side: Side) -> str | None:
        """Return the hash of a side's database, None where it is absent."""
        db = self.bot(side).state.get("db")
        return None if db is None else get_dict_hash(db)

    async def prepare(self, step: Given) -> None:
        """Take a step that comes before the call, and bring the databases in step.

        Raises:
            GoldenFileError: if there is no such step, or it fails.
        """
        bot = self.bot(step["side"])
        if step["kind"] == "tool":
            await bot.use(self.called(bot, step["tool"]), Given(step["arguments"]))
        elif step["kind"] == "init":
            errors = run_initialization_actions(self._domain, bot.state["db"], [step])
            if errors:
                raise GoldenFileError("; ".join(errors))
        elif step["kind"] == "set_db":
            set_at(bot.state["db"], step["path"], step["value"])
        elif step["kind"] == "unset_db":
            bot.state.pop("db", None)
        else:
            raise GoldenFileError(f"no way to take a step of kind {step['kind']!r}")
        self.sync()

    def sync(self) -> None:
        """Bring the two databases in step, where the domain does so and both are there."""
        agent_db, user_db = (self._bots[side].state.get("db") for side in (AGENT, USER))
        if self._sync is None or agent_db is None or user_db is None:
            return
        deltas = self._sync(agent_db, user_db)
        errors = apply_delta(self._domain, agent_db, deltas.get(AGENT) or {})
        errors += apply_delta(self._domain, user_db, deltas.get(USER) or {})
        if errors:
            raise GoldenFileError("; ".join(errors))


SYNC_WITHOUT_SCENARIOS = {
    "tau2_telecom": ("pytest_voiceeval.builtin.tools._tau2_telecom_sync", "sync_telecom"),
}
"""Where the tools of a domain have their sync, for when none of its scenarios is registered."""


def sync_of(domain: str) -> Callable[..., Any] | None:
    """Return how the scenarios of a tool domain keep their worlds in step; None if they do not."""
    for name in list_eval_scenarios():
        scenario: Scenario | None = get_eval_scenario(name)
        if scenario is not None and scenario.domain == domain:
            return scenario.sync_state if scenario.syncs_state else None
    if domain in SYNC_WITHOUT_SCENARIOS:
        module, name = SYNC_WITHOUT_SCENARIOS[domain]
        sync: Callable[..., Any] = getattr(importlib.import_module(module), name)
        return sync
    return None
