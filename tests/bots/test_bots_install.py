"""``pytest_voiceeval.agent.install`` in pipelines of somebody's own."""

from __future__ import annotations

import asyncio
import json
import os
import warnings
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

import pytest

import pytest_voiceeval.bots.pipecat_import  # noqa: F401 - before anything of pipecat's

# isort: split
from pipecat.adapters.llm.schemas.function_schema import FunctionSchema
from pipecat.adapters.llm.schemas.tools_schema import ToolsSchema
from pipecat.frames.frames import LLMRunFrame
from pipecat.pipeline.llm_switcher import LLMSwitcher
from pipecat.pipeline.pipeline import Pipeline
from pipecat.pipeline.task import PipelineTask
from pipecat.pipeline.worker import PipelineWorker
from pipecat.processors.aggregators.llm_context import LLMContext
from pipecat.processors.aggregators.llm_response_universal import LLMContextAggregatorPair
from pipecat.services.llm_service import FunctionCallParams
from pipecat.services.openai.llm import OpenAILLMService
from pipecat.workers.runner import WorkerRunner
from wire_client import PROMPT, WireClient

from pytest_voiceeval.agent import Installation, install
from pytest_voiceeval.bots.rehearsal_server import Script, serve_scripts
from pytest_voiceeval.bots.transport import BotTransport
from pytest_voiceeval.errors import DefinitionError
from pytest_voiceeval.scenarios.packs import PACKS_VARIABLE
from pytest_voiceeval.scenarios.rehearsal import Rehearsal, Say, Use
from pytest_voiceeval.tools import StandardSchemaTool, register_schema_tool_for_eval
from pytest_voiceeval.tools.registry import find_tool

OWN_PROMPT = "You are the voice of a weather service."


@register_schema_tool_for_eval("bots_test")
class WeatherTool(StandardSchemaTool):
    """A tool of a scenario, with the name that a tool of the bot has."""

    name = "weather"
    description = "Tell the weather."
    properties: ClassVar[dict[str, Any]] = {}
    required_properties: ClassVar[list[str]] = []

    async def _execute(self) -> str:
        return "rain, says the scenario"


def own_pair() -> LLMContextAggregatorPair:
    schemas = [
        FunctionSchema(name=name, description=name, properties={}, required=[])
        for name in ("weather", "tide")
    ]
    return LLMContextAggregatorPair(LLMContext(tools=ToolsSchema(standard_tools=schemas)))


def own_llm(base_url: str = "http://127.0.0.1:9/v1") -> OpenAILLMService:
    """A model with tools that were registered by hand."""
    settings = OpenAILLMService.Settings(model="gold", system_instruction=OWN_PROMPT)
    llm = OpenAILLMService(api_key="none", base_url=base_url, settings=settings)

    def register(name: str, result: str) -> None:
        async def call(params: FunctionCallParams) -> None:
            await params.result_callback(result)

        llm.register_function(name, call)

    register("weather", "sun, says the bot")
    register("tide", "high, says the bot")
    return llm


def worker_of(*processors: Any, **options: Any) -> PipelineWorker:
    return PipelineWorker(Pipeline(list(processors)), idle_timeout_secs=None, **options)


@asynccontextmanager
async def own_bot(*, greets: bool = False) -> AsyncIterator[tuple[WireClient, Installation]]:
    """Run a bot whose model plays scripts; yields a client of it."""
    own = Rehearsal(user=(), agent=(Use("tide"), Use("weather"), Say("There you are.")))
    scripts = [Script(OWN_PROMPT, "agent", own), Script(PROMPT, "agent", own)]
    transport = BotTransport()
    async with serve_scripts(scripts) as base_url:
        pair = own_pair()
        llm = own_llm(base_url)
        worker = worker_of(transport.input(), pair.user(), llm, transport.output(), pair.assistant())
        if greets:
            worker.rtvi.add_event_handler("on_client_ready", partial(greet, worker))
        installation = install(worker)
        listens = asyncio.Event()

        async def note(_: object) -> None:
            listens.set()

        transport.add_event_handler("on_websocket_ready", note)
        runner = WorkerRunner(handle_sigint=False)
        await runner.add_workers(worker)
        running = asyncio.create_task(runner.run())
        try:
            async with asyncio.timeout(20):
                await listens.wait()
            async with WireClient.connected(transport.url) as client:
                yield client, installation
        finally:
            await runner.cancel()
            await running
            await llm._client.close()
            transport.release()


async def greet(worker: PipelineWorker, _: object) -> None:
    """Speak first, as bots of production do."""
    await worker.queue_frame(LLMRunFrame())


async def tool_results(client: WireClient) -> list[Any]:
    """Have the model speak, and return what its tools gave it."""
    after = len(client.messages)
    await client.kick_off()
    for _ in range(3):  # two calls of tools and a text
        message = await client.wait_for("bot-llm-stopped", after=after)
        after = client.messages.index(message, after) + 1
    results = [json.loads(m["content"]) for m in await client.history() if m["role"] == "tool"]
    return [result if isinstance(result, str) else result["error_type"] for result in results]


