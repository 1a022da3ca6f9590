"""``tool``: one call of one tool on a fresh copy of a world."""

from __future__ import annotations

import argparse
import asyncio
import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pytest_voiceeval.commands.arguments import Commands, json_object, keep_quiet, pack_arguments
from pytest_voiceeval.model.safe_text import json_document, visible
from pytest_voiceeval.model.turns import SIDES
from pytest_voiceeval.tools.origin import place_of

if TYPE_CHECKING:
    from pytest_voiceeval.commands.staging import Stage
    from pytest_voiceeval.run.dry_bot import ToolAnswer

RECORDS = ("actions", "_call_counts")
"""Keys of the shared state that write tools count and record in."""


def add_parser(commands: Commands) -> None:
    """Add the command to the command line."""
    parser = commands.add_parser(
        "tool",
        parents=[pack_arguments()],
        help="call one tool on a fresh copy of a world; print the result, what is recorded, and what changes",
        description="Call one tool as a model does, on a fresh copy of a world: a scenario's, a database, "
        "or else of the first scenario that has the tool. Prints what it returns, what it records and sends, "
        "and how the world differs after it. Nothing is written.",
    )
    parser.add_argument("domain", metavar="DOMAIN", help="namespace of the tool, or domain of scenarios")
    parser.add_argument("tool", metavar="TOOL", help="its name, as scenarios or as models have it")
    parser.add_argument(
        "arguments",
        nargs="?",
        type=json_object,
        default={},
        metavar="ARGUMENTS",
        help='a JSON object, such as \'{"order_id": "A123"}\' (default: {})',
    )
    world = parser.add_mutually_exclusive_group()
    world.add_argument("--scenario", metavar="NAME", help="take the world and the tools of this scenario")
    world.add_argument(
        "--db", metavar="PATH", help="take a JSON file, a folder of tables, or a path under the data root"
    )
    parser.add_argument(
        "--side", choices=SIDES, help="whose world it is (default: of the side that has the tool)"
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Call the tool and print what came of it; return 0 also where it answers with an error."""
    keep_quiet()
    from pytest_voiceeval.commands.staging import stage_for  # noqa: PLC0415
    from pytest_voiceeval.scenarios.packs import packs_of  # noqa: PLC0415

    for pack in packs_of(options.pack):
        pack.load()
    stage = stage_for(options.domain, options.tool, options.side, scenario=options.scenario, db=options.db)
    outcome = _call(stage, options.arguments)
    if options.json:
        text = json.dumps(outcome.to_json(), indent=2, ensure_ascii=False, default=str)
        print(json_document(text))  # noqa: T201
    else:
        print(visible("\n".join(outcome.lines())))  # noqa: T201
    return 0


@dataclass(frozen=True)
class _Outcome:
    """What came of the call."""

    stage: Stage
    arguments: dict[str, Any]
    answer: ToolAnswer
    hashes: tuple[str | None, str | None]
    diff: list[str]
    state_diff: list[str]

    @property
    def exception(self) -> str | None:
        """What the tool raised and where, as one line; ``None`` if it did not."""
        fault = self.answer.fault
        return None if fault is None else f"{type(fault).__name__}: {fault} ({place_of(fault)})"

    def to_json(self) -> dict[str, Any]:
        """Return it in the form of recorded tool calls, and the diff."""
        bot = self.stage.bot
        return {
            "domain": self.stage.domain,
            "side": bot.side,
            "scenario": self.stage.scenario,
            "tool": self.stage.tool,
            "arguments": self.arguments,
            "result": self.answer.delivered if self.answer.raised else self.answer.result,
            "delivered": self.answer.delivered,
            "raised": self.answer.raised,
            "recorded": bot.records,
            "sent": bot.sent.sent,
            "ends_call": bot.said_exit,
            "db_hash_before": self.hashes[0],
            "db_hash_after": self.hashes[1],
            "diff": self.diff,
            "state_diff": self.state_diff,
            **({"exception": self.exception} if self.answer.raised else {}),
        }

    def lines(self) -> Iterator[str]:
        """Yield it for a person."""
        bot = self.stage.bot
        yield f"{self.stage.tool} of domain {self.stage.domain}, {bot.side} side, {self.stage.world}"
        yield ""
        if self.answer.raised:
            yield f"it raised {self.exception}"
            yield "the model gets:"
        else:
            yield "result:"
            yield _indented(self.answer.result)
        if self.answer.delivered != self.answer.result:
            if not self.answer.raised:
                yield "the model gets:"
            yield _indented(self.answer.delivered)
        yield from _listed("recorded", bot.records)
        yield from _listed("sent", [data for data in bot.sent.sent if not _is_announcement(data)])
        if bot.said_exit:
            yield "it ends the call"
        before, after = self.hashes
        if before == after:
            yield f"database: {before or 'none'}, unchanged"
        else:
            yield f"database: {before or 'none'} → {after or 'none'}"
        yield from (f"  {line}" for line in self.diff)
        if self.state_diff:
            yield "state beside the database:"
            yield from (f"  {line}" for line in self.state_diff)


def _call(stage: Stage, arguments: dict[str, Any]) -> _Outcome:
    from pytest_voiceeval.world.diff import diff_by_path  # noqa: PLC0415

    bot = stage.bot
    before, hash_before = _kept(bot.state), bot.db_hash
    answer = asyncio.run(bot.use(stage.tool, arguments))
    after, hashes = _kept(bot.state), (hash_before, bot.db_hash)
    old, new = before.pop("db", None) or {}, after.pop("db", None) or {}
    diff = diff_by_path(old, new) if hashes[0] != hashes[1] else []
    return _Outcome(stage, arguments, answer, hashes, diff, diff_by_path(before, after))


def _kept(state: dict[str, Any]) -> dict[str, Any]:
    """Return a copy of what tools keep in the shared state, the records of their actions aside."""
    kept = {key: value for key, value in state.items() if key not in RECORDS and not key.startswith("__")}
    return json.loads(json.dumps(kept, default=str))  # type: ignore[no-any-return]


def _is_announcement(data: Any) -> bool:
    """Return whether a message only says that an action was recorded."""
    return isinstance(data, dict) and data.get("type") == "action-applied"


def _listed(title: str, values: list[Any]) -> Iterator[str]:
    if values:
        yield f"{title}:"
        yield from (_indented(value) for value in values)


def _indented(value: Any) -> str:
    text = json.dumps(value, indent=2, ensure_ascii=False, default=str)
    return "\n".join(f"  {line}" for line in text.splitlines())
