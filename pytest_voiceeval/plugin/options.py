"""The table of options: flag, ini key, parser and default of each setting in one row."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from pytest_voiceeval.plugin.bot_options import AGENT_CWD, AGENT_ENV, AGENT_PATH, USER_CWD, USER_ENV, endpoint
from pytest_voiceeval.plugin.dialect_options import DIALECT_OPTIONS
from pytest_voiceeval.plugin.judge_options import JUDGE_OPTIONS
from pytest_voiceeval.plugin.option import (
    Option,
    boolean,
    non_empty,
    number_from_one,
    seconds,
    seconds_or_empty,
    seconds_or_none,
    seconds_or_zero,
    whole_number,
    words,
)
from pytest_voiceeval.plugin.sharding import shard
from pytest_voiceeval.scenarios.rehearsal import REHEARSALS

if TYPE_CHECKING:
    from pytest_voiceeval.bridge.clock import ClockChoice
    from pytest_voiceeval.scoring.conversation_end import ConversationEndPolicy


def rehearsal_name(text: str) -> str:
    """Return the name of a rehearsal."""
    if text not in REHEARSALS:
        raise ValueError(f"choose one of: {', '.join(REHEARSALS)}")
    return text


def clock_name(text: str) -> ClockChoice:
    """Return the name of a clock."""
    match text:
        case "auto" | "charged" | "measured" | "real":
            return text
        case _:
            raise ValueError("choose one of: auto, charged, measured, real")


def conversation_end_policy(text: str) -> ConversationEndPolicy:
    """Return a conversation-end policy."""
    from pytest_voiceeval.scoring.conversation_end import end_policy  # noqa: PLC0415 - light start

    return end_policy(text)


SCENARIOS = Option(
    "voice_scenarios",
    words,
    "",
    "voice scenarios to run: domains, names, globs or 'all', with commas between them",
    "SEL[,SEL]",
    is_list=True,
    if_empty="write a domain, a name, a glob or all",
)
SPLIT = Option(
    "voice_split",
    non_empty,
    "base",
    "split of a benchmark's tasks that its domain stands for, such as train or test",
    "NAME",
)
SHARD = Option(
    "voice_shard",
    shard,
    "",
    "hold one part of the scenarios that are selected, such as 2/8 for the second of eight: which part a "
    "scenario is in follows from its name; fold the runs with 'python -m pytest_voiceeval merge'",
    "I/N",
    if_empty="write which part of how many, such as 2/8",
)
BOT = (
    "a profile (name or YAML file), 'cmd:COMMAND --port {port}', or 'ws://HOST:PORT[,...]', one for each "
    "xdist worker, or one with {worker} in it"
)
AGENT = Option("voice_agent", endpoint, "local", f"the agent under test: {BOT}", "BOT")
USER = Option("voice_user", endpoint, "local", f"the simulated caller: {BOT}", "BOT")
REHEARSAL = Option(
    "voice_rehearsal",
    rehearsal_name,
    "gold",
    f"script that embedded bots play in place of a model: {', '.join(REHEARSALS)}",
    "NAME",
)
OUTPUT_DIR = Option(
    "voice_output_dir", non_empty, "eval_results", "folder in which each run makes its own", "DIR"
)
CACHE_DIR = Option(
    "voice_cache_dir",
    non_empty,
    "user",
    "folder that keeps what embedded bots say of a rehearsal, and what they understand of it on the clock "
    "charged, so that each is worked out once; 'user' is in the user's cache directory, 'none' keeps nothing",
    "DIR",
)
DATA_ROOT = Option(
    "voice_data_root",
    str.strip,
    "",
    "folder with the data of scenarios, searched after EVAL_DATA_ROOT and before the user's data directory",
    "DIR",
    if_empty="write a folder, or leave it out",
)
DURATION = Option(
    "voice_duration",
    seconds_or_empty,
    "",
    "time limit of every call, whatever its scenario says",
    "SECONDS",
    if_empty="write a number of seconds above 0, such as 45 or 2.5",
)
INACTIVITY_TIMEOUT = Option(
    "voice_inactivity_timeout",
    seconds_or_none,
    "120",
    "silence on both sides that ends a call; 'none' for no limit",
    "SECONDS",
)
CONNECT_TIMEOUT = Option(
    "voice_connect_timeout", seconds, "5", "time a bot has to accept a connection and be ready", "SECONDS"
)
START_TIMEOUT = Option(
    "voice_start_timeout", seconds, "30", "time a 'cmd:' bot has from its start until it is ready", "SECONDS"
)
CLOCK = Option(
    "voice_clock",
    clock_name,
    "auto",
    "clock of a call: real (wall time, any bot), measured (skips idle time, embedded bots), charged "
    "(declared costs, the same on every run, rehearsed bots), auto (the fastest that the bots can have)",
    "CLOCK",
)
STRICT_MATCH = Option(
    "voice_strict_match",
    boolean,
    "false",
    "fail the action match where the agent did more than the reference answer",
    is_switch=True,
)
MIN_AGENT_TURNS = Option(
    "voice_min_agent_turns",
    whole_number,
    "3",
    "a call in which the agent answered fewer times fails and is in no rate of a single signal; 0 for no "
    "minimum",
    "N",
)
AUTO_RESUME_ON_STALE = Option(
    "voice_auto_resume_on_stale",
    boolean,
    "true",
    "hold a call again in which no turn was exchanged (default: on)",
    is_switch=True,
)
AUTO_RESUME_ON_INSUFFICIENT_TURNS = Option(
    "voice_auto_resume_on_insufficient_turns",
    boolean,
    "false",
    "hold a call again in which the agent answered, but fewer times than --voice-min-agent-turns (default: "
    "off; it makes results look better than they are)",
    is_switch=True,
)
MAX_AUTO_RETRIES = Option(
    "voice_max_auto_retries",
    whole_number,
    "1",
    "how many times a call is held again; the last one counts",
    "N",
)
AUTO_RETRY_BACKOFF_SECS = Option(
    "voice_auto_retry_backoff_secs",
    seconds_or_zero,
    "5",
    "time to wait before a call is held again, for servers to recover; none on the charged clock",
    "SECONDS",
)
CONVERSATION_END_POLICY = Option(
    "voice_conversation_end_policy",
    conversation_end_policy,
    "tool-only",
    "ends of a call that are a clean exit: tool-only (the agent's end tool), valid-terminal-state (also "
    "that the simulated caller ends it, or that nobody speaks after the caller's last turn)",
    "POLICY",
)
CONCURRENCY = Option(
    "voice_concurrency",
    number_from_one,
    "1",
    "how many calls each process holds at once, for calls that wait on hosted models; items are still "
    "reported in their order. 'ws://' needs an URL for each of them, or one with {worker} in it. No effect "
    "on the clock charged, where calls are held one after another",
    "N",
)
RESUME = Option(
    "voice_resume",
    str.strip,
    "",
    "go on with a run that was begun before: its timestamp, its name or its folder; scenarios that have a "
    "result are reported from it and not held again",
    "RUN",
    if_empty="write the timestamp of a run, such as 20261130_141734, its name, or its folder",
)

OPTIONS: tuple[Option[Any], ...] = (
    SCENARIOS,
    SPLIT,
    SHARD,
    AGENT,
    AGENT_CWD,
    AGENT_ENV,
    AGENT_PATH,
    USER,
    USER_CWD,
    USER_ENV,
    REHEARSAL,
    OUTPUT_DIR,
    CACHE_DIR,
    DATA_ROOT,
    DURATION,
    INACTIVITY_TIMEOUT,
    CONNECT_TIMEOUT,
    START_TIMEOUT,
    CLOCK,
    STRICT_MATCH,
    CONVERSATION_END_POLICY,
    MIN_AGENT_TURNS,
    AUTO_RESUME_ON_STALE,
    AUTO_RESUME_ON_INSUFFICIENT_TURNS,
    MAX_AUTO_RETRIES,
    AUTO_RETRY_BACKOFF_SECS,
    *DIALECT_OPTIONS,
    CONCURRENCY,
    *JUDGE_OPTIONS,
    RESUME,
)


def declare(parser: pytest.Parser) -> None:
    """Make pytest accept every option of the table, and the few that are no settings."""
    group = parser.getgroup("voice", "voice-agent evaluation")
    for option in OPTIONS:
        option.declare(parser, group)
    group.addoption("--voice-list", action="store_true", help="list the voice scenarios and exit")
    group.addoption("--voice-list-domains", action="store_true", help="list their domains and exit")
    parser.addini("voice_packs", "folders with scenarios/, tools/ and data/ of their own", type="paths")
