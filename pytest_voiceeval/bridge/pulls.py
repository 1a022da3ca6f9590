"""Evidence that is asked of the bots after the call."""

from __future__ import annotations

from typing import Any

from pytest_voiceeval.bridge.events import Listener
from pytest_voiceeval.bridge.leg import Leg
from pytest_voiceeval.errors import BotUnreachableError
from pytest_voiceeval.model.conversation import ActionRecord, SideEvidence
from pytest_voiceeval.wire.context import parse_context
from pytest_voiceeval.wire.limits import PULL_SECONDS
from pytest_voiceeval.wire.requests import RequestFailedError
from pytest_voiceeval.wire.rtvi import Request


async def pull(leg: Leg, *, include_db: bool, listener: Listener, reconnect_limit: float) -> SideEvidence:
    """Return what a bot has recorded; what it does not give is ``None``, and ``pull_error`` says why.

    A bot that has closed its connection is tried once more: its state lives on.
    """
    problems: list[str] = []
    try:
        await leg.reopen_if_lost(reconnect_limit)
    except BotUnreachableError as exc:
        return SideEvidence(
            tokens=listener.tokens,
            skipped_frames=leg.skipped_frames,
            errors=tuple(listener.errors),
            pull_error=str(exc),
        )
    history = await _ask(leg, "get_context_history", {}, problems)
    summary = await _ask(leg, "get_scenario_summary", {"include_db": include_db}, problems)
    context = parse_context(history.get("context"))
    if context is None and not problems:
        problems.append("get_context_history: the context is no list of messages")
    records = summary.get("actions")
    actions = None
    if isinstance(records, list):
        side = leg.peer.side
        actions = tuple(ActionRecord(side, record) for record in records if isinstance(record, dict))
    db, db_hash = summary.get("db"), summary.get("db_hash")
    return SideEvidence(
        actions=actions,
        db_hash=db_hash if isinstance(db_hash, str) else None,
        db=db if isinstance(db, dict) else None,
        context=context,
        tokens=listener.tokens,
        skipped_frames=leg.skipped_frames,
        errors=tuple(listener.errors),
        pull_error="; ".join(problems),
    )


async def _ask(leg: Leg, request: Request, arguments: dict[str, Any], problems: list[str]) -> dict[str, Any]:
    try:
        answer = await leg.requests.call(request, arguments, limit=PULL_SECONDS)
    except RequestFailedError as exc:
        problems.append(str(exc))
        return {}
    if not isinstance(answer, dict):
        problems.append(f"{request}: the answer is no object")
        return {}
    return answer
