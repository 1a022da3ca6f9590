"""What a bot's language model is told and may call: its own prompt and tools, or those of a scenario."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import pytest_voiceeval.bots.pipecat_import  # noqa: F401 - before anything of pipecat's

# isort: split
from pipecat.adapters.llm.schemas.function_schema import FunctionSchema
from pipecat.adapters.llm.schemas.tools_schema import ToolsSchema
from pipecat.frames.frames import LLMUpdateSettingsFrame
from pipecat.processors.aggregators.llm_context import LLMContext, is_given
from pipecat.services.llm_service import FunctionCallParams, LLMService
from pipecat.services.settings import LLMSettings

from pytest_voiceeval.bots.tool_calls import MalformedArguments
from pytest_voiceeval.tools import StandardSchemaTool, unknown_tool_result


class TalkingModel:
    """The model of a bot. What it had of its own is kept from when ``remember`` is first called.

    Args:
        llms: the model; several where they take turns.
        context: the conversation.
    """

    def __init__(self, llms: Sequence[LLMService[Any]], context: LLMContext) -> None:
        self._llms = llms
        self._context = context
        self._is_known = False
        self._own_tools: Any = None
        self._own_messages: list[Any] = []
        self._own_prompts: list[str | None] = []
        self._own_handlers: list[dict[Any, Any]] = []
        self._has_tools_of_scenario = False

    def remember(self) -> None:
        """Take prompt, tools and messages as they are for the bot's own; only the first call does."""
        if self._is_known:
            return
        self._is_known = True
        self._own_tools = self._context.tools
        self._own_messages = list(self._context.get_messages())
        # pipecat has no public way to read these.
        self._own_prompts = [llm._base_system_instruction for llm in self._llms]
        for llm in self._llms:
            if None not in llm._functions:
                llm.register_function(None, self._refuse)

    @property
    def own_messages(self) -> list[Any]:
        """The messages that its context had before the first scenario."""
        return list(self._own_messages)

    def prompts(self, prompt: str) -> Iterator[LLMUpdateSettingsFrame]:
        """Yield what makes ``prompt`` the system prompt; an empty one, the bot's own."""
        for llm, own in zip(self._llms, self._own_prompts, strict=True):
            settings = LLMSettings(system_instruction=prompt or own)
            yield LLMUpdateSettingsFrame(delta=settings, service=llm)

    def take_tools(self, tools: Sequence[StandardSchemaTool]) -> None:
        """Offer the tools of a scenario and no others; its own if there are none.

        The handlers that the bot has registered itself are out of the model's reach meanwhile, also under a
        name that is not offered.
        """
        self.take_own_tools()
        if not tools:
            return
        for llm in self._llms:
            self._own_handlers.append(_taken_out(llm))
            llm.register_function(None, self._refuse)
        self._has_tools_of_scenario = True
        self._context.set_tools(ToolsSchema(standard_tools=[_advertised(tool) for tool in tools]))

    def take_own_tools(self) -> None:
        """Offer the bot's own tools, and have their handlers called."""
        if self._has_tools_of_scenario:
            for llm, handlers in zip(self._llms, self._own_handlers, strict=True):
                _taken_out(llm)
                llm._functions.update(handlers)
            self._own_handlers = []
            self._has_tools_of_scenario = False
        self._context.set_tools(self._own_tools)

    async def _refuse(self, params: FunctionCallParams) -> None:
        """Tell the model that it called a tool that is not there, and which ones are."""
        tools = params.context.tools
        names = [tool.name for tool in tools.standard_tools] if is_given(tools) else []
        await params.result_callback(unknown_tool_result(params.function_name, names))


def _taken_out(llm: LLMService[Any]) -> dict[Any, Any]:
    """Take the handlers out of ``llm`` that were registered by hand; others come and go with the tools."""
    handlers = {
        name: item
        for name, item in llm._functions.items()
        if not item.auto_registered and name not in llm._cancel_tool_names
    }
    for name in handlers:
        del llm._functions[name]
    return handlers


def _advertised(tool: StandardSchemaTool) -> FunctionSchema:
    """Return the tool as pipecat takes it; calls are synchronous, an interruption cancels them."""

    async def call(params: FunctionCallParams) -> None:
        if isinstance(params.arguments, MalformedArguments):
            await params.result_callback(params.arguments.answer(tool))
            return
        await tool(params)

    return FunctionSchema(**tool.schema(), handler=call)
