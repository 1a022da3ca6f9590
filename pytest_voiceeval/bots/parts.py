"""The parts of somebody's pipecat pipeline that the handlers work on, found and checked."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, TypeVar

import pytest_voiceeval.bots.pipecat_import  # noqa: F401 - before anything of pipecat's

# isort: split
from pipecat.pipeline.llm_switcher import LLMSwitcher
from pipecat.pipeline.worker import PipelineWorker
from pipecat.processors.aggregators.llm_context import LLMContext
from pipecat.processors.aggregators.llm_response_universal import (
    LLMAssistantAggregator,
    LLMContextAggregatorPair,
    LLMUserAggregator,
)
from pipecat.processors.frame_processor import FrameProcessor
from pipecat.processors.frameworks.rtvi import RTVIProcessor
from pipecat.services.llm_service import LLMService

from pytest_voiceeval.errors import DefinitionError

Llm = LLMService[Any] | LLMSwitcher[Any]

T = TypeVar("T", bound=FrameProcessor)


@dataclass(frozen=True)
class Parts:
    """What the handlers need of a bot.

    Attributes:
        worker: runs the pipeline.
        rtvi: its end of RTVI.
        llms: the model that talks; of a switcher, all that it may switch to.
        user, assistant: the context aggregators.
    """

    worker: PipelineWorker
    rtvi: RTVIProcessor
    llms: tuple[LLMService[Any], ...]
    user: LLMUserAggregator
    assistant: LLMAssistantAggregator

    @property
    def context(self) -> LLMContext:
        """The conversation, as the model sees it."""
        context: LLMContext = self.user.context
        return context


def parts_of(
    worker: PipelineWorker, llm: Llm | None = None, aggregators: LLMContextAggregatorPair | None = None
) -> Parts:
    """Return the parts of the bot that ``worker`` runs; those that are not given are looked for.

    Raises:
        DefinitionError: if one is not there, there are several, or one is something else; says what to do.
    """
    if not isinstance(worker, PipelineWorker):
        raise DefinitionError(
            f"install(worker): a {type(worker).__name__} is given; give the PipelineWorker (or PipelineTask) "
            "that runs the bot's pipeline"
        )
    user, assistant = _aggregators(worker, aggregators)
    if user.context is not assistant.context:
        raise DefinitionError(
            "install(worker): the context aggregators for user and assistant have a context each; make both "
            "with one LLMContextAggregatorPair(context)"
        )
    return Parts(worker, _rtvi(worker), _llms(worker, llm), user, assistant)


def _rtvi(worker: PipelineWorker) -> RTVIProcessor:
    try:
        return worker.rtvi
    except Exception:  # pipecat raises nothing narrower where there is none
        raise DefinitionError(
            "install(worker): the PipelineWorker has no RTVI, over which a scenario comes; leave out "
            "enable_rtvi=False, and leave a RTVIProcessor of yours out of the pipeline: the worker adds one"
        ) from None


def _llms(worker: PipelineWorker, llm: Llm | None) -> tuple[LLMService[Any], ...]:
    found = list(_processors(worker.pipeline, LLMService))
    if llm is None:
        switchers = list(_processors(worker.pipeline, LLMSwitcher))
        if len(switchers) == 1 and len(switchers[0].llms) == len(found):
            return tuple(found)
        if len(found) != 1:
            names = ", ".join(each.name for each in found)
            raise DefinitionError(
                f"install(worker): the pipeline has {len(found)} LLM services ({names}); say which one talks "
                "to the caller: install(worker, llm=...)"
                if found
                else "install(worker): the pipeline has no LLM service, so nothing can play a scenario"
            )
        return (found[0],)
    if not isinstance(llm, LLMService | LLMSwitcher):
        raise DefinitionError(
            f"install(worker, llm=...): a {type(llm).__name__} is given; give the LLM service (or the "
            "LLMSwitcher) of the pipeline"
        )
    given = tuple(llm.llms) if isinstance(llm, LLMSwitcher) else (llm,)
    if not all(any(each is other for other in found) for each in given):
        raise DefinitionError(
            f"install(worker, llm=...): {llm.name} is not in the pipeline of this worker; give one that is"
        )
    return given


def _aggregators(
    worker: PipelineWorker, pair: LLMContextAggregatorPair | None
) -> tuple[LLMUserAggregator, LLMAssistantAggregator]:
    if pair is None:
        return _only(worker, LLMUserAggregator, "user"), _only(worker, LLMAssistantAggregator, "assistant")
    if not isinstance(pair, LLMContextAggregatorPair):
        raise DefinitionError(
            f"install(worker, aggregators=...): a {type(pair).__name__} is given; give the "
            "LLMContextAggregatorPair whose two halves are in the pipeline"
        )
    return pair.user(), pair.assistant()


def _only(worker: PipelineWorker, kind: type[T], half: str) -> T:
    """Return the one processor of a kind in the pipeline."""
    found = list(_processors(worker.pipeline, kind))
    if len(found) == 1:
        return found[0]
    if not found:
        raise DefinitionError(
            f"install(worker): the pipeline has no context aggregator for the {half}; put {half}() of a "
            "LLMContextAggregatorPair(context) into it, where the conversation of each scenario is kept"
        )
    raise DefinitionError(
        f"install(worker): the pipeline has {len(found)} context aggregators for the {half}; say which pair "
        "holds the conversation: install(worker, aggregators=...)"
    )


def _processors(processor: FrameProcessor, kind: type[T]) -> Iterator[T]:
    """Yield the processors of a kind in ``processor``, at any depth."""
    if isinstance(processor, kind):
        yield processor
    for inner in processor.processors:
        yield from _processors(inner, kind)
