"""Evidence that is asked of the bots after the call."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from pytest_voiceeval.bridge.events import Listener
from pytest_voiceeval.bridge.party import Party
from pytest_voiceeval.errors import BotUnreachableError
from pytest_voiceeval.model.conversation import ActionRecord, SideEvidence
from pytest_voiceeval.model.turns import AGENT, SIDES, USER, Side
from pytest_voiceeval.scenarios.base import Scenario
from pytest_voiceeval.wire.context import parse_context
from pytest_voiceeval.wire.limits import PULL_SECONDS
from pytest_voiceeval.wire.requests import RequestFailedError
from pytest_voiceeval.wire.rtvi import Request


@dataclass(frozen=True)
class Wish:
    """What is wanted of a bot's database beside its hash.

    Attributes:
        db: the database in any case.
        db_unless: the database if its hash is another one; ``None``: not for that reason.
    """

    db: bool = False
    db_unless: str | None = None


async def pull_both(
    scenario: Scenario,
    parties: Mapping[Side, Party],
    listeners: Mapping[Side, Listener],
    *,
    reconnect_limit: float,
    note: Callable[[str], None],
) -> dict[Side, SideEvidence]:
    """Return the evidence of both bots; ``note`` takes what is missing of it.

    The databases are asked for where assertions are made on them, the agent's also where its hash is not
    the expected one: most databases are large, and most agents do what they should.
    """
    by_assertion = bool(scenario.db_state_assertions)
    wishes = {USER: Wish(by_assertion), AGENT: Wish(by_assertion, db_unless=scenario.expected_db_hash)}
    pulls = [
        pull(parties[side], wish=wishes[side], listener=listeners[side], reconnect_limit=reconnect_limit)
        for side in SIDES
    ]
    evidence = dict(zip(SIDES, await asyncio.gather(*pulls), strict=True))
    for side, found in evidence.items():
        if found.pull_error:
            note(f"[{side.upper()}] evidence is missing: {found.pull_error}")
        if found.db_error:
            note(f"[{side.upper()}] its database is missing: {found.db_error}")
    return evidence


async def pull(party: Party, *, wish: Wish, listener: Listener, reconnect_limit: float) -> SideEvidence:
    """Return what a bot has recorded; what it does not give is ``None``, and ``pull_error`` says why.

    A black box is not asked: its records are the calls of its tools, if it has reported any.

    A bot that has closed its connection is tried once more: its state lives on. A database that does not
    come through, being too large for a message, costs nothing but itself: ``db_error`` says why.
    """
    evidence = await _pulled(party, wish, listener, reconnect_limit)
    return replace(evidence, skipped_frames=party.skipped_frames, first_skipped=party.first_skipped)


async def _pulled(party: Party, wish: Wish, listener: Listener, reconnect_limit: float) -> SideEvidence:
    if party.is_black_box:
        calls = listener.tool_calls
        return replace(
            listener.evidence(),
            actions=calls.actions(party.peer.side),
            pull_error=calls.lack,
        )
    try:
        await party.reopen_if_lost(reconnect_limit)
    except BotUnreachableError as exc:
        return replace(listener.evidence(), pull_error=str(exc))
    problems: list[str] = []
    history = await _ask(party, "get_context_history", {}, problems)
    summary, db, db_error = await _summary(party, wish, problems, reconnect_limit)
    context = parse_context(history.get("context"))
    if context is None and not problems:
        problems.append("get_context_history: the context is no list of messages")
    records = summary.get("actions")
    actions = None
    if isinstance(records, list):
        side = party.peer.side
        actions = tuple(ActionRecord(side, record) for record in records if isinstance(record, dict))
    return replace(
        listener.evidence(),
        actions=actions,
        db_hash=_hash(summary),
        db=db,
        db_error=db_error,
        context=context,
        pull_error="; ".join(problems),
    )


async def _summary(
    party: Party, wish: Wish, problems: list[str], reconnect_limit: float
) -> tuple[dict[str, Any], Mapping[str, Any] | None, str]:
    """Return the summary, the database as far as it was wished for, and why that is missing."""
    lost: list[str] = []
    if wish.db:
        summary = await _ask(party, "get_scenario_summary", {"include_db": True}, lost)
        if not lost:
            return summary, *_db(summary)
        try:
            await party.reopen_if_lost(reconnect_limit)
        except BotUnreachableError as exc:
            problems += [*lost, str(exc)]
            return {}, None, "; ".join(lost)
    summary = await _ask(party, "get_scenario_summary", {"include_db": False}, problems)
    found = _hash(summary)
    if wish.db or wish.db_unless is None or found is None or found == wish.db_unless:
        return summary, None, "; ".join(lost)
    return summary, *_db(await _ask(party, "get_scenario_summary", {"include_db": True}, lost), lost)


def _hash(summary: Mapping[str, Any]) -> str | None:
    db_hash = summary.get("db_hash")
    return db_hash if isinstance(db_hash, str) else None


def _db(answer: Mapping[str, Any], lost: list[str] | None = None) -> tuple[Mapping[str, Any] | None, str]:
    """Return the database in an answer to a request for it, and why there is none."""
    db, told = answer.get("db"), answer.get("db_error")
    if isinstance(db, dict):
        return db, ""
    if lost:
        return None, "; ".join(lost)
    if isinstance(told, str) and told:
        return None, told
    if _hash(answer) is None:  # there is no database
        return None, ""
    return None, "its scenario summary has a hash of the database, but not the database"


async def _ask(
    party: Party, request: Request, arguments: dict[str, Any], problems: list[str]
) -> dict[str, Any]:
    try:
        answer = await party.ask(request, arguments, limit=PULL_SECONDS)
    except RequestFailedError as exc:
        problems.append(str(exc))
        return {}
    if not isinstance(answer, dict):
        problems.append(f"{request}: the answer is no object")
        return {}
    return answer
