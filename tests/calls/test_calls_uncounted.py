"""Whole spoken calls whose tool waits, with a limit of its own, for what a warped clock cannot count."""

from __future__ import annotations

import asyncio
import socket
import threading
import time
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import Any, ClassVar

import pytest

pytest.importorskip("piper", reason="the extra 'local' is not installed")
pytest.importorskip("faster_whisper", reason="the extra 'local' is not installed")

from pytest_voiceeval import Actions, Persona, Rehearsal, Resources, Say, Scenario, SuccessSignal, Task, Use
from pytest_voiceeval.bots.launch import LocalBot
from pytest_voiceeval.bots.profile import load_profile
from pytest_voiceeval.errors import ClockError
from pytest_voiceeval.model.conversation import Conversation
from pytest_voiceeval.model.turns import AGENT, USER
from pytest_voiceeval.model.work import ClockName
from pytest_voiceeval.run.evaluate import hold
from pytest_voiceeval.run.settings import RunSettings
from pytest_voiceeval.tools import StandardSchemaTool, register_schema_tool_for_eval

Ask = Callable[["Backend"], Awaitable[object]]


class Backend:
    """What the tool asks: it does not answer before the call is over."""

    def __init__(self) -> None:
        self.answers = threading.Event()
        self.held = ExitStack()

    def close(self) -> None:
        self.answers.set()
        self.held.close()


@register_schema_tool_for_eval("uncounted")
class AskBackendTool(StandardSchemaTool):
    """Asks a backend, and gives up after a while."""

    description = "Ask the backend."
    properties: ClassVar[dict[str, Any]] = {}
    required_properties: ClassVar[list[str]] = []
    ask: ClassVar[Ask]
    backend: ClassVar[Backend]

    async def _execute(self) -> dict[str, Any]:
        cls = type(self)
        try:
            async with asyncio.timeout(6):
                await cls.ask(cls.backend)
        except TimeoutError:
            return {"status": "the backend is too slow"}
        return {"status": "done"}


class Asking(Scenario):
    """One question, one answer."""

    name = "uncounted__asking"
    domain = "uncounted"
    max_duration = 60
    success_signals = (SuccessSignal.CLEAN_EXIT,)
    user_persona = Persona(role="customer", name="Ann")
    user_task = Task(goal="Ask.")
    user_actions = Actions(guidelines=["Ask."])
    user_resources = Resources()
    agent_persona = Persona(role="clerk", name="Sam")
    agent_task = Task(goal="Answer.")
    agent_actions = Actions(instructions=["Answer."])
    agent_resources = Resources(tools={"AskBackendTool": {}, "EndConversationTool": {}})
    rehearsal = Rehearsal(
        user=(Say("Please look up my order for me."),),
        agent=(
            Say("Welcome. How can I help you today?"),
            Use("AskBackendTool"),
            Say("It is on its way. Goodbye."),
            Use("EndConversationTool"),
        ),
    )


async def thread(backend: Backend) -> None:
    threading.Thread(target=backend.answers.wait, args=(30,), name="my-sdk").start()
    await asyncio.Event().wait()


async def pool(backend: Backend) -> None:
    sdk = backend.held.enter_context(ThreadPoolExecutor(1, "my-sdk"))
    await asyncio.wrap_future(sdk.submit(backend.answers.wait, 30))


async def socket_pair(backend: Backend) -> None:
    ours, _ = (backend.held.enter_context(end) for end in socket.socketpair())
    ours.setblocking(False)
    await asyncio.get_running_loop().sock_recv(ours, 1)


async def connection(backend: Backend) -> None:
    server = backend.held.enter_context(socket.create_server(("127.0.0.1", 0)))
    reader, writer = await asyncio.open_connection(sock=socket.create_connection(server.getsockname()))
    try:
        await reader.read(1)
    finally:
        writer.close()


async def job(_: Backend) -> None:
    await asyncio.to_thread(time.sleep, 0.1)


def held(folder: Path, clock: ClockName, ask: Ask, monkeypatch: pytest.MonkeyPatch) -> Conversation:
    backend = Backend()
    monkeypatch.setattr(AskBackendTool, "backend", backend, raising=False)
    monkeypatch.setattr(AskBackendTool, "ask", staticmethod(ask), raising=False)
    user, agent = (LocalBot(side, load_profile("local")) for side in (USER, AGENT))
    try:
        return hold(Asking(), user=user, agent=agent, settings=RunSettings(clock=clock), folder=folder)
    finally:
        backend.close()


@pytest.mark.parametrize(
    ("clock", "ask", "name"),
    [
        ("charged", thread, "thread 'my-sdk'"),
        ("measured", thread, "thread 'my-sdk'"),
        ("charged", pool, "a job of the thread pool 'my-sdk'"),
        ("measured", pool, "a job of the thread pool 'my-sdk'"),
        ("charged", socket_pair, r"what a socket pair \(file descriptor \d+\) leads to"),
        ("measured", connection, r"what a socket to 127\.0\.0\.1:\d+ leads to"),
    ],
)
def test_a_call_that_waits_for_what_cannot_be_counted_has_no_result(
    clock: ClockName, ask: Ask, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(ClockError, match=f"{name} is at work.*--voice-clock=real"):
        held(tmp_path, clock, ask, monkeypatch)


@pytest.mark.parametrize("clock", ["charged", "measured"])
def test_a_call_that_waits_for_a_job_of_the_loop_goes_on(
    clock: ClockName, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    context = held(tmp_path, clock, job, monkeypatch).agent.context or []
    assert next(m["content"] for m in context if m["role"] == "tool") == '{"status": "done"}'
