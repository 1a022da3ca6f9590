"""``describe``: all that one scenario is made of."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from pytest_voiceeval.commands.arguments import Commands, keep_quiet, pack_arguments
from pytest_voiceeval.errors import DefinitionError
from pytest_voiceeval.model.safe_text import json_document, visible
from pytest_voiceeval.model.turns import SIDES, Side

if TYPE_CHECKING:
    from pytest_voiceeval.scenarios.base import Scenario

INDENT = "  "
FLAGS = ("ignore_capitalization", "ignore_punctuation", "clean_text", "disallow_extra_items")


def add_parser(commands: Commands) -> None:
    """Add the command to the command line."""
    parser = commands.add_parser(
        "describe",
        parents=[pack_arguments()],
        help="print what a scenario is made of: signals, tools, prompts, hashes, counts",
        description="Print what a scenario is made of: its signals, its databases as hashes, its tools with "
        "what a model is told of them, and both prompts.",
    )
    parser.add_argument("name", metavar="NAME", nargs="?", help="the name of a scenario")
    parser.add_argument(
        "--protocols",
        action="store_true",
        help="print what can be had of an agent by the protocol that it speaks, and no scenario",
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Print the scenario as text, or as JSON; or the table of protocols."""
    keep_quiet()
    if options.protocols and options.name is not None:
        raise DefinitionError(f"describe {options.name}, or --protocols? Write one of them")
    if options.protocols:
        from pytest_voiceeval.bridge.parties import capabilities, capability_table  # noqa: PLC0415

        print(json.dumps(capabilities(), indent=2) if options.json else capability_table())  # noqa: T201
        return 0
    if options.name is None:
        raise DefinitionError("describe what? Write the name of a scenario, or --protocols")
    from pytest_voiceeval.commands.staging import told_as_definition  # noqa: PLC0415
    from pytest_voiceeval.run.record import scenario_record  # noqa: PLC0415
    from pytest_voiceeval.scenarios.packs import packs_of  # noqa: PLC0415
    from pytest_voiceeval.scenarios.registry import named_scenario_class  # noqa: PLC0415

    for pack in packs_of(options.pack):
        pack.load()
    cls = named_scenario_class(options.name)
    with told_as_definition(cls):
        scenario = cls()
        record = scenario_record(scenario)
        text = _json(scenario, record) if options.json else "\n".join(_lines(scenario, record))
    print(json_document(text) if options.json else visible(text))  # noqa: T201
    return 0


def _json(scenario: Scenario, record: dict[str, Any]) -> str:
    schemas = {f"{side}_tool_schemas": _schemas(scenario, side) for side in reversed(SIDES)}
    prompts = {f"{side}_prompt": scenario.prompt(side) for side in reversed(SIDES)}
    return json.dumps({**record, **schemas, **prompts}, indent=2, ensure_ascii=False)


def _schemas(scenario: Scenario, side: Side) -> list[dict[str, Any]]:
    from pytest_voiceeval.run.dry_bot import DryBot  # noqa: PLC0415

    return [tool.schema() for tool in DryBot.of(scenario, side).tools.values()]


def _lines(scenario: Scenario, record: dict[str, Any]) -> Iterator[str]:
    from pytest_voiceeval.tools.origin import location  # noqa: PLC0415

    yield f"{scenario.name} ({location(type(scenario))})"
    if scenario.description:
        yield f"{INDENT}{scenario.description}"
    yield ""
    for key, value in _facts(scenario, record).items():
        yield f"{INDENT}{key + ':':<22}{value}"
    for side in reversed(SIDES):
        yield ""
        yield f"tools of the {side}: {'' if record[f'{side}_tools'] else 'none'}".rstrip()
        for schema in _schemas(scenario, side):
            yield from _tool_lines(schema)
    for side in reversed(SIDES):
        yield ""
        yield f"prompt of the {side} (SHA-256 {record[f'{side}_prompt_sha256']}):"
        yield from (f"{INDENT}{line}".rstrip() for line in scenario.prompt(side).splitlines())


def _facts(scenario: Scenario, record: dict[str, Any]) -> dict[str, Any]:
    """Return what is told in one line each; what a scenario does not have is left out."""
    flags = [flag for flag in FLAGS if getattr(scenario, flag)]
    rehearsal = scenario.rehearsal
    spoken = rehearsal and f"{len(rehearsal.agent)} lines of the agent, {len(rehearsal.user)} of the user"
    facts = {
        "signals": ", ".join(record["success_signals"]),
        "tool domain": record["tool_domain"],
        "benchmark task": record["task_id"],
        "time limit": f"{record['max_duration']} s" if record["max_duration"] else "none",
        "matching": ", ".join(flags),
        "rehearsal": spoken or "none",
        "reference": json.dumps(scenario.reference_answer, ensure_ascii=False)
        if scenario.reference_answer
        else None,
        "reference actions": ", ".join(f"{side} {name}" for side, name in record["reference_action_names"]),
        "gold actions": _gold(record),
        "DB assertions": _assertions(record),
        "NL assertions": record["n_nl_assertions"],
        "initialization": _initialization(record),
        **_hashes(record),
    }
    return {key: value for key, value in facts.items() if value}


def _gold(record: dict[str, Any]) -> str:
    count, refused = record["n_gold_actions"], record["n_gold_calls_refused"]
    return f"{count}, of which {refused} are refused" if refused else str(count or "")


def _assertions(record: dict[str, Any]) -> str:
    count = record["n_db_state_assertions"]
    before, after = (record[f"n_db_state_assertions_holding_{when}_gold"] for when in ("before", "after"))
    return f"{count}; {before} hold at the start, {after} after the gold actions" if count else ""


def _initialization(record: dict[str, Any]) -> str:
    count = record["n_initialization_actions"]
    return f"{count} actions{'' if record['initialization_ok'] else ', which fail'}" if count else ""


def _hashes(record: dict[str, Any]) -> dict[str, str | None]:
    """Return the hashes of databases by what they are called; the initialized ones only where they differ."""
    hashes = {}
    for side, infix in (("agent", ""), ("user", "user_")):
        initial, ready = record[f"initial_{infix}db_hash"], record[f"post_init_{infix}db_hash"]
        hashes[f"{side}'s database"] = initial
        hashes[f"{side}'s, initialized"] = ready if ready != initial else None
        hashes[f"{side}'s, expected"] = record[f"expected_{infix}db_hash"]
    return hashes


def _tool_lines(schema: dict[str, Any]) -> Iterator[str]:
    yield f"{INDENT}{schema['name']}: {schema['description']}"
    for name, described in schema["properties"].items():
        optional = "" if name in schema["required"] else ", optional"
        kind = described.get("type", "anything")
        about = described.get("description", "")
        choices = f" One of: {', '.join(map(json.dumps, described['enum']))}." if "enum" in described else ""
        yield f"{INDENT * 2}{name} ({kind}{optional}): {about}{choices}".rstrip(": ")
