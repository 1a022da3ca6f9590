"""``run``: scenarios held one after another, without pytest."""

from __future__ import annotations

import argparse
import signal
import sys
import threading
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import datetime
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any

from pytest_voiceeval.commands.arguments import (
    Commands,
    cache_dir,
    folder,
    keep_quiet,
    pack_arguments,
    path,
    variable,
)
from pytest_voiceeval.commands.dialect_arguments import add_dialect_arguments, agent_dialect
from pytest_voiceeval.commands.judge_arguments import (
    add_judge_arguments,
    count,
    judge_settings,
    seconds,
    seconds_or_none,
    seconds_or_zero,
    whole,
)
from pytest_voiceeval.commands.selection import add_selection, chosen_names, resumed_run, warn_of_split
from pytest_voiceeval.errors import DefinitionError, VoiceEvalError
from pytest_voiceeval.model.safe_text import shown_lines
from pytest_voiceeval.model.turns import AGENT, SIDES, Side
from pytest_voiceeval.scenarios.rehearsal import REHEARSALS
from pytest_voiceeval.scoring.conversation_end import ConversationEndPolicy

if TYPE_CHECKING:
    from pytest_voiceeval.bots.launch import CommandBot, LocalBot, RemoteBot

DESCRIPTION = """\
Hold scenarios one after another and write what pytest would: a folder with recording, transcript and metrics
of each scenario, and the files that sum the run up. Exit code 0 if every scenario came to a verdict, passed
or not; 1 if one came to an error, on Ctrl-C, or if there is nothing to hold. With pytest the same scenarios
are test cases: pytest --voice-scenarios=...
"""
BOT = "a profile (name or YAML file), 'cmd:COMMAND --port {port}', or ws://HOST:PORT"


def add_parser(commands: Commands) -> None:
    """Add the command to the command line."""
    parser = commands.add_parser(
        "run",
        parents=[pack_arguments()],
        help="hold scenarios without pytest",
        description=DESCRIPTION,
        allow_abbrev=False,  # --judge-api-key is not --judge-api-key-env
    )
    add_selection(parser)
    _add_bots(parser)
    _add_processes(parser)
    add_dialect_arguments(parser)
    _add_limits(parser)
    _add_retries(parser)
    add_judge_arguments(parser)
    parser.set_defaults(run=run)


