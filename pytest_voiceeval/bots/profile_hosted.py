"""The services behind OpenAI-compatible HTTP endpoints, as a profile has them: model, hosted speech."""

from __future__ import annotations

import json
import os
from typing import Annotated, Any, ClassVar, Literal

from pydantic import AfterValidator, Field

from pytest_voiceeval.bots.profile_local import Section
from pytest_voiceeval.errors import ProfileError

_OWN = frozenset({"model", "messages", "stream", "stream_options", "tools", "tool_choice", "n"})
"""Fields of a request that are the bot's to fill in."""


def _addable(fields: dict[str, Any]) -> dict[str, Any]:
    """Return ``fields`` if a request may have them besides its own; raises ValueError else."""
    taken = sorted(_OWN & fields.keys())
    if taken:
        raise ValueError(f"{' and '.join(taken)} cannot be set here: the bot fills it in")
    try:
        json.dumps(fields, allow_nan=False)
    except (TypeError, ValueError) as exc:
        raise ValueError(f"JSON cannot hold it: {exc}") from None
    return fields


class Hosted(Section):
    """Where an endpoint is, which key it takes, and how long it may take."""

    SECTION: ClassVar[str]
    PATH: ClassVar[str]

    base_url: str = Field(
        default="https://api.openai.com/v1",
        pattern=r"^https?://[^\s/?#@]+(/[^\s?#@]*)?$",
        description="the URL up to and with /v1, such as http://localhost:11434/v1, without user, password "
        "and query",
    )
    api_key_env: str | None = Field(
        default="OPENAI_API_KEY",
        pattern=r"^[A-Za-z_][A-Za-z0-9_]*$",
        description="the name of an environment variable that holds the key; null for no key",
    )
    timeout_seconds: float = Field(
        default=60.0, gt=0, le=600, description="seconds for one answer, all attempts at it included"
    )
    connect_timeout_seconds: float = Field(
        default=5.0, gt=0, le=600, description="seconds that an attempt has to connect"
    )
    first_timeout_seconds: float = Field(
        default=20.0,
        gt=0,
        le=600,
        description="seconds that an attempt has until its answer begins; no longer may it pause then",
    )
    max_retries: int = Field(
        default=4,
        ge=0,
        le=20,
        description="a whole number: how often a request is sent again that was turned away for a while, "
        "lost or not answered",
    )

    @property
    def url(self) -> str:
        """Where its requests go."""
        return f"{self.base_url.rstrip('/')}/{self.PATH}"

    def api_key(self) -> str:
        """Return the key from the environment; a filler where the server wants none.

        Raises:
            ProfileError: if the variable is not set, or holds what is no key.
        """
        if self.api_key_env is None:
            return "none"
        key = os.environ.get(self.api_key_env, "").strip()
        if not key:
            raise ProfileError(
                f"{self.SECTION}.api_key_env: the environment variable {self.api_key_env} is not set; set it "
                f"to the key for {self.base_url}, or write null for a server that wants none"
            )
        if not (key.isascii() and key.isprintable()):
            raise ProfileError(
                f"{self.SECTION}.api_key_env: what the environment variable {self.api_key_env} holds is no "
                "key: a header takes printable ASCII characters only; set it to the key itself"
            )
        return key


class OpenAiLlm(Hosted):
    """A model behind an OpenAI-compatible HTTP interface."""

    SECTION = "llm"
    PATH = "chat/completions"

    service: Literal["openai"]
    model: str = Field(min_length=1, description="the model's name, such as gpt-4.1-mini")
    temperature: float | None = Field(default=None, ge=0, le=2, description="a number from 0 to 2")
    top_p: float | None = Field(default=None, gt=0, le=1, description="a number above 0, at most 1")
    seed: int | None = Field(default=None, description="a whole number")
    max_tokens: int | None = Field(default=None, ge=1, description="a whole number, 1 or more")
    max_completion_tokens: int | None = Field(default=None, ge=1, description="a whole number, 1 or more")
    reasoning_effort: str | None = Field(
        default=None, min_length=1, description="a level that the model knows, such as none, low or high"
    )
    extra_body: Annotated[dict[str, Any], AfterValidator(_addable)] = Field(
        default={}, description="more fields of the request, such as {top_k: 20}"
    )

    def extra(self) -> dict[str, Any]:
        """Return what goes into a request besides what pipecat's settings have names for."""
        fields: dict[str, Any] = {"reasoning_effort": self.reasoning_effort, "extra_body": self.extra_body}
        return {name: value for name, value in fields.items() if value}

    def sampling(self) -> dict[str, Any]:
        """Return those of pipecat's settings that are set."""
        names = ("temperature", "top_p", "seed", "max_tokens", "max_completion_tokens")
        return {name: value for name in names if (value := getattr(self, name)) is not None}


class OpenAiStt(Hosted):
    """Speech recognition behind ``/audio/transcriptions``."""

    SECTION = "stt"
    PATH = "audio/transcriptions"

    service: Literal["openai"]
    model: str = Field(min_length=1, description="the recogniser's name, such as gpt-4o-mini-transcribe")
    language: str = Field(
        default="en", pattern=r"^[A-Za-z]{2,3}$", description="a code of two letters, such as en"
    )
    prompt: str | None = Field(default=None, description="words that the recogniser may expect")


class OpenAiTts(Hosted):
    """Speech synthesis behind ``/audio/speech``. Two sides sound alike unless their voices differ."""

    SECTION = "tts"
    PATH = "audio/speech"

    service: Literal["openai"]
    model: str = Field(min_length=1, description="the synthesiser's name, such as gpt-4o-mini-tts")
    voice: str = Field(default="alloy", min_length=1, description="the name of a voice, such as alloy")
    instructions: str | None = Field(default=None, description="how to speak, where the model takes that")
    speed: float | None = Field(default=None, ge=0.25, le=4, description="a number from 0.25 to 4")
    sample_rate: int = Field(
        default=24_000,
        ge=8_000,
        le=48_000,
        description="the rate in hertz of the raw sound that it sends (pcm), such as 24000",
    )
