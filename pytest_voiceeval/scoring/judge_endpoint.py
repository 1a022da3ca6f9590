"""The endpoint of a judge: requests that are tried again within limits, and replies that are whole."""

from __future__ import annotations

import asyncio
import os
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, Field, SecretStr, ValidationError

from pytest_voiceeval.errors import JudgeError
from pytest_voiceeval.scoring.judge_prompt import JudgeInput
from pytest_voiceeval.scoring.judge_settings import JudgeSettings

if TYPE_CHECKING:
    from openai import AsyncOpenAI

RETRIES = 2
"""How often a request is made again that could not be served for the moment: HTTP 408, 409, 429 and 5xx, and
no connection. The client waits in between, longer each time, or as long as the endpoint asks for."""

SHOWN_CHARACTERS = 500

SHORTEST_KEY = 12
"""Characters from which on a key is told from words of a text."""

CUT_OFF = frozenset({"length", "max_tokens", "max_output_tokens"})
REMEDIES = {
    400: "what the endpoint does not take can be left out, as with --voice-judge-top-p=none (of `run`: "
    "--judge-top-p=none)",
    401: "see that the key in {key} is right",
    403: "see that the key in {key} is right",
    404: "see that URL (most end in /v1) and model are right",
}


class _Part(BaseModel, extra="ignore"):
    type: str = "text"
    text: str = ""


class _Message(BaseModel, extra="ignore"):
    content: str | list[_Part] | None = None
    refusal: str | None = None

    @property
    def text(self) -> str:
        if isinstance(self.content, list):
            return "".join(part.text for part in self.content if part.type == "text")
        return self.content or ""


class _Choice(BaseModel, extra="ignore"):
    message: _Message
    finish_reason: str | None = None


class _Completion(BaseModel, extra="ignore"):
    choices: list[_Choice] = Field(min_length=1)


BROKEN_OFF = {"RemoteProtocolError", "ReadError", "WriteError"}
"""Names of the HTTP client's exceptions for a connection that was there; which package it is depends on
openai's version."""


