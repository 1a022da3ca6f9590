"""Getting both bots ready for a scenario: prompts, tools, worlds."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from typing import Any

from pytest_voiceeval.bridge.party import Party
from pytest_voiceeval.errors import BotRefusedError, DefinitionError
from pytest_voiceeval.model.turns import SIDES, Side
from pytest_voiceeval.scenarios.base import Scenario
from pytest_voiceeval.scenarios.documents import STATE_KEY, documents_of
from pytest_voiceeval.wire.limits import MAX_MESSAGE_BYTES, SETUP_SECONDS
from pytest_voiceeval.wire.requests import RequestFailedError
from pytest_voiceeval.wire.rtvi import Request

RECOGNITION_SECONDS = 10.0
"""How long an agent that may be a black box has to answer the first request; one that does not is one.

One that is evaluated may take some: it lets tools that are at work, and a turn that goes on, come to an end.
"""


async def prepare(scenario: Scenario, parties: Mapping[Side, Party], *, limit: float) -> None:
    """Connect both bots and set the scenario's prompts, tools and worlds, each answer awaited.

    Args:
        scenario: what they are to play.
        parties: the two bots.
        limit: seconds for each connection.

    Raises:
        DefinitionError: if the scenario asks for what cannot be sent.
        BotUnreachableError: if a bot cannot be reached or never gets ready.
        BotRefusedError: if a bot refuses a step, or does not answer it.
    """
    worlds = {side: initialization(scenario, side) for side in SIDES}
    by_asking = [party for party in parties.values() if not party.is_black_box]
    await _both(*(party.open(limit) for party in by_asking))
    await _both(*(_reset(party) for party in by_asking))
    prepared = [side for side in SIDES if not parties[side].is_black_box]
    for side in prepared:
        await _set_prompt(scenario, parties[side])
    for side in reversed(prepared):
        await _initialize(parties[side], worlds[side])
    for party in parties.values():
        if party not in by_asking:
            await party.open(limit)  # a black box is called last: it may greet at once


async def _both(*steps: Any) -> None:
    """Await both; the first failure ends the other, and is raised as it is."""
    try:
        async with asyncio.TaskGroup() as tasks:
            for step in steps:
                tasks.create_task(step)
    except ExceptionGroup as group:
        raise group.exceptions[0] from None


async def _reset(party: Party) -> None:
    """Have a bot reset itself, or recognise it by that as a black box."""
    if party.peer.dialect.mode == "auto":
        result = await _reset_or_recognise(party)
    else:
        result = await _ask(party, "reset", {})
    if result is False:
        raise _refused(party, "reset", "false", "true: a cleared conversation context")


async def _reset_or_recognise(party: Party) -> Any:
    try:
        return await party.ask("reset", {}, limit=RECOGNITION_SECONDS)
    except RequestFailedError as exc:
        if party.lost.done():
            raise _unready(party, "reset", exc) from None
        party.take_as_black_box(str(exc))
        return None


async def _set_prompt(scenario: Scenario, party: Party) -> None:
    side = party.peer.side
    tools = scenario.tools(side)
    arguments = {
        "prompt": scenario.prompt(side),
        "tools": tools,
        "add_suffix": False,
        "tool_domain": scenario.domain,
    }
    result = await _ask(party, "update_system_prompt", arguments)
    if result is False:
        names = ", ".join(json.loads(tools)) or "none"
        raise _refused(
            party,
            "update_system_prompt",
            "false",
            f"true: the prompt set and these tools of domain {scenario.domain!r} offered: {names}; the "
            "bot's log says why: for an embedded bot that is bot_log.txt in the scenario's folder",
        )


def initialization(scenario: Scenario, side: Side) -> dict[str, Any]:
    """Return the arguments of ``apply_initialization`` for ``side``.

    Raises:
        DefinitionError: if the scenario asks for what cannot be sent.
    """
    state: dict[str, Any] = {}
    scenario.setup_shared_state(state, side)
    if documents := documents_of(scenario, side):
        state.setdefault(STATE_KEY, documents)
    actions = scenario.initialization_actions or []
    for action in actions:
        if action.get("side") not in SIDES:
            raise DefinitionError(
                f"scenario {scenario.name}: initialization action {action.get('func_name')!r} has side "
                f"{action.get('side')!r}; write 'user' or 'agent'"
            )
    try:
        text = json.dumps(state)
    except (TypeError, ValueError) as exc:
        raise DefinitionError(
            f"scenario {scenario.name}: setup_shared_state for the {side} puts in what is not JSON: {exc}"
        ) from None
    if len(text) > MAX_MESSAGE_BYTES // 2:
        raise DefinitionError(
            f"scenario {scenario.name}: setup_shared_state for the {side} holds {len(text)} bytes, too "
            f"many to send; put the database into a file under the data root and set state['db_path']"
            + ("; its documents are part of it, name fewer" if documents else "")
        )
    return {
        "domain": scenario.domain,
        "shared_state_init": text,
        "actions": [action for action in actions if action["side"] == side],
    }


async def _initialize(party: Party, arguments: Mapping[str, Any]) -> None:
    result = await _ask(party, "apply_initialization", arguments)
    if isinstance(result, dict) and result.get("success"):
        return
    errors = result.get("errors") if isinstance(result, dict) else None
    told = "; ".join(str(error) for error in errors) if isinstance(errors, list) and errors else repr(result)
    raise _refused(party, "apply_initialization", told, '{"success": true}: its world initialized')


async def _ask(party: Party, request: Request, arguments: Mapping[str, Any]) -> Any:
    try:
        return await party.ask(request, arguments, limit=SETUP_SECONDS)
    except RequestFailedError as exc:
        raise _unready(party, request, exc) from None


def _unready(party: Party, request: Request, why: RequestFailedError) -> BotRefusedError:
    return BotRefusedError(
        f"{party.peer.shown} is not ready for the scenario: {why}; expected an "
        f"answer to {request}: the bot must handle the client messages of the evaluation"
    )


def _refused(party: Party, request: str, told: str, expected: str) -> BotRefusedError:
    return BotRefusedError(f"{party.peer.shown} refused {request}: {told}; expected {expected}")
