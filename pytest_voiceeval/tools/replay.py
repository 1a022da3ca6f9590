"""Gold replay: what the worlds are, and what is recorded, once a task's own actions have been done."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol, runtime_checkable

from pytest_voiceeval.errors import DataError
from pytest_voiceeval.model.turns import AGENT, SIDES, USER, Side
from pytest_voiceeval.tools.checked import action_name, is_error
from pytest_voiceeval.tools.registry import find_tool, get_schema_tool_for_eval, unknown_tool_message
from pytest_voiceeval.world.initialization import run_initialization_actions
from pytest_voiceeval.world.sync import apply_delta

World = dict[str, Any]
Sync = Callable[[World, World], Mapping[Any, Mapping[str, Any]]]


@runtime_checkable
class Invocable(Protocol):
    """A tool that can be called without a bot."""

    def invoke(self, /, **arguments: Any) -> Any:
        """Return the raw result of a call."""


@dataclass
class GoldReplay:
    """What came of a replay.

    Attributes:
        worlds: the databases as they are now.
        actions: the records, each with its ``side``, in order.
        refused: the calls that a tool answered with an error: name of the action, and the answer.
        faults: what did not work, as texts: an initialization, an unknown action, a tool that raised.
    """

    worlds: Mapping[Side, World]
    actions: list[dict[str, Any]] = field(default_factory=list)
    refused: list[tuple[str, Any]] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)

    def without_faults(self) -> GoldReplay:
        """Return it, if it has no faults.

        Raises:
            DataError: with the first of them: actions and worlds do not belong together.
        """
        if self.faults:
            raise DataError(
                f"its gold actions cannot be done on its data: {self.faults[0]}; get the data again"
            )
        return self


Names = Iterable[str] | Mapping[str, Mapping[str, Any]]
"""Names of tools, or names with the arguments of their constructors, as a scenario's resources have them."""


def build_tools(names: Names, domain: str, state: dict[str, Any]) -> dict[str, Invocable]:
    """Return the tools of these names that work on ``state`` and can be invoked without a bot, by name.

    Tools that only talk, such as the one that ends a call, are left out. What a constructor raises is raised
    as it is.

    Raises:
        UnknownNameError: if there is no tool of a name.
    """
    arguments = names if isinstance(names, Mapping) else {}
    built: dict[str, Invocable] = {}
    for name in names:
        cls = find_tool(name, domain)
        if cls is None or callable(getattr(cls, "invoke", None)):
            tool = get_schema_tool_for_eval(name, domain, shared_state=state, **arguments.get(name, {}))
            if isinstance(tool, Invocable):
                built[name] = tool
    return built


def gold_replay(
    domain: str,
    worlds: Mapping[Side, World],
    actions: Iterable[Mapping[str, Any]],
    *,
    tools: Mapping[Side, Names],
    initialization_actions: Iterable[Mapping[str, Any]] = (),
    sync: Sync | None = None,
) -> GoldReplay:
    """Bring ``worlds`` into their initial state, do ``actions`` on them in order, and return the outcome.

    Nothing stops a replay: what goes wrong is noted, and the next action follows. The worlds are synced
    once before the first action and after each one.

    Args:
        domain: where tools, initialization functions and the sync applier are registered.
        worlds: a side's database; changed in place.
        actions: of the task: ``name``, ``arguments``, and ``requestor``, which is the agent unless it
            says ``user``.
        tools: names of the tools of a side, perhaps with the arguments of their constructors.
        initialization_actions: ``side``, ``func_name`` and ``arguments``; the agent's are run first.
        sync: returns what each side's world must learn of the other's, given both.

    Raises:
        UnknownNameError: if a tool that an action needs is not registered.
    """
    replay = _Replay(domain, GoldReplay(worlds), tools, sync)
    replay.initialize(list(initialization_actions))
    for action in actions:
        replay.do(action)
    return replay.outcome


class _Replay:
    """A replay that goes on."""

    def __init__(
        self,
        domain: str,
        outcome: GoldReplay,
        tools: Mapping[Side, Names],
        sync: Sync | None,
    ) -> None:
        self._domain = domain
        self.outcome = outcome
        self._sync = sync
        self._states = {side: {"db": outcome.worlds.get(side), "actions": outcome.actions} for side in tools}
        self._places = {action_name(name): (side, name) for side in tools for name in tools[side]}
        self._built: dict[str, Invocable | None] = {}

    def initialize(self, actions: list[Mapping[str, Any]]) -> None:
        """Run the initialization actions of each side on its world, the agent's first, then sync."""
        for side in reversed(SIDES):
            own = [action for action in actions if action.get("side") == side]
            if own:
                self.outcome.faults += run_initialization_actions(
                    self._domain, self.outcome.worlds[side], own
                )
        self._synchronize()

    def do(self, action: Mapping[str, Any]) -> None:
        """Do one action, note its side in what it records, and sync."""
        name = str(action.get("name"))
        tool = self._tool(name)
        if tool is None:
            self.outcome.faults.append(unknown_tool_message(name, self._domain))
            return
        before = len(self.outcome.actions)
        try:
            result = tool.invoke(**(action.get("arguments") or {}))
        except Exception as exc:  # a pack's tool may raise anything; the replay goes on
            self.outcome.faults.append(f"{name}: {type(exc).__name__}: {exc}")
        else:
            if is_error(result):
                self.outcome.refused.append((name, result))
        for record in self.outcome.actions[before:]:
            record["side"] = USER if action.get("requestor") == USER else AGENT
        self._synchronize()

    def _tool(self, name: str) -> Invocable | None:
        """Return the tool that does an action, ``None`` if there is none; made when it is first needed."""
        if name not in self._built and name in self._places:
            side, tool_name = self._places[name]
            self._built[name] = build_tools([tool_name], self._domain, self._states[side]).get(tool_name)
        return self._built.get(name)

    def _synchronize(self) -> None:
        if self._sync is None:
            return
        agent, user = self.outcome.worlds[AGENT], self.outcome.worlds[USER]
        deltas = self._sync(agent, user)
        for side, world in ((AGENT, agent), (USER, user)):
            self.outcome.faults += apply_delta(self._domain, world, deltas.get(side) or {})
