"""A double of an OpenAI-compatible endpoint on loopback: it does with each request what its script says."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from aiohttp import web
from http_double import Act, HttpDouble


class ModelDouble(HttpDouble):
    """Plays ``acts`` in turn, the last one ever after; keeps what it was asked.

    Attributes:
        bodies: JSON of each request.
        headers: of each request.
        times: of each request, on the loop's clock.
    """

    def __init__(self, *acts: Act, path: str = "/v1/chat/completions") -> None:
        self.bodies: list[dict[str, Any]] = []
        self.headers: list[Mapping[str, str]] = []
        self.times: list[float] = []
        self._acts = acts
        self._path = path

    def routes(self) -> dict[str, Act]:
        return {self._path: self._answer}

    async def _answer(self, request: web.Request) -> web.StreamResponse:
        act = self._acts[min(len(self.bodies), len(self._acts) - 1)]
        self.times.append(asyncio.get_running_loop().time())
        self.headers.append(dict(request.headers))
        self.bodies.append(await request.json())
        return await act(request)


def status(code: int, message: str = "no", **headers: str) -> Act:
    """An error as OpenAI has them."""

    async def act(_: web.Request) -> web.StreamResponse:
        shown = {name.replace("_", "-"): value for name, value in headers.items()}
        return web.json_response({"error": {"message": message}}, status=code, headers=shown)

    return act


def body(text: str, kind: str) -> Act:
    """A whole body with status 200."""

    async def act(_: web.Request) -> web.StreamResponse:
        return web.Response(text=text, content_type=kind)

    return act


async def hang(_: web.Request) -> web.StreamResponse:
    """No byte comes."""
    await asyncio.sleep(100_000)
    raise AssertionError("the client waited too long")


def streamed(*chunks: Any, cut: bool = False, pause: float = 0.0, done: bool = True) -> Act:
    """Server-sent events; ``cut``: the connection breaks after them; ``pause``: after each."""

    async def act(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await response.prepare(request)
        for chunk in chunks:
            content = chunk if isinstance(chunk, str) else json.dumps(chunk)
            await response.write(f"data: {content}\n\n".encode())
            if pause:
                await asyncio.sleep(pause)
        if cut:
            # What was written has to be read before the connection breaks.
            await asyncio.sleep(0.05)
            assert request.transport is not None
            request.transport.abort()
            return response
        if done:
            await response.write(b"data: [DONE]\n\n")
        await response.write_eof()
        return response

    return act


def chunk(finish: str | None = None, **delta: Any) -> dict[str, Any]:
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    return {"id": "x", "object": "chat.completion.chunk", "created": 0, "model": "m", "choices": [choice]}


def words(text: str) -> list[dict[str, Any]]:
    return [chunk(role="assistant", content=""), *(chunk(content=f"{word} ") for word in text.split())]


def tool(name: str, arguments: str = "{}", **part: Any) -> dict[str, Any]:
    call = {"index": 0, "id": "call_a", "function": {"name": name, "arguments": arguments}, **part}
    return chunk(tool_calls=[call])


def says(text: str) -> Act:
    return streamed(*words(text), chunk("stop"))


def uses(*calls: dict[str, Any], text: str = "") -> Act:
    return streamed(*(words(text) if text else ()), *calls, chunk("tool_calls"))


END = tool("EndConversationTool", id="call_end")
GOODBYE = uses(END, text="Thank you and goodbye.")
"""A reply that is a whole call: it speaks, and ends the call."""


@contextmanager
def in_a_thread(double: ModelDouble) -> Iterator[ModelDouble]:
    """Serve ``double`` beside a run that has loops of its own."""
    ready, over = threading.Event(), asyncio.Event()
    loop = asyncio.new_event_loop()

    async def serve() -> None:
        async with double:
            ready.set()
            await over.wait()

    thread = threading.Thread(target=loop.run_until_complete, args=(serve(),))
    thread.start()
    try:
        assert ready.wait(10)
        yield double
    finally:
        loop.call_soon_threadsafe(over.set)
        thread.join(10)
        loop.close()
