"""RTVI messages: the JSON envelopes that travel in protobuf message frames.

Source: ``RTVI standard <https://docs.pipecat.ai/client/rtvi-standard>``_, as pipecat speaks it.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from importlib.metadata import version
from typing import Any, Literal

from pydantic import AliasChoices, BaseModel, ConfigDict, Field, ValidationError

from pytest_voiceeval.errors import WireError

LABEL = "rtvi-ai"

CLIENT_READY = "client-ready"
CLIENT_MESSAGE = "client-message"
SEND_TEXT = "send-text"
BOT_READY = "bot-ready"
SERVER_RESPONSE = "server-response"
ERROR_RESPONSE = "error-response"
SERVER_MESSAGE = "server-message"
ACTION_APPLIED = "action-applied"
BOT_STARTED_SPEAKING = "bot-started-speaking"
BOT_STOPPED_SPEAKING = "bot-stopped-speaking"
BOT_TTS_TEXT = "bot-tts-text"
BOT_LLM_STARTED = "bot-llm-started"
BOT_LLM_TEXT = "bot-llm-text"
BOT_TTS_STARTED = "bot-tts-started"
USER_TRANSCRIPTION = "user-transcription"
METRICS = "metrics"
TOOL_CALL = "llm-function-call"
TOOL_CALL_IN_PROGRESS = "llm-function-call-in-progress"
TOOL_CALL_STOPPED = "llm-function-call-stopped"
ERROR = "error"

REPLIES = frozenset({BOT_READY, SERVER_RESPONSE, ERROR_RESPONSE})

PROTOCOL_VERSION = "1.1.0"
"""Version that the bridge declares: any bot of major 1 or 2 serves it."""

Request = Literal[
    "reset",
    "update_system_prompt",
    "apply_initialization",
    "apply_sync_delta",
    "get_context_history",
    "get_scenario_summary",
]


class Envelope(BaseModel):
    """Any RTVI message. ``data`` is whatever its type says; ``id`` pairs a reply with its request."""

    model_config = ConfigDict(extra="ignore")

    label: Literal["rtvi-ai"] = "rtvi-ai"
    type: str
    id: str | None = None
    data: Any = None

    def to_json(self) -> dict[str, Any]:
        """Return the message as it travels: without ``id`` and ``data`` where they are ``None``."""
        return self.model_dump(exclude_none=True)

    @property
    def fields(self) -> Mapping[str, Any]:
        """``data`` if it is an object, else an empty one."""
        return self.data if isinstance(self.data, dict) else {}


MOST_TOKENS = 10**12
"""More tokens than this in one call of a model make no sense."""

MOST_SECONDS = 10**6
"""No more does a longer time to a first result."""


class TokenCount(BaseModel):
    """One entry of ``metrics.data.tokens``; what is missing or null counts 0."""

    model_config = ConfigDict(extra="ignore")

    prompt_tokens: int | None = Field(default=None, ge=0, le=MOST_TOKENS)
    completion_tokens: int | None = Field(default=None, ge=0, le=MOST_TOKENS)


class ToolCall(BaseModel):
    """What a message about a tool call tells of it; bots may leave out all but the id.

    ``llm-function-call``, which older bots send, has the arguments as ``args``.
    """

    model_config = ConfigDict(extra="ignore")

    tool_call_id: str
    function_name: str | None = None
    arguments: dict[str, Any] | None = Field(default=None, validation_alias=AliasChoices("arguments", "args"))
    cancelled: bool = False
    result: Any = None


def tool_call(message: Envelope) -> ToolCall | None:
    """Return what a message tells of a tool call; ``None`` if that makes no sense."""
    try:
        return ToolCall.model_validate(message.data)
    except ValidationError:
        return None


def parse(text: str) -> Envelope:
    """Read a message. Numbers that are not finite, which JSON does not have, become null.

    Raises:
        WireError: if ``text`` is not JSON, or not an RTVI envelope.
    """
    try:
        content = json.loads(text, parse_constant=lambda _: None, parse_float=_finite)
    except (ValueError, RecursionError) as exc:
        raise WireError(f"not JSON: {exc}") from None
    try:
        return Envelope.model_validate(content)
    except ValidationError as exc:
        first = exc.errors()[0]
        where = ".".join(str(part) for part in first["loc"]) or "message"
        raise WireError(f"not an RTVI message: {where}: {first['msg']}") from None


def _finite(text: str) -> float | None:
    value = float(text)
    return value if math.isfinite(value) else None


def client_ready(message_id: str) -> Envelope:
    """Return the handshake that a bot answers with ``bot-ready``."""
    about = {"library": "pytest-voiceeval", "library_version": version("pytest-voiceeval")}
    return Envelope(type=CLIENT_READY, id=message_id, data={"version": PROTOCOL_VERSION, "about": about})


def client_message(message_id: str, request: Request, arguments: Mapping[str, Any]) -> Envelope:
    """Return one of the six requests."""
    return Envelope(type=CLIENT_MESSAGE, id=message_id, data={"t": request, "d": dict(arguments)})


def send_text(message_id: str, content: str) -> Envelope:
    """Return a message that puts ``content`` to a bot as a user's turn and has it answer aloud."""
    options = {"run_immediately": True, "audio_response": True}
    return Envelope(type=SEND_TEXT, id=message_id, data={"content": content, "options": options})


def token_counts(message: Envelope) -> list[TokenCount]:
    """Return the token counts of a ``metrics`` message; entries that make no sense are left out."""
    entries = message.fields.get("tokens")
    counts = []
    for entry in entries if isinstance(entries, list) else ():
        try:
            counts.append(TokenCount.model_validate(entry))
        except ValidationError:
            continue
    return counts


def first_results(message: Envelope) -> list[tuple[str, float]]:
    """Return the times to first result of a ``metrics`` message: processor (without its number), seconds."""
    entries = message.fields.get("ttfb")
    results = []
    for entry in entries if isinstance(entries, list) else ():
        value = entry.get("value") if isinstance(entry, dict) else None
        if not isinstance(value, int | float) or isinstance(value, bool):
            continue
        if 0 <= value <= MOST_SECONDS:
            results.append((str(entry.get("processor")).split("#")[0], float(value)))
    return results


def applied_action(message: Envelope) -> Mapping[str, Any] | None:
    """Return the record of an action that a bot's tool has done; ``None`` for any other message."""
    action = message.fields.get("action")
    return action if message.fields.get("type") == ACTION_APPLIED and isinstance(action, dict) else None


def enclosed(message: Envelope, tag: str) -> str | None:
    """Return what stands between ``<tag>`` and ``</tag>`` of a server message's text.

    ``None`` unless the whole text starts with the one and ends with the other.
    """
    text = message.fields.get("text")
    opening, closing = f"<{tag}>", f"</{tag}>"
    if not isinstance(text, str) or len(text) < len(opening) + len(closing):
        return None
    if not (text.startswith(opening) and text.endswith(closing)):
        return None
    return text[len(opening) : -len(closing)]
