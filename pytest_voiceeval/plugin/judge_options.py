"""The options of the judge: the part of the table that says how it is reached and asked."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import pytest

from pytest_voiceeval.plugin.option import Option, boolean, seconds
from pytest_voiceeval.wire.address import shown

if TYPE_CHECKING:
    from pytest_voiceeval.scoring.judge_settings import JudgeSettings

T = TypeVar("T")


def url_or_empty(text: str) -> str:
    """Return a URL of HTTP; an empty text as it is."""
    if text.strip():
        from pytest_voiceeval.scoring.judge_settings import check_url  # noqa: PLC0415 - light start

        check_url(text)
    return text.strip()


def variable_name(text: str) -> str:
    """Return the name of an environment variable."""
    if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", text.strip()):
        raise ValueError("write the name of an environment variable, never the key itself")
    return text.strip()


def number(text: str) -> float:
    """Return a finite number."""
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise ValueError("write a number, such as 0.7")
    return value


def share(text: str) -> float:
    """Return a number from 0 to 1."""
    try:
        value = number(text)
    except ValueError:
        value = -1.0
    if not 0 <= value <= 1:
        raise ValueError("write a number from 0 to 1, such as 0.9")
    return value


def whole(text: str) -> int:
    """Return a whole number."""
    try:
        return int(text)
    except ValueError:
        raise ValueError("write a whole number, such as 42") from None


def count(text: str) -> int:
    """Return a whole number above 0."""
    try:
        value = int(text)
    except ValueError:
        value = 0
    if value < 1:
        raise ValueError("write a whole number above 0, such as 40")
    return value


def or_none(parse: Callable[[str], T]) -> Callable[[str], T | None]:
    """Return a parser that takes the word ``none`` too."""

    def parsed(text: str) -> T | None:
        if text.strip().lower() == "none":
            return None
        try:
            return parse(text)
        except ValueError as exc:
            raise ValueError(f"{exc}, or none") from None

    return parsed


URL = Option(
    "voice_judge_url",
    url_or_empty,
    "",
    "OpenAI-compatible endpoint of a model that judges calls, such as http://127.0.0.1:8000/v1 (or all of "
    "it, up to /chat/completions); without URL and model there is no judge, and nothing is contacted",
    "URL",
)
MODEL = Option("voice_judge_model", str.strip, "", "name of the judge's model", "NAME")
THRESHOLD = Option(
    "voice_judge_threshold", share, "0.9", "lowest score of the judge that passes, from 0 to 1", "SCORE"
)
TIMEOUT = Option(
    "voice_judge_timeout",
    seconds,
    "120",
    "time that the judge has for a reply, requests that are tried again included",
    "SECONDS",
)
API_KEY_ENV = Option(
    "voice_judge_api_key_env",
    variable_name,
    "JUDGE_API_KEY",
    "environment variable that holds the judge's key; an endpoint on this machine may do without",
    "NAME",
)
LEFT_OUT = "'none' leaves it out of the request"
TEMPERATURE = Option(
    "voice_judge_temperature", or_none(number), "1.0", f"temperature of the judge; {LEFT_OUT}", "NUMBER"
)
TOP_P = Option("voice_judge_top_p", or_none(share), "0.95", f"top_p of the judge; {LEFT_OUT}", "NUMBER")
SEED = Option(
    "voice_judge_seed",
    or_none(whole),
    "42",
    f"seed of the judge, one more for each further sample; {LEFT_OUT}",
    "NUMBER",
)
MAX_TOKENS = Option(
    "voice_judge_max_tokens",
    or_none(count),
    "100000",
    f"longest reply of the judge, thoughts included; {LEFT_OUT}",
    "TOKENS",
)
THINKING = Option(
    "voice_judge_thinking",
    boolean,
    "false",
    "send chat_template_kwargs.enable_thinking, which vLLM understands and others refuse",
    is_switch=True,
)
THINKING_TOKEN_BUDGET = Option(
    "voice_judge_thinking_token_budget",
    or_none(count),
    "none",
    "longest thoughts of the judge, for endpoints that take thinking_token_budget; implies "
    "--voice-judge-thinking",
    "TOKENS",
)
INCLUDE_CONVERSATION = Option(
    "voice_judge_include_conversation",
    boolean,
    "false",
    "show the judge the transcript too, besides what both models were told and said",
    is_switch=True,
)
COMPACT_CONTEXT = Option(
    "voice_judge_compact_context",
    boolean,
    "false",
    "shorten what both models were told and said to the three limits below",
    is_switch=True,
)
CONTEXT_MESSAGE_LIMIT = Option(
    "voice_judge_context_message_limit", count, "40", "most messages of each model, the latest", "NUMBER"
)
CONTEXT_SYSTEM_STRING_LIMIT = Option(
    "voice_judge_context_system_string_limit", count, "2500", "longest text of a system message", "CHARACTERS"
)
CONTEXT_STRING_LIMIT = Option(
    "voice_judge_context_string_limit", count, "6000", "longest other text", "CHARACTERS"
)
SAMPLES = Option(
    "voice_judge_samples",
    count,
    "1",
    "how often the judge is asked of each call: the median score and the majority of verdicts count",
    "NUMBER",
)

JUDGE_OPTIONS: tuple[Option[Any], ...] = (
    URL,
    MODEL,
    THRESHOLD,
    TIMEOUT,
    API_KEY_ENV,
    TEMPERATURE,
    TOP_P,
    SEED,
    MAX_TOKENS,
    THINKING,
    THINKING_TOKEN_BUDGET,
    INCLUDE_CONVERSATION,
    COMPACT_CONTEXT,
    CONTEXT_MESSAGE_LIMIT,
    CONTEXT_SYSTEM_STRING_LIMIT,
    CONTEXT_STRING_LIMIT,
    SAMPLES,
)


def judge_settings(config: pytest.Config) -> JudgeSettings | None:
    """Return how the judge of this run is asked; ``None`` if there is none.

    Raises:
        pytest.UsageError: if a value is wrong, or only one of URL and model is given.
    """
    values = {option.key.removeprefix("voice_judge_"): option.read(config) for option in JUDGE_OPTIONS}
    url, model = values["url"], values["model"]
    if url and not model:
        raise pytest.UsageError(f"{URL.name(config)}={shown(url)}: name its model too, with {MODEL.flag}")
    if model and not url and MODEL.is_flagged(config) and not URL.is_flagged(config):
        raise pytest.UsageError(f"{MODEL.flag}={model}: say where it is too, with {URL.flag}")
    if not url:
        return None
    from pytest_voiceeval.scoring.judge_settings import JudgeSettings  # noqa: PLC0415 - light start

    del values["threshold"]
    try:
        return JudgeSettings(**values)
    except ValueError as exc:  # without the URL, in which there is a secret
        raise pytest.UsageError(f"{URL.name(config)}: {exc}") from None