@pytest.mark.asyncio
async def test_the_tools_of_a_scenario_take_the_place_of_the_bots_own_and_give_it_back() -> None:
    own = ["high, says the bot", "sun, says the bot"]
    async with own_bot() as (client, installation):
        assert await client.ask("reset") is True  # before any scenario: its own prompt and tools stay
        assert await tool_results(client) == own
        assert await client.prepare(PROMPT, weather={})
        assert (await client.history())[0]["content"] == PROMPT
        assert await tool_results(client) == ["unknown_tool", "rain, says the scenario"]
        assert installation.state["__tool_domain__"] == "bots_test"
        assert await client.prepare(PROMPT)
        assert await tool_results(client) == own
        assert await client.prepare(PROMPT, weather={})
        await installation.restore()
        assert installation.state == {}
        assert await client.history() == []
        assert await tool_results(client) == own


@pytest.mark.asyncio
async def test_a_greeting_of_the_bots_own_leaves_no_trace_in_a_scenario() -> None:
    async with own_bot(greets=True) as (client, _):
        await client.handshake()
        assert await client.ask("reset") is True
        assert await client.prepare(PROMPT, weather={})
        assert await client.history() == [{"role": "system", "content": PROMPT}]
        assert await tool_results(client) == ["unknown_tool", "rain, says the scenario"]


def whole(llm: Any = None, pair: Any = None) -> list[Any]:
    pair = pair or own_pair()
    return [pair.user(), llm or own_llm(), pair.assistant()]


def switched() -> list[Any]:
    return whole(LLMSwitcher(llms=[own_llm(), own_llm()]))


@pytest.mark.parametrize("processors", [whole, switched])
def test_the_parts_of_a_pipeline_are_found(processors: Callable[[], list[Any]]) -> None:
    installation = install(worker_of(*processors()))
    assert installation.state == {}
    assert find_tool("EndConversationTool") is not None


def test_parts_may_be_named_where_there_are_several() -> None:
    first, second, pair = own_llm(), own_llm(), own_pair()
    worker = worker_of(pair.user(), first, second, pair.assistant())
    with pytest.raises(DefinitionError, match=r"has 2 LLM services \(.*, .*\); say which one talks"):
        install(worker)
    install(worker, llm=second, aggregators=pair)


def test_the_older_name_of_a_worker_is_one() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        task = PipelineTask(Pipeline(whole()))
    assert install(task).state == {}


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (
            lambda: install(Pipeline(whole())),
            r"a Pipeline is given; give the PipelineWorker \(or PipelineTask\)",
        ),
        (lambda: install(None), r"a NoneType is given; give the PipelineWorker"),
        (
            lambda: install(worker_of(*whole(), enable_rtvi=False)),
            r"has no RTVI.*leave out enable_rtvi=False",
        ),
        (
            lambda: install(worker_of(own_pair().user(), own_pair().assistant())),
            r"have a context each; make both with one",
        ),
        (lambda: install(worker_of(*whole()[::2])), r"has no LLM service"),
        (lambda: install(worker_of(*whole()[1:])), r"no context aggregator for the user; put user\(\)"),
        (lambda: install(worker_of(*whole()[:2])), r"no context aggregator for the assistant"),
        (
            lambda: install(worker_of(*whole(), own_pair().user())),
            r"has 2 context aggregators for the user; say which pair",
        ),
        (
            lambda: install(worker_of(*whole()), llm="gpt"),
            r"llm=\.\.\.\): a str is given; give the LLM service",
        ),
        (lambda: install(worker_of(*whole()), llm=own_llm()), r"is not in the pipeline of this worker"),
        (
            lambda: install(worker_of(*whole()), aggregators=LLMContext()),
            r"aggregators=\.\.\.\): a LLMContext is given; give the LLMContextAggregatorPair",
        ),
        (
            lambda: install(worker_of(*whole()), packs=["nowhere"]),
            r"packs=\.\.\.\): there is no folder nowhere",
        ),
    ],
)
def test_what_is_no_such_bot_is_told(make: Callable[[], object], message: str) -> None:
    with pytest.raises(DefinitionError, match=rf"^install\(worker.*{message}"):
        make()


def test_it_is_installed_once() -> None:
    worker = worker_of(*whole())
    install(worker)
    with pytest.raises(DefinitionError, match="installed in this worker already; call it once"):
        install(worker)


TOOL = """
from pytest_voiceeval.tools import StandardSchemaTool, register_schema_tool_for_eval

@register_schema_tool_for_eval("{domain}")
class PackedTool(StandardSchemaTool):
    async def _execute(self):
        return None
"""


def test_packs_are_those_that_are_named_else_those_of_the_project(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for domain in ("told", "named"):
        (tmp_path / domain / "tools").mkdir(parents=True)
        (tmp_path / domain / "tools" / "packed.py").write_text(TOOL.format(domain=domain), encoding="utf-8")
    monkeypatch.setenv(PACKS_VARIABLE, os.pathsep.join([str(tmp_path / "told"), "/nowhere"]))
    install(worker_of(*whole()))
    assert find_tool("PackedTool", "told") is not None
    assert find_tool("PackedTool", "named") is None
    install(worker_of(*whole()), packs=[tmp_path / "named"])
    assert find_tool("PackedTool", "named") is not None
