"""One side's bot without sound, model and sockets: its world, its tools, and what they send."""

from __future__ import annotations

import asyncio
import copy
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pytest_voiceeval.bridge.setup import initialization
from pytest_voiceeval.errors import DefinitionError
from pytest_voiceeval.model.conversation import ActionRecord, SideEvidence, TokenUsage
from pytest_voiceeval.model.turns import AGENT, SIDES, USER, Side
from pytest_voiceeval.scenarios.base import Scenario
from pytest_voiceeval.scenarios.shadow import deltas_of
from pytest_voiceeval.tools.base import StandardSchemaTool, unknown_tool_result
from pytest_voiceeval.tools.origin import location
from pytest_voiceeval.tools.registry import get_schema_tool_for_eval
from pytest_voiceeval.wire.rtvi import SERVER_MESSAGE, Envelope, enclosed
from pytest_voiceeval.world.hashing import get_dict_hash
from pytest_voiceeval.world.seeding import seed
from pytest_voiceeval.world.sync import apply_delta


@dataclass(frozen=True)
class ToolAnswer:
    """What came of one tool call.

    Attributes:
        result: what the tool returned; ``None`` if it raised, or is not there.
        delivered: what a model gets.
        fault: what the tool raised.
    """

    result: Any
    delivered: Any
    fault: Exception | None = None

    @property
    def raised(self) -> bool:
        """Whether the tool raised."""
        return self.fault is not None


class KeptMessages:
    """Stands in for pipecat's RTVI processor: keeps what tools send to the bridge, in order."""

    def __init__(self) -> None:
        self.sent: list[Any] = []

    async def send_server_message(self, data: Any) -> None:
        """Keep ``data`` as it is now."""
        self.sent.append(copy.deepcopy(data))

    def enclosed(self, tag: str) -> Iterator[str]:
        """Yield what was sent between ``<tag>`` and ``</tag>``."""
        for data in self.sent:
            text = enclosed(Envelope(type=SERVER_MESSAGE, data=data), tag)
            if text is not None:
                yield text


class DryBot:
    """A bot that has tools and a world, prepared as a real one is.

    Args:
        side: whose.
        domain: namespace of its tools and initialization functions.
        tools: constructor arguments by name, in order.
        initial: what its shared state is filled with; ``db_path`` is loaded.
        actions: initialization actions that run on its database.

    Attributes:
        state: the shared state of its tools.
        tools: its tools by the name that a model calls them by.
        sent: what its tools sent.

    Raises:
        UnknownNameError: if there is no such tool.
        DefinitionError: if its world cannot be set up. What a constructor raises is raised as it is.
    """

    def __init__(
        self,
        side: Side,
        domain: str,
        tools: Mapping[str, Mapping[str, Any]],
        *,
        initial: Mapping[str, Any] | None = None,
        actions: Sequence[Mapping[str, Any]] = (),
    ) -> None:
        self.side = side
        self.sent = KeptMessages()
        self.state: dict[str, Any] = {"__rtvi__": self.sent, "__tool_domain__": domain}
        made = [
            get_schema_tool_for_eval(name, domain, self.sent, self.state, **arguments)
            for name, arguments in tools.items()
        ]
        self.tools: dict[str, StandardSchemaTool] = {tool.name: tool for tool in made}
        if errors := seed(self.state, initial or {}, actions, domain):
            raise DefinitionError(f"the world of the {side} cannot be set up: {'; '.join(errors)}")

    @classmethod
    def of(cls, scenario: Scenario, side: Side) -> DryBot:
        """Return the bot that plays ``side`` of ``scenario``, at the start of the call."""
        wanted = initialization(scenario, side)
        return cls(
            side,
            scenario.domain,
            json.loads(scenario.tools(side)),
            initial=json.loads(wanted["shared_state_init"]),
            actions=wanted["actions"],
        )

    @property
    def db(self) -> dict[str, Any] | None:
        """Its database; ``None`` if it has none, or an empty one, as a bot tells it."""
        return self.state.get("db") or None

    @property
    def db_hash(self) -> str | None:
        """Canonical hash of its database."""
        return get_dict_hash(self.db) if self.db else None

    @property
    def records(self) -> list[dict[str, Any]]:
        """What its write tools recorded, in order."""
        return self.state.get("actions", [])  # type: ignore[no-any-return]  # the state holds anything

    @property
    def said_exit(self) -> bool:
        """Whether it said that the call is over."""
        return any(True for _ in self.sent.enclosed("exit"))

    async def use(self, name: str, arguments: Mapping[str, Any]) -> ToolAnswer:
        """Call the tool ``name`` as a model does, and return what came of it."""
        tool = self.tools.get(name)
        if tool is None:
            return ToolAnswer(None, unknown_tool_result(name, list(self.tools)))
        return await use_tool(tool, arguments)

    def evidence(self, context: list[dict[str, Any]], n_calls: int) -> SideEvidence:
        """Return what is pulled from it after the call, its database included."""
        records = json.loads(json.dumps(self.records, default=str))
        return SideEvidence(
            actions=tuple(ActionRecord(self.side, record) for record in records if isinstance(record, dict)),
            db_hash=self.db_hash,
            db=self.db,
            context=context,
            tokens=TokenUsage(n_calls=n_calls),
        )


