"""The arguments that say how a judge is reached and asked."""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable
from dataclasses import fields
from typing import Any, TypeVar

from pytest_voiceeval.errors import DefinitionError
from pytest_voiceeval.scoring.judge_settings import JudgeSettings
from pytest_voiceeval.wire.address import shown

T = TypeVar("T")

DEFAULTS = {field.name: field.default for field in fields(JudgeSettings)}


def number(text: str) -> float:
    """Return a finite number."""
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise argparse.ArgumentTypeError(f"{text!r} is no number; write one, such as 0.7")
    return value


def share(text: str) -> float:
    """Return a number from 0 to 1."""
    value = number(text)
    if not 0 <= value <= 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not from 0 to 1; write a number such as 0.9")
    return value


def seconds(text: str) -> float:
    """Return a number of seconds above 0."""
    value = number(text)
    if value <= 0:
        raise argparse.ArgumentTypeError(f"{text!r} is no time; write seconds above 0, such as 45 or 2.5")
    return value


def seconds_or_zero(text: str) -> float:
    """Return a number of seconds from 0."""
    return 0.0 if number(text) == 0 else seconds(text)


def or_none(parse: Callable[[str], T]) -> Callable[[str], T | None]:
    """Return a parser that takes the word ``none`` too."""

    def parsed(text: str) -> T | None:
        if text.strip().lower() == "none":
            return None
        try:
            return parse(text)
        except argparse.ArgumentTypeError as exc:
            raise argparse.ArgumentTypeError(f"{exc}, or none") from None

    return parsed


seconds_or_none = or_none(seconds)


def integer(text: str) -> int:
    """Return a whole number, also one below 0."""
    try:
        return int(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is no whole number; write one, such as 42") from None


def whole(text: str) -> int:
    """Return a whole number from 0."""
    if not text.strip().isdecimal():
        raise argparse.ArgumentTypeError(f"{text!r} is no whole number from 0 on; write one, 0 or more")
    return int(text)


def count(text: str) -> int:
    """Return a whole number from 1."""
    value = whole(text)
    if value < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is too small; write a whole number from 1 on")
    return value


LEFT_OUT = "'none' leaves it out of the request"

_ARGUMENTS: dict[str, tuple[Callable[[str], Any], str]] = {
    "timeout": (seconds, "seconds that one reply may take"),
    "api_key_env": (str.strip, "environment variable that holds the key"),
    "temperature": (or_none(number), f"temperature of the request; {LEFT_OUT}"),
    "top_p": (or_none(share), f"top_p of the request; {LEFT_OUT}"),
    "seed": (or_none(integer), f"seed of the request; {LEFT_OUT}"),
    "max_tokens": (or_none(count), f"most tokens of a reply; {LEFT_OUT}"),
    "thinking_token_budget": (or_none(count), "most tokens of thoughts; sent only if given"),
    "context_message_limit": (count, "most messages of each model, if they are compacted"),
    "context_system_string_limit": (count, "longest text of a system message then, in characters"),
    "context_string_limit": (count, "longest other text then"),
    "samples": (count, "how often the judge is asked of each call; the median counts"),
}
_SWITCHES = {
    "thinking": "ask for thoughts, as vLLM understands it",
    "include_conversation": "show the judge what was said, turn by turn",
    "compact_context": "shorten the histories of the models to three limits",
}


def add_judge_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the judge; without URL and model there is none."""
    group = parser.add_argument_group("judge")
    group.add_argument(
        "--judge-url", default="", metavar="URL", help="OpenAI-compatible endpoint of the judge"
    )
    group.add_argument("--judge-model", default="", metavar="NAME", help="its model")
    group.add_argument(
        "--judge-threshold", type=share, default=0.9, metavar="SCORE", help="lowest score that passes (0.9)"
    )
    for name, (parse, text) in _ARGUMENTS.items():
        given = DEFAULTS[name]
        group.add_argument(
            f"--judge-{name.replace('_', '-')}",
            type=parse,
            default=given,
            metavar="VALUE",
            help=text if given is None else f"{text} ({given})",
        )
    for name, text in _SWITCHES.items():
        group.add_argument(f"--judge-{name.replace('_', '-')}", action="store_true", help=text)


def judge_settings(options: argparse.Namespace) -> JudgeSettings | None:
    """Return how the judge is asked; ``None`` if there is none.

    Raises:
        DefinitionError: if a value makes no sense, or only one of URL and model is given.
    """
    url, model = options.judge_url, options.judge_model
    if url and not model:
        raise DefinitionError(f"--judge-url {shown(url)}: name its model too, with --judge-model")
    if model and not url:
        raise DefinitionError(f"--judge-model {model}: say where it is too, with --judge-url")
    if not url:
        return None
    return JudgeSettings(**{name: getattr(options, f"judge_{name}") for name in DEFAULTS})
