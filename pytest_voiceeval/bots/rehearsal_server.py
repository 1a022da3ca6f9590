"""The rehearsal server: an OpenAI-compatible HTTP server that plays scripts in place of a model.

It holds no state. Which script it is follows from the system prompt of a request, which line comes
next from the number of assistant messages in it: a request may be cancelled, repeated, or come in
the midst of a hundred others.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass

from aiohttp import web
from pydantic import ValidationError

from pytest_voiceeval.bots.completions import Answer, Json, Message, Request
from pytest_voiceeval.bots.listening import listening_socket
from pytest_voiceeval.model.turns import Side, other
from pytest_voiceeval.scenarios.rehearsal import REHEARSALS, Line, Rehearsal, Say, line_for, sabotage

_MAX_BODY_BYTES = 16 * 1024 * 1024


@dataclass(frozen=True)
class Script:
    """One side of one scenario: its rendered system prompt, and the rehearsal that answers it."""

    prompt: str
    side: Side
    rehearsal: Rehearsal


@dataclass(frozen=True)
class Pace:
    """How fast the server pretends to think and write."""

    seconds_to_first_token: float = 0.0
    seconds_per_token: float = 0.0


class _RequestError(Exception):
    def __init__(self, status: int, message: str, *, code: str, param: str | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.body: Json = {
            "error": {
                "message": message,
                "type": "invalid_request_error",
                "param": param,
                "code": code,
            }
        }


TOKENS_AT_ONCE = 4
"""Tokens in a piece of a streamed answer that takes no time."""


class RehearsalServer:
    """Serves the scripts it was given, on 127.0.0.1 and a free port, inside ``async with``."""

    def __init__(self, scripts: Iterable[Script], *, pace: Pace = Pace()) -> None:
        # The longest prompt first: one may begin with another.
        self._scripts = sorted(scripts, key=lambda script: -len(script.prompt))
        self._pace = pace
        self._runner: web.AppRunner | None = None
        self._port = 0

    @property
    def base_url(self) -> str:
        """What an OpenAI client takes as ``base_url``."""
        if self._runner is None:
            raise RuntimeError("the rehearsal server is not running; enter it with 'async with'")
        return f"http://127.0.0.1:{self._port}/v1"

    async def __aenter__(self) -> RehearsalServer:
        app = web.Application(middlewares=[_errors_as_openai_has_them], client_max_size=_MAX_BODY_BYTES)
        app.router.add_get("/v1/models", self._models)
        app.router.add_get("/v1/models/{model}", self._model)
        app.router.add_post("/v1/chat/completions", self._complete)
        listening = listening_socket("127.0.0.1", 0)
        self._port = listening.getsockname()[1]
        self._runner = web.AppRunner(app, access_log=None, handle_signals=False, shutdown_timeout=1.0)
        await self._runner.setup()
        await web.SockSite(self._runner, listening).start()
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._runner is not None:
            await self._runner.cleanup()
            self._runner = None

    async def _models(self, _: web.Request) -> web.Response:
        return web.json_response({"object": "list", "data": [_model_card(name) for name in REHEARSALS]})

    async def _model(self, request: web.Request) -> web.Response:
        return web.json_response(_model_card(_known_model(request.match_info["model"])))

    async def _complete(self, http: web.Request) -> web.StreamResponse:
        request = await _read(http)
        lines = self._script_for(request)
        number = sum(message.role == "assistant" for message in request.messages)
        line = line_for(lines, [message.model_dump() for message in request.messages])
        answer = Answer(request, line, number)
        await asyncio.sleep(self._pace.seconds_to_first_token)
        if not request.stream:
            await asyncio.sleep(self._pace.seconds_per_token * len(answer.tokens))
            return web.json_response(answer.whole())
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await response.prepare(http)
        try:
            # Where no time passes between two tokens, nobody can tell whether they came at once.
            tokens = 1 if self._pace.seconds_per_token else TOKENS_AT_ONCE
            for chunk in answer.chunks(tokens=tokens):
                await response.write(b"data: " + json.dumps(chunk).encode() + b"\n\n")
                await asyncio.sleep(self._pace.seconds_per_token)
            await response.write(b"data: [DONE]\n\n")
            await response.write_eof()
        except ConnectionError:  # the client has cancelled the request; it may repeat it
            pass
        return response

    def _script_for(self, request: Request) -> Sequence[Line]:
        _known_model(request.model)
        prompt = request.prompt.strip()
        fitting = [script for script in self._scripts if prompt.startswith(script.prompt.strip())]
        fitting = [s for s in fitting if len(s.prompt) == len(fitting[0].prompt)]
        if not fitting:
            raise _RequestError(
                404,
                "no script for this system prompt: the rehearsal server knows only the rendered prompts of "
                f"the scenarios it was started for ({len(self._scripts)} prompts). Give the scenario a "
                "rehearsal, or take a profile with a real model. The prompt begins: "
                f"{prompt[:80]!r}",
                code="no_script",
                param="messages",
            )
        script = max(fitting, key=lambda script: _likeness(script, request.messages))
        return sabotage(script.rehearsal, request.model).lines(script.side)


def _likeness(script: Script, messages: Sequence[Message]) -> float:
    """Return how much what was heard is like what the other side of ``script`` says, 0 to 1.

    It tells apart scenarios that share a prompt, as those of one shop's agent do.
    """
    heard = Counter(word for m in messages if m.role == "user" for word in _words(m.text))
    lines = script.rehearsal.lines(other(script.side))
    said = Counter(word for line in lines if isinstance(line, Say) for word in _words(line.text))
    return (heard & said).total() / max(1, heard.total())


def _words(text: str) -> list[str]:
    return re.findall(r"[a-z0-9']+", text.casefold())


async def _read(http: web.Request) -> Request:
    try:
        return Request.model_validate_json(await http.read())
    except ValidationError as exc:
        first = exc.errors()[0]
        where = ".".join(str(part) for part in first["loc"])
        raise _RequestError(
            400, f"{where or 'body'}: {first['msg']}", code="invalid_body", param=where or None
        ) from None


def _known_model(name: str) -> str:
    if name not in REHEARSALS:
        raise _RequestError(
            404,
            f"no rehearsal {name!r}; take one of these as the model: {', '.join(REHEARSALS)}",
            code="model_not_found",
            param="model",
        )
    return name


def _model_card(name: str) -> Json:
    return {"id": name, "object": "model", "created": 0, "owned_by": "pytest-voiceeval"}


@web.middleware
async def _errors_as_openai_has_them(
    request: web.Request, handler: Callable[[web.Request], Awaitable[web.StreamResponse]]
) -> web.StreamResponse:
    try:
        return await handler(request)
    except _RequestError as exc:
        return web.json_response(exc.body, status=exc.status)
    except web.HTTPException as exc:
        error = _RequestError(exc.status, f"{exc.reason}: {request.method} {request.path}", code="http")
        return web.json_response(error.body, status=exc.status)


@asynccontextmanager
async def serve_scripts(scripts: Iterable[Script], *, pace: Pace = Pace()) -> AsyncIterator[str]:
    """Serve ``scripts`` inside ``async with``; yields the ``base_url`` for an OpenAI client."""
    async with RehearsalServer(scripts, pace=pace) as server:
        yield server.base_url
