"""The table of options: flag, ini key, parser and default of each setting in one row."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import pytest

from pytest_voiceeval.scenarios.rehearsal import REHEARSALS

if TYPE_CHECKING:
    from pytest_voiceeval.bridge.clock import ClockChoice

T = TypeVar("T")


@dataclass(frozen=True)
class Option(Generic[T]):
    """One setting. Flag beats ini beats default; values stay texts until they are parsed.

    Attributes:
        key: the ini key and the flag's name; a flag has dashes.
        parse: text to value; raises ``ValueError``, whose text is the remedy.
        default: as text.
        help: one line for ``--help``.
        metavar: what ``--help`` calls the value.
        is_switch: the flag takes no value.
        is_list: the flag may be given several times; commas join the values.
        if_empty: the remedy where the flag is given an empty value, if that is wrong only of a flag.
    """

    key: str
    parse: Callable[[str], T]
    default: str
    help: str
    metavar: str = "TEXT"
    is_switch: bool = False
    is_list: bool = False
    if_empty: str = ""

    @property
    def flag(self) -> str:
        """The command-line flag."""
        return "--" + self.key.replace("_", "-")

    def declare(self, parser: pytest.Parser, group: pytest.OptionGroup) -> None:
        """Make pytest accept the flag and the ini key."""
        parser.addini(self.key, self.help, default=self.default)
        shape: dict[str, Any] = (
            {"action": "store_const", "const": "true"} if self.is_switch else {"metavar": self.metavar}
        )
        if self.is_list:
            shape["action"] = Joining
        text = f"{self.help} [ini: {self.key}]".replace("%", "%%")
        group.addoption(self.flag, dest=self.key, default=None, help=text, **shape)

    def read(self, config: pytest.Config) -> T:
        """Return the value that holds in this run.

        Raises:
            pytest.UsageError: naming flag or ini key, and the remedy.
        """
        text = config.getoption(self.key) if self.is_flagged(config) else config.getini(self.key)
        try:
            if self.if_empty and self.is_flagged(config) and not all(map(str.strip, text.split(","))):
                raise ValueError(self.if_empty)
            return self.parse(text)
        except ValueError as exc:
            raise pytest.UsageError(f"{self.name(config)}={text}: {exc}") from None

    def name(self, config: pytest.Config) -> str:
        """Return what the value was given as: the flag, or the ini key."""
        return self.flag if self.is_flagged(config) else self.key

    def is_flagged(self, config: pytest.Config) -> bool:
        """Return whether the flag was given."""
        return config.getoption(self.key) is not None


class Joining(argparse.Action):
    """Joins the values of a flag that is given several times with commas: xdist carries a text."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: str | Sequence[Any] | None,
        option_string: str | None = None,
    ) -> None:
        """Put the value behind those that came before it."""
        before = getattr(namespace, self.dest)
        setattr(namespace, self.dest, str(values) if before is None else f"{before},{values}")


def words(text: str) -> tuple[str, ...]:
    """Return what stands between the commas of ``text``."""
    return tuple(word.strip() for word in text.split(",") if word.strip())


def seconds(text: str) -> float:
    """Return a positive, finite number of seconds."""
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 < value < float("inf"):
        raise ValueError("write a number of seconds, such as 45 or 2.5")
    return value


def seconds_or_empty(text: str) -> float | None:
    """Return a number of seconds; ``None`` for an empty text."""
    return seconds(text) if text.strip() else None


def seconds_or_none(text: str) -> float | None:
    """Return a number of seconds; ``None`` for the word ``none``."""
    if text.strip().lower() == "none":
        return None
    try:
        return seconds(text)
    except ValueError as exc:
        raise ValueError(f"{exc}, or none") from None


def boolean(text: str) -> bool:
    """Return a truth value."""
    word = text.strip().lower()
    if word not in ("true", "false", "yes", "no", "on", "off", "1", "0"):
        raise ValueError("write true or false")
    return word in ("true", "yes", "on", "1")


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


def non_empty(text: str) -> str:
    """Return a text that is not empty."""
    if not text.strip():
        raise ValueError("write a value, or leave it out")
    return text


def endpoint(text: str) -> str:
    """Return what names a bot: a profile, a command, or URLs; only its form is checked."""
    text = text.strip()
    kind, _, rest = text.partition(":")
    if kind == "cmd" and "{port}" not in rest:
        raise ValueError("put {port} where the command takes its port, as in cmd:python bot.py --port {port}")
    if "://" in text and not is_url_list(text):
        raise ValueError("write ws://host:port, or several with commas between them")
    return non_empty(text)


def is_url_list(text: str) -> bool:
    """Return whether ``text`` is one or more WebSocket URLs."""
    urls = words(text)
    return bool(urls) and all(url.startswith(("ws://", "wss://")) for url in urls)


SCENARIOS = Option(
    "voice_scenarios",
    words,
    "",
    "voice scenarios to run: domains, names, globs or 'all', with commas between them",
    "SEL[,SEL]",
    is_list=True,
    if_empty="write a domain, a name, a glob or all",
)
BOT = "a profile (name or YAML file), 'cmd:COMMAND --port {port}', or 'ws://HOST:PORT[,...]'"
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
    "folder that keeps what embedded bots say of a rehearsal, so that it is synthesised once; 'user' is in "
    "the user's cache directory, 'none' keeps nothing",
    "DIR",
)
DURATION = Option(
    "voice_duration",
    seconds_or_empty,
    "",
    "time limit of every call, whatever its scenario says",
    "SECONDS",
    if_empty="write a number of seconds, such as 45 or 2.5",
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
    "voice_start_timeout", seconds, "30", "time a 'cmd:' bot has from its start until it listens", "SECONDS"
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

OPTIONS: tuple[Option[Any], ...] = (
    SCENARIOS,
    AGENT,
    USER,
    REHEARSAL,
    OUTPUT_DIR,
    CACHE_DIR,
    DURATION,
    INACTIVITY_TIMEOUT,
    CONNECT_TIMEOUT,
    START_TIMEOUT,
    CLOCK,
    STRICT_MATCH,
)


def declare(parser: pytest.Parser) -> None:
    """Make pytest accept every option of the table, and the few that are no settings."""
    group = parser.getgroup("voice", "voice-agent evaluation")
    for option in OPTIONS:
        option.declare(parser, group)
    group.addoption("--voice-list", action="store_true", help="list the voice scenarios and exit")
    group.addoption("--voice-list-domains", action="store_true", help="list their domains and exit")
    parser.addini("voice_packs", "folders with scenarios/, tools/ and data/ of their own", type="paths")