def bots_of(scenario: Scenario) -> dict[Side, DryBot]:
    """Return both bots of ``scenario`` at the start of the call, their worlds in step.

    Raises:
        DefinitionError: if a world cannot be set up, or the two cannot be brought in step.
    """
    bots = {side: DryBot.of(scenario, side) for side in SIDES}
    bring_in_step(scenario, bots)
    return bots


def bring_in_step(scenario: Scenario, bots: Mapping[Side, DryBot]) -> None:
    """Tell each world what it must learn of the other's, where the scenario keeps them in step.

    Raises:
        DefinitionError: if what ``sync_state`` returns cannot be applied.
    """
    agent_db, user_db = (bots[side].state.get("db") for side in (AGENT, USER))
    if not (scenario.syncs_state and isinstance(agent_db, dict) and isinstance(user_db, dict)):
        return
    deltas = deltas_of(scenario, agent_db, user_db)
    for side, db in ((AGENT, agent_db), (USER, user_db)):
        if errors := apply_delta(scenario.domain, db, deltas.get(side) or {}):
            raise DefinitionError(
                f"{location(type(scenario))}: scenario {scenario.name}: sync_state gives the {side} what "
                f"cannot be applied: {'; '.join(errors)}"
            )


async def use_tool(tool: StandardSchemaTool, arguments: Mapping[str, Any]) -> ToolAnswer:
    """Call ``tool`` as a model does: with arguments that came as JSON, its one result delivered."""
    call = _Call(json.loads(json.dumps(dict(arguments))))
    returned: list[Any] = []
    raised: list[Exception] = []
    execute = tool._execute

    async def keep(*args: Any, **kwargs: Any) -> Any:
        try:
            result = await execute(*args, **kwargs)
        except Exception as exc:  # what becomes of it is the tool's; here it is kept
            raised.append(exc)
            raise
        returned.append(copy.deepcopy(result))
        return result

    tool._execute = keep  # type: ignore[method-assign]  # the result itself is delivered to nobody else
    try:
        await tool(call)
    finally:
        del tool._execute
    await asyncio.sleep(0)  # announcements of actions go out by themselves
    [delivered] = call.delivered
    return ToolAnswer(returned[0] if returned else None, delivered, fault=raised[0] if raised else None)


class _Call:
    """One call of a tool; keeps what is delivered, as it is then."""

    def __init__(self, arguments: Mapping[str, Any]) -> None:
        self.arguments = arguments
        self.delivered: list[Any] = []

    async def result_callback(self, result: Any, *, properties: Any = None) -> None:
        """Take the result."""
        self.delivered.append(copy.deepcopy(result))
