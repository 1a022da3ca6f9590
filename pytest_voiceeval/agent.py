"""For authors of agents: makes a pipecat bot of one's own testable.

A scenario comes to a bot over RTVI: a prompt, tools, a world. ``install`` has the bot take it, and tell
afterwards what was done. Three lines do, where the bot's ``PipelineWorker`` is made::

    import os

    from pipecat.pipeline.pipeline import Pipeline
    from pipecat.pipeline.worker import PipelineParams, PipelineWorker
    from pipecat.workers.runner import WorkerRunner


    async def run_bot(transport, stt, llm, tts, pair):
        pipeline = Pipeline(
            [transport.input(), stt, pair.user(), llm, tts, transport.output(), pair.assistant()]
        )
        worker = PipelineWorker(pipeline, params=PipelineParams(enable_usage_metrics=True))
        if "VOICEEVAL_SIDE" in os.environ:  # set where pytest starts the bot; else set it yourself
            from pytest_voiceeval.agent import install
            install(worker)
        runner = WorkerRunner()
        await runner.add_workers(worker)
        await runner.run()

Then ``pytest --voice-agent='cmd:python bot.py --port {port}'`` holds calls with it; ``examples/bot`` has a
whole bot. Its transport is a WebSocket with pipecat's ``ProtobufFrameSerializer``.

Whoever can connect to a bot with this in it can change what it does: keep it out of what strangers can reach.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest_voiceeval.bots.pipecat_import  # noqa: F401 - before anything of pipecat's

# isort: split
from pytest_voiceeval.bots.messages import Installation
from pytest_voiceeval.bots.messages import install as install_handlers
from pytest_voiceeval.errors import DefinitionError
from pytest_voiceeval.scenarios.packs import PACKS_VARIABLE, named_roots, packs_of

if TYPE_CHECKING:
    from pipecat.pipeline.worker import PipelineWorker
    from pipecat.processors.aggregators.llm_response_universal import LLMContextAggregatorPair

    from pytest_voiceeval.bots.parts import Llm

__all__ = ["Installation", "install"]


def install(
    worker: PipelineWorker,
    *,
    llm: Llm | None = None,
    aggregators: LLMContextAggregatorPair | None = None,
    packs: Iterable[str | Path] | None = None,
    prompt_suffix: str = "",
) -> Installation:
    """Have the bot that ``worker`` runs answer the six requests of an evaluation; call it before that runs.

    From a scenario on, its prompt takes the place of the bot's own, and so do its tools: as long as it has
    any, the bot's own are neither offered nor called, whatever their names. A scenario without tools leaves
    the bot its own. ``Installation.restore`` gives all of it back.

    Args:
        worker: the ``PipelineWorker`` (or ``PipelineTask``) of the bot, with RTVI, as it is by default.
        llm: which LLM service, or ``LLMSwitcher``, talks to the caller, if the pipeline has several.
        aggregators: which pair of context aggregators holds the conversation, if the pipeline has several.
        packs: folders with ``tools/`` and ``scenarios/`` of yours, which define what scenarios name; the
            tools of built-in scenarios are known. ``None``: those of the project whose pytest starts the bot.
        prompt_suffix: what stands behind each prompt for a bridge that asks for it; ours never does.

    Raises:
        DefinitionError: if a part of the pipeline is missing, there are several, or one is something else; if
            it is installed already; or if a pack cannot be loaded. The message says what to do.
    """
    named = os.environ.get(PACKS_VARIABLE, "")
    roots = named_roots(named) if packs is None else [Path(root) for root in packs]
    for root in roots:
        if not root.is_dir():
            raise DefinitionError(f"install(worker, packs=...): there is no folder {root}")
    builtin, *own = packs_of(roots)
    builtin.load_tools()
    for pack in own:
        pack.load()
    return install_handlers(worker, llm=llm, aggregators=aggregators, prompt_suffix=prompt_suffix)
