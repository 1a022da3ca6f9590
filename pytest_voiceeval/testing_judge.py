"""Fakes of a judge: one whose verdicts are scripted, and an endpoint that plays scripted replies.

``pytest_voiceeval.testing`` has these names too.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import TYPE_CHECKING, Any

from pytest_voiceeval.model.judgement import AssertionVerdict, Judgement
from pytest_voiceeval.scenarios.assertions import assertions_of

if TYPE_CHECKING:
    from pytest_voiceeval.model.conversation import Conversation
    from pytest_voiceeval.scenarios.base import Scenario


class FakeJudge:
    """A judge that says what it is told to, for the fixture ``voice_judge``.

    Args:
        score: of every conversation, or by name of the scenario.
        reason: of the score and of every verdict.
        failing: numbers of the assertions, from 1, that do not hold.
        error: why it comes to nothing; empty for a judge that comes to something.

    Attributes:
        asked: names of the scenarios that it was asked about, in order.
    """

    def __init__(
        self,
        score: float | Mapping[str, float] = 1.0,
        *,
        reason: str = "scripted",
        failing: Collection[int] = (),
        error: str = "",
    ) -> None:
        self.asked: list[str] = []
        self._score = score
        self._reason = reason
        self._failing = frozenset(failing)
        self._error = error

    def judge(
        self, scenario: Scenario, conversation: Conversation, *, strict_match: bool = False
    ) -> Judgement:
        """Return what the script says."""
        name = str(scenario.name)
        self.asked.append(name)
        if self._error:
            return Judgement(error=self._error)
        return Judgement(
            score=self._score if isinstance(self._score, int | float) else self._score[name],
            reason=self._reason,
            verdicts=tuple(
                AssertionVerdict(number, text, number not in self._failing, self._reason)
                for number, text in enumerate(assertions_of(scenario), 1)
            ),
        )


@dataclass(frozen=True)
class JudgeReply:
    """What an endpoint does with a request.

    Attributes:
        content: text of the model's message; ``None`` for a message without any.
        status: of the HTTP response; that of an error has ``content`` as its text.
        finish_reason: why the model stopped.
        body: the whole response, in place of a chat completion.
        headers: more headers of the response.
        hangs: there is no response until the server is closed.
        breaks_off: the connection ends without a response.
    """

    content: str | None = None
    status: int = 200
    finish_reason: str | None = "stop"
    body: str | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    hangs: bool = False
    breaks_off: bool = False

    def text(self) -> str:
        """Return the body of the response."""
        if self.body is not None:
            return self.body
        if self.status >= 400:
            return json.dumps({"error": {"message": self.content}}, ensure_ascii=False)
        message = {"role": "assistant", "content": self.content}
        choice = {"index": 0, "message": message, "finish_reason": self.finish_reason}
        head = {"id": "chatcmpl-0", "object": "chat.completion", "created": 0, "model": "scripted"}
        return json.dumps({**head, "choices": [choice]})


@dataclass(frozen=True)
class JudgeRequest:
    """What came in: path with query, headers by lower-case name, and the JSON body."""

    path: str
    headers: Mapping[str, str]
    body: Any


class JudgeServer:
    """An OpenAI-compatible endpoint on 127.0.0.1 that plays replies in turn, and the last one ever after.

    ``with JudgeServer('{"score": 1.0}') as server: …`` listens at ``server.url``.

    Args:
        replies: what it does; a text is the model's message.

    Attributes:
        requests: what came in, in order.
    """

    def __init__(self, *replies: JudgeReply | str) -> None:
        self.requests: list[JudgeRequest] = []
        self._replies = [JudgeReply(reply) if isinstance(reply, str) else reply for reply in replies]
        self._lock = threading.Lock()
        self._closing = threading.Event()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._server.daemon_threads = False
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,))

    @property
    def url(self) -> str:
        """The base URL, for ``--voice-judge-url``."""
        return f"http://127.0.0.1:{self._server.server_address[1]}/v1"

    def __enter__(self) -> JudgeServer:
        """Begin to listen."""
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Let go of requests that hang, and stop listening."""
        self._closing.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def _next(self, request: JudgeRequest) -> JudgeReply:
        with self._lock:
            self.requests.append(request)
            return self._replies[min(len(self.requests), len(self._replies)) - 1]

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        endpoint = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                content = self.rfile.read(int(self.headers.get("content-length") or 0))
                headers = {name.lower(): value for name, value in self.headers.items()}
                reply = endpoint._next(JudgeRequest(self.path, headers, json.loads(content)))
                if reply.hangs:
                    endpoint._closing.wait()
                    return
                if reply.breaks_off:
                    self.close_connection = True
                    return
                text = reply.text().encode()
                self.send_response(reply.status)
                for name, value in {"Content-Type": "application/json", **reply.headers}.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(text)))
                self.end_headers()
                self.wfile.write(text)

            def log_message(self, *_: object) -> None:
                """Keep quiet."""

        return Handler