def _add_bots(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("bots")
    group.add_argument(
        "--agent", "--agent-url", default="local", metavar="BOT", help=f"the agent under test: {BOT} (local)"
    )
    group.add_argument(
        "--user", "--user-url", default="local", metavar="BOT", help=f"the simulated caller: {BOT} (local)"
    )
    group.add_argument(
        "--rehearsal", choices=REHEARSALS, default="gold", help="what rehearsed bots play (gold)"
    )
    group.add_argument(
        "--cache-dir", type=cache_dir, default="user", metavar="DIR", help="folder that keeps spoken lines"
    )
    group.add_argument(
        "--connect-timeout",
        type=seconds,
        default=5.0,
        metavar="SECONDS",
        help="time a bot has to be ready (5)",
    )
    group.add_argument(
        "--clock",
        choices=("auto", "charged", "measured", "real"),
        default="auto",
        help="clock of the calls (auto: the fastest that the bots can have)",
    )


def _add_processes(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("bots that are commands")
    group.add_argument(
        "--start-timeout",
        type=seconds,
        default=30.0,
        metavar="SECONDS",
        help="time a command has to be ready (30)",
    )
    group.add_argument(
        "--agent-path", type=path, default="", help="where on its port the command takes calls, such as /ws"
    )
    for side in SIDES:
        group.add_argument(
            f"--{side}-cwd",
            type=folder,
            metavar="DIR",
            help=f"folder in which the command of the {side} runs",
        )
        group.add_argument(
            f"--{side}-env",
            type=variable,
            action="append",
            default=[],
            metavar="NAME=VALUE",
            help=f"environment variable of the command of the {side}; may be given several times",
        )


def _add_limits(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("calls and verdicts")
    group.add_argument("--duration", type=seconds, metavar="SECONDS", help="time limit of every call")
    group.add_argument(
        "--pause", type=seconds_or_zero, default=0.5, metavar="SECONDS", help="time between two calls (0.5)"
    )
    group.add_argument(
        "--output-sample-rate", type=count, default=16_000, metavar="HZ", help="of the recordings (16000)"
    )
    group.add_argument(
        "--inactivity-timeout",
        type=seconds_or_none,
        default=120.0,
        metavar="SECONDS",
        help="silence that ends a call; 'none' for no limit (120)",
    )
    group.add_argument(
        "--strict-match", action="store_true", help="whatever is done beyond the reference fails"
    )
    group.add_argument(
        "--conversation-end-policy",
        choices=[policy.value for policy in ConversationEndPolicy],
        default=ConversationEndPolicy.TOOL_ONLY.value,
        help="ends of a call that are a clean exit (tool-only)",
    )
    group.add_argument(
        "--min-agent-turns",
        type=whole,
        default=3,
        metavar="N",
        help="a call in which the agent answered fewer times fails; 0 for no minimum (3)",
    )


def _add_retries(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("calls that are held again")
    switch = argparse.BooleanOptionalAction
    group.add_argument(
        "--auto-resume-on-stale", action=switch, default=True, help="hold calls without a turn again (on)"
    )
    group.add_argument(
        "--auto-resume-on-insufficient-turns",
        action=switch,
        default=False,
        help="hold calls with too few answers of the agent again (off)",
    )
    group.add_argument("--max-auto-retries", type=whole, default=1, metavar="N", help="at most so often (1)")
    group.add_argument(
        "--auto-retry-backoff-secs", type=seconds_or_zero, default=5.0, metavar="SECONDS", help="after (5)"
    )


def run(options: argparse.Namespace) -> int:
    """Hold the scenarios that are chosen; return 1 if one came to an error, or nothing could be held."""
    keep_quiet()
    resumed = resumed_run(options)
    names = chosen_names(options, resumed)
    warn_of_split(names, options.split)
    if options.list or options.list_domains:
        domains = dict.fromkeys(name.partition("__")[0] for name in names)
        print("\n".join(domains if options.list_domains else names))  # noqa: T201
        return 0
    judge = judge_settings(options)
    folder = resumed or _new_folder(options.output_dir)
    try:
        with _sigterm_interrupts():
            records = _held(options, names, folder, judge)
    except VoiceEvalError:  # before any call
        with suppress(OSError):
            folder.rmdir()  # unless there is something in it
        raise
    except KeyboardInterrupt:
        print(f"interrupted; go on with --resume {folder}", file=sys.stderr)  # noqa: T201
        return 1
    words = Counter(_word(record) for record in records)
    counts = ", ".join(f"{words[word]} {word}" for word in ("passed", "failed", "skipped", "error"))
    print(f"{counts}\nrun folder: {folder}")  # noqa: T201
    return 1 if words["error"] else 0


@contextmanager
def _sigterm_interrupts() -> Iterator[None]:
    """Have SIGTERM end the run as Ctrl-C does: what there is of its calls is written."""
    is_main = threading.current_thread() is threading.main_thread()
    if not is_main or signal.getsignal(signal.SIGTERM) is not signal.SIG_DFL:
        yield
        return
    signal.signal(signal.SIGTERM, _interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)


def _interrupt(_number: int, _frame: FrameType | None) -> None:
    if signal.getsignal(signal.SIGINT) in (signal.SIG_IGN, signal.SIG_DFL, None):
        raise KeyboardInterrupt  # a process in the background of a shell ignores SIGINT
    signal.raise_signal(signal.SIGINT)  # a loop that runs has a handler of its own for it


def _new_folder(output_dir: Path) -> Path:
    from pytest_voiceeval.run.files import claim_folder  # noqa: PLC0415

    try:
        return claim_folder(output_dir / f"eval_{datetime.now():%Y%m%d_%H%M%S}")
    except OSError as exc:
        raise DefinitionError(
            f"--output-dir {output_dir}: no folder can be made there ({exc.strerror}); name a folder "
            "that you may write in"
        ) from None


def _held(
    options: argparse.Namespace, names: Sequence[str], folder: Path, judge: Any
) -> list[dict[str, Any]]:
    from pytest_voiceeval.run.dynamic import run_dynamic_evaluation  # noqa: PLC0415
    from pytest_voiceeval.scoring.judge import LLMJudge  # noqa: PLC0415

    same = (
        *("duration", "pause", "output_sample_rate", "strict_match", "min_agent_turns", "clock"),
        *("conversation_end_policy", "inactivity_timeout", "connect_timeout", "judge_threshold"),
        *("auto_resume_on_stale", "auto_resume_on_insufficient_turns"),
        *("max_auto_retries", "auto_retry_backoff_secs"),
    )
    with (
        _bot("user", options.user, options, folder) as user,
        _bot("agent", options.agent, options, folder) as agent,
    ):
        return run_dynamic_evaluation(
            user,
            agent,
            folder,
            names,
            judge=LLMJudge(judge) if judge else None,
            tell=lambda line: print(shown_lines(line), flush=True),  # noqa: T201
            **{name: getattr(options, name) for name in same},
        )


@contextmanager
def _bot(
    side: Side, text: str, options: argparse.Namespace, folder: Path
) -> Iterator[CommandBot | LocalBot | RemoteBot]:
    from pytest_voiceeval.bots.command import ProcessSettings  # noqa: PLC0415
    from pytest_voiceeval.bots.named import named_bot  # noqa: PLC0415

    bot = named_bot(
        side,
        text,
        log=folder / f"bot_{side}.log",
        variant=options.rehearsal,
        cache_dir=options.cache_dir,
        process=ProcessSettings(
            options.start_timeout,
            getattr(options, f"{side}_cwd"),
            dict(getattr(options, f"{side}_env")),
            tuple(options.pack),
            options.agent_path if side == AGENT else "",
        ),
        dialect=agent_dialect(options) if side == "agent" else None,
    )
    try:
        yield bot
    finally:
        bot.close()


def _word(record: dict[str, Any]) -> str:
    if record.get("verdict") == "error":
        return "error"
    return {True: "passed", False: "failed"}.get(record.get("is_successful", ""), "skipped")
