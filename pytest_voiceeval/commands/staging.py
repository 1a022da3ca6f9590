"""The world in which a tool is tried: of a scenario, of a database, or of the first that has the tool."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pytest_voiceeval.errors import DataError, DefinitionError, UnknownNameError, VoiceEvalError
from pytest_voiceeval.model.nearest import nearest
from pytest_voiceeval.model.turns import AGENT, SIDES, Side
from pytest_voiceeval.run.dry_bot import DryBot, bots_of
from pytest_voiceeval.scenarios.base import Scenario
from pytest_voiceeval.scenarios.registry import (
    list_eval_scenarios,
    named_scenario_class,
    scenario_domain,
)
from pytest_voiceeval.tools.checked import action_name
from pytest_voiceeval.tools.origin import location
from pytest_voiceeval.tools.registry import (
    DEFAULT_DOMAIN,
    find_tool,
    list_schema_tools_for_eval,
    tool_name,
    unknown_tool_message,
)
from pytest_voiceeval.world.artifacts import load_db_artifact, read_database


@dataclass(frozen=True)
class Stage:
    """A bot with a tool to be called.

    Attributes:
        bot: has the tool and the world.
        tool: the name that a model calls it by.
        domain: namespace of the tool.
        scenario: whose world it is; ``None`` if it is none's.
        world: says so, for a person.
    """

    bot: DryBot
    tool: str
    domain: str
    scenario: str | None
    world: str


def stage_for(
    domain: str, tool: str, side: Side | None, *, scenario: str | None = None, db: str | None = None
) -> Stage:
    """Return a fresh stage for the tool ``tool`` of ``domain``: a tool namespace, or a domain of scenarios.

    Args:
        domain: where the tool is looked for; then in the default namespace.
        tool: its registered name, the name that a model calls it by, or that of its actions.
        side: whose it is; ``None``: of the side that has it, the agent first.
        scenario: whose world and tools are taken.
        db: path of a database to take instead.

    Raises:
        UnknownNameError: if the domain, the tool or the scenario is not there.
        DataError: if the database is not.
        DefinitionError: if the tool or its world cannot be made.
    """
    _check_domain(domain)
    if db is not None:
        return _on_database(domain, tool, side or AGENT, {"db": _database(db)}, f"database {db}")
    if scenario is not None:
        chosen = named_scenario_class(scenario)
        with told_as_definition(chosen):
            made = chosen()
        return _in_scenario(made, tool, side)
    for name in list_eval_scenarios():
        cls = named_scenario_class(name)
        if domain in (cls.domain, scenario_domain(name)):
            with told_as_definition(cls):
                candidate = cls()
                having = [s for s in _sides(side) if _named(candidate.resources(s).tools, tool, cls.domain)]
            if having:
                return _in_scenario(candidate, tool, having[0])
    return _on_database(domain, tool, side or AGENT, {}, "no database")


@contextmanager
def told_as_definition(cls: type[Scenario]) -> Iterator[None]:
    """Tell whatever a scenario's own code raises as a wrong definition, with its place."""
    try:
        yield
    except VoiceEvalError:
        raise
    except Exception as exc:  # a pack's code may raise anything
        raise DefinitionError(
            f"{location(cls)}: scenario {cls.name}: {type(exc).__name__}: {exc}; the command 'check' tells "
            "more"
        ) from exc


def _sides(side: Side | None) -> tuple[Side, ...]:
    return (side,) if side else tuple(reversed(SIDES))


def _check_domain(domain: str) -> None:
    tool_domains = (name.partition(".")[0] for name in list_schema_tools_for_eval())
    known = list(dict.fromkeys([*tool_domains, *map(scenario_domain, list_eval_scenarios())]))
    if domain not in known:
        near = nearest(domain, known)
        hint = f"did you mean {' or '.join(map(repr, near))}?" if near else f"there are: {', '.join(known)}"
        raise UnknownNameError(f"no domain '{domain}'; {hint}")


def _database(path: str) -> dict[str, Any]:
    here = Path(path)
    if here.exists():
        return read_database(here)
    try:
        return load_db_artifact(path)
    except DataError as exc:
        raise DataError(f"--db {path}: it is not at {here.absolute()}, and {exc}") from None


def _in_scenario(scenario: Scenario, tool: str, side: Side | None) -> Stage:
    offered: list[str] = []
    for party in _sides(side):
        names = list(scenario.resources(party).tools)
        if _named(names, tool, scenario.domain) is None:
            offered += names
            continue
        with told_as_definition(type(scenario)):
            bot = bots_of(scenario)[party]
        return Stage(bot, _called(bot, tool), scenario.domain, scenario.name, f"world of {scenario.name}")
    near = nearest(tool, offered)
    hint = (
        f"did you mean {' or '.join(map(repr, near))}?" if near else f"it has: {', '.join(offered) or 'none'}"
    )
    whose = f"the {side} of scenario" if side else "scenario"
    raise UnknownNameError(f"{whose} {scenario.name} has no tool '{tool}'; {hint}")


def _on_database(domain: str, tool: str, side: Side, initial: dict[str, Any], world: str) -> Stage:
    names = [*list_schema_tools_for_eval(domain), *list_schema_tools_for_eval(DEFAULT_DOMAIN)]
    name = _named(names, tool, domain)
    if name is None:
        raise UnknownNameError(unknown_tool_message(tool, domain))
    try:
        bot = DryBot(side, domain, {name: {}}, initial=initial)
    except TypeError as exc:
        raise DefinitionError(
            f"tool '{name}' cannot be made without a scenario: {exc}; name one that has it with --scenario"
        ) from None
    return Stage(bot, _called(bot, tool), domain, None, world)


def _called(bot: DryBot, tool: str) -> str:
    """Return the name that a model calls a tool by which the bot has under one of its names."""
    return next(
        called for called, made in bot.tools.items() if tool in {called, *_names(tool_name(type(made)))}
    )


def _named(names: list[str] | dict[str, Any], tool: str, domain: str) -> str | None:
    """Return the registered name among ``names`` of what ``tool`` calls; ``None`` if there is none."""
    for name in names:
        cls = find_tool(name, domain)
        if tool in _names(name) or (cls is not None and tool in _names(tool_name(cls))):
            return name
    return None


def _names(registered: str) -> Iterator[str]:
    """Yield the name that a tool is registered by, and that of its actions."""
    yield registered
    yield action_name(registered)