class JudgeEndpoint:
    """The model of a judge, as long as the body of ``async with`` runs.

    Raises:
        JudgeError: if there is no key and there must be one.
    """

    def __init__(self, settings: JudgeSettings) -> None:
        self._settings = settings
        self._where = f"the judge at {settings.url}"
        self._key = _key(settings)
        self._client: AsyncOpenAI | None = None

    async def __aenter__(self) -> JudgeEndpoint:
        """Set the client up; nothing is sent yet."""
        from openai import AsyncOpenAI, DefaultAsyncHttpxClient  # noqa: PLC0415 - heavy

        self._client = AsyncOpenAI(
            api_key=self._key.get_secret_value() if self._key else "none",
            base_url=self._settings.base_url,
            default_query=self._settings.query,
            timeout=self._settings.timeout,
            max_retries=RETRIES,
            http_client=DefaultAsyncHttpxClient(trust_env=not self._settings.is_local),  # no proxy to here
        )
        return self

    async def __aexit__(self, *_: object) -> None:
        """Close its connections."""
        if self._client is not None:
            await self._client.close()

    async def reply(self, asked: JudgeInput, sample: int) -> str:
        """Return the model's reply; the seed differs from one ``sample`` to the next.

        Raises:
            JudgeError: if there is none within the time, or only a part of one.
        """
        import openai  # noqa: PLC0415 - heavy

        seconds = self._settings.timeout
        try:
            async with asyncio.timeout(seconds):
                body = await self._post(asked, sample)
        except (TimeoutError, openai.APITimeoutError):
            raise self._error(
                f"gave no reply within {seconds:g} s; give it more with --voice-judge-timeout (of `run`: "
                "--judge-timeout)"
            ) from None
        except openai.APIStatusError as exc:
            remedy = REMEDIES.get(exc.status_code, "").format(key=self._settings.api_key_env)
            text = f"answered HTTP {exc.status_code}: {self._short(exc.response.text)}"
            raise self._error(f"{text}; {remedy}" if remedy else text) from None
        except openai.APIConnectionError as exc:
            raise self._error(self._unconnected(exc.__cause__ or exc)) from None
        return self._whole_reply(body)

    def _unconnected(self, cause: BaseException) -> str:
        """Return what became of a connection, by what the HTTP client says of it."""
        told = self._short(str(cause))
        if type(cause).__name__ in BROKEN_OFF:
            return f"broke off its connection ({told}); its own log says why"
        return f"could not be reached ({told}); start it, or correct its URL"

    async def _post(self, asked: JudgeInput, sample: int) -> str:
        from openai import Omit  # noqa: PLC0415 - heavy

        assert self._client is not None
        settings = self._settings
        fields: dict[str, Any] = {
            "max_tokens": settings.max_tokens,
            "temperature": settings.temperature,
            "top_p": settings.top_p,
            "seed": None if settings.seed is None else settings.seed + sample,
        }
        extra: dict[str, Any] = {}
        if settings.thinking or settings.thinking_token_budget is not None:
            extra["chat_template_kwargs"] = {"enable_thinking": True}
        if settings.thinking_token_budget is not None:
            extra["thinking_token_budget"] = settings.thinking_token_budget
        response = await self._client.chat.completions.with_raw_response.create(
            model=settings.model,
            messages=[
                {"role": "system", "content": asked.system_prompt},
                {"role": "user", "content": asked.user_content},
            ],
            extra_body=extra,
            extra_headers={} if self._key else {"Authorization": Omit()},
            **{name: value for name, value in fields.items() if value is not None},
        )
        text: str = response.text
        return text

    def _whole_reply(self, body: str) -> str:
        try:
            choice = _Completion.model_validate_json(body).choices[0]
        except ValidationError:
            raise self._error(f"answered with no chat completion: {self._short(body)}") from None
        reason = (choice.finish_reason or "").lower()
        if reason in CUT_OFF:
            raise self._error(
                "was cut off at its longest reply; give it more with --voice-judge-max-tokens (of `run`: "
                "--judge-max-tokens)"
            )
        if choice.message.refusal:
            raise self._error(f"refused: {self._short(choice.message.refusal)}")
        if not choice.message.text.strip():
            raise self._error(f"gave an empty reply (finish_reason {reason or 'unknown'!r})")
        return self._redacted(choice.message.text)

    def _error(self, what: str) -> JudgeError:
        return JudgeError(f"{self._where} {what}")

    def _short(self, text: str) -> str:
        words = " ".join(self._redacted(text).split())
        return words if len(words) <= SHOWN_CHARACTERS else f"{words[:SHOWN_CHARACTERS]} …"

    def _redacted(self, text: str) -> str:
        """Return ``text`` without the key, should the endpoint or a library have put it there."""
        key = self._key.get_secret_value() if self._key else ""
        return text.replace(key, "(key)") if len(key) >= SHORTEST_KEY else text


def missing_key(settings: JudgeSettings) -> str:
    """Return why the endpoint cannot be asked for lack of a key; empty if it can be."""
    if settings.is_local or os.environ.get(settings.api_key_env, "").strip():
        return ""
    return (
        f"no key for {settings.url}: the environment variable {settings.api_key_env} is not set; put the key "
        "there (any text, if the endpoint takes none), or name another one with --voice-judge-api-key-env "
        "(of `run`: --judge-api-key-env)"
    )


def _key(settings: JudgeSettings) -> SecretStr | None:
    """Return the key; ``None`` if there is none and need not be. Raises JudgeError."""
    if why := missing_key(settings):
        raise JudgeError(f"the judge has {why}")
    key = os.environ.get(settings.api_key_env, "").strip()
    if not (key.isascii() and key.isprintable()):
        raise JudgeError(
            f"the judge's key in {settings.api_key_env} has characters that no HTTP header can hold"
        )
    return SecretStr(key) if key else None
