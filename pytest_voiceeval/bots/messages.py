"""The six requests that a bridge makes of a bot, answered on a pipecat worker.

What they do, and the shapes of their answers: the wire protocol, section 5.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any
from weakref import WeakSet

import pytest_voiceeval.bots.pipecat_import  # noqa: F401 - before anything of pipecat's

# isort: split
from loguru import logger
from pipecat.pipeline.worker import PipelineWorker
from pipecat.processors.aggregators.llm_response_universal import LLMContextAggregatorPair
from pipecat.processors.frameworks.rtvi import RTVIProcessor
from pipecat.processors.frameworks.rtvi.models import ClientMessage

from pytest_voiceeval.bots.history import printable
from pytest_voiceeval.bots.parts import Llm, Parts, parts_of
from pytest_voiceeval.bots.talking_model import TalkingModel
from pytest_voiceeval.errors import DefinitionError
from pytest_voiceeval.tools import get_schema_tool_for_eval
from pytest_voiceeval.wire.limits import MAX_MESSAGE_BYTES
from pytest_voiceeval.world.hashing import get_dict_hash
from pytest_voiceeval.world.overlay import plain_copy
from pytest_voiceeval.world.seeding import seed
from pytest_voiceeval.world.sync import apply_delta

Arguments = Mapping[str, Any]
Answer = Callable[[Arguments], Awaitable[Any]]

ENVELOPE_BYTES = 1024
"""More than what a message has around an answer."""

_CALLS_POLL_SECONDS = 0.05
_CALLS_LIMIT_SECONDS = 10.0
"""What a tool that is at work when the evidence is asked for may take yet."""

_TURN_LIMIT_SECONDS = 3.0


def install(
    worker: PipelineWorker,
    *,
    llm: Llm | None = None,
    aggregators: LLMContextAggregatorPair | None = None,
    prompt_suffix: str = "",
) -> Installation:
    """Have ``worker`` answer the six requests.

    Args:
        worker: with RTVI enabled, as it is unless switched off.
        llm: the model that talks; looked for in the pipeline if it is not given.
        aggregators: the context aggregators, whose context is cleared for each scenario; likewise.
        prompt_suffix: what a bridge that asks for a suffix gets behind each prompt.

    Raises:
        DefinitionError: if a part is missing or no such thing, or it is installed already.
    """
    parts = parts_of(worker, llm, aggregators)
    if worker in _installed:
        raise DefinitionError("install(worker): it is installed in this worker already; call it once")
    _installed.add(worker)
    requests = _Requests(parts, prompt_suffix)
    parts.user.add_event_handler("on_user_turn_started", requests.note_turn)
    parts.user.add_event_handler("on_user_turn_stopped", requests.note_turn_end)
    parts.rtvi.add_event_handler("on_client_message", requests.answer)
    return Installation(requests.state, requests.restore)


_installed: WeakSet[PipelineWorker] = WeakSet()
"""Workers that answer: a second installation would answer each request twice."""


@dataclass(frozen=True)
class Installation:
    """The handlers in a bot.

    Attributes:
        state: the shared state that the tools of a scenario work on; the same object throughout.
        restore: gives the bot back its own prompt, tools and conversation, as they were before the first
            scenario, and clears the state. Await it where the process goes on to serve others.
    """

    state: dict[str, Any]
    restore: Callable[[], Awaitable[None]] = field(repr=False)


class _Requests:
    """The answers, and the state that lives on between them: prompt, tools, shared state."""

    def __init__(self, parts: Parts, prompt_suffix: str) -> None:
        self.state: dict[str, Any] = {}
        self._parts = parts
        self._model = TalkingModel(parts.llms, parts.context)
        self._suffix = prompt_suffix
        self._prompt = ""
        # Handlers run as tasks of their own; the requests of a bridge build on one another.
        self._one_by_one = asyncio.Lock()
        self._nobody_speaks = asyncio.Event()
        self._nobody_speaks.set()
        self._answers: dict[str, Answer] = {
            "reset": self._reset,
            "update_system_prompt": self._update_system_prompt,
            "apply_initialization": self._apply_initialization,
            "apply_sync_delta": self._apply_sync_delta,
            "get_context_history": self._get_context_history,
            "get_scenario_summary": self._get_scenario_summary,
        }

    async def restore(self) -> None:
        """Put the bot back into the state before the first scenario."""
        async with self._one_by_one:
            self._prompt = ""
            await self._clear_context()
            self.state.clear()
            self._model.take_own_tools()

    async def answer(self, rtvi: RTVIProcessor, message: ClientMessage) -> None:
        """Answer one request: with its result, or with an error that says what went wrong."""
        answer = self._answers.get(message.type)
        if answer is None:
            await rtvi.send_error_response(message, f"unknown message type: {message.type}")
            return
        async with self._one_by_one:
            try:
                result = _as_json(await answer(_arguments(message)))
            except Exception as exc:  # the boundary: whatever went wrong becomes the answer
                logger.debug(f"request {message.type} failed: {exc!r}")
                await rtvi.send_error_response(message, f"{type(exc).__name__}: {exc}")
                return
        await rtvi.send_server_response(message, result)

    async def note_turn(self, *_: object) -> None:
        """Take note that the other side speaks."""
        self._nobody_speaks.clear()

    async def note_turn_end(self, *_: object) -> None:
        """Take note that the other side's turn is over."""
        self._nobody_speaks.set()

    async def _reset(self, _: Arguments) -> bool:
        try:
            await self._clear_context()
        except Exception as exc:  # the wire knows only that it failed
            logger.warning(f"reset failed: {exc!r}")
            return False
        return True

    async def _update_system_prompt(self, arguments: Arguments) -> bool:
        prompt = arguments.get("prompt", "")
        if not isinstance(prompt, str) or not prompt:
            return False
        try:
            await self._start_scenario(prompt, arguments)
        except (
            Exception
        ) as exc:  # a pack's constructors may raise anything; the wire knows only that it failed
            logger.warning(f"update_system_prompt failed: {exc!r}")
            return False
        return True

    async def _start_scenario(self, prompt: str, arguments: Arguments) -> None:
        if arguments.get("add_suffix", True) and self._suffix:
            prompt = f"{prompt}\n{self._suffix}"
        self._prompt = prompt
        await self._clear_context()
        self.state.clear()
        domain = arguments.get("tool_domain") or "default"
        self.state["__rtvi__"] = self._parts.rtvi
        self.state["__tool_domain__"] = domain
        kwargs_by_name = json.loads(arguments.get("tools") or "{}")
        self._model.take_tools(
            [
                get_schema_tool_for_eval(
                    name, domain, rtvi=self._parts.rtvi, shared_state=self.state, **kwargs
                )
                for name, kwargs in kwargs_by_name.items()
            ]
        )

    async def _clear_context(self) -> None:
        """Bring the conversation back to the prompt alone, whatever was going on.

        Without a scenario's prompt, to what the bot had of its own.
        """
        # Where the last call was cut off in the middle of a turn, the turn ends by itself a little
        # later. It must not end in the new conversation.
        with suppress(TimeoutError):
            async with asyncio.timeout(_TURN_LIMIT_SECONDS):
                await self._nobody_speaks.wait()
        self._model.remember()
        await self._parts.rtvi.broadcast_interruption()  # type: ignore[no-untyped-call]
        for frame in self._model.prompts(self._prompt):
            await self._parts.worker.queue_frame(frame)
        await self._parts.worker.flush_pipeline()
        await self._parts.user.reset()  # type: ignore[no-untyped-call]
        await self._parts.assistant.reset()  # type: ignore[no-untyped-call]
        self._parts.context.set_messages([] if self._prompt else self._model.own_messages)

    async def _apply_initialization(self, arguments: Arguments) -> dict[str, Any]:
        domain = arguments.get("domain") or "default"
        actions = arguments.get("actions") or []
        if not isinstance(actions, list):
            return _failure("actions: a list of objects is wanted")
        try:
            initial = json.loads(arguments.get("shared_state_init") or "{}")
        except (TypeError, ValueError) as exc:
            return _failure(f"shared_state_init: not JSON: {exc}")
        if not isinstance(initial, dict):
            return _failure("shared_state_init: a JSON object is wanted")
        return _outcome(seed(self.state, initial, actions, domain))

    async def _apply_sync_delta(self, arguments: Arguments) -> dict[str, Any]:
        domain, delta = arguments.get("domain") or "default", arguments.get("delta", {})
        if not isinstance(delta, dict):
            return _failure("delta: an object of paths and values is wanted")
        if not isinstance(self.state.get("db"), dict):
            return _failure("delta: there is no database to apply it to")
        return _outcome(apply_delta(domain, self.state["db"], delta))

    async def _get_context_history(self, _: Arguments) -> dict[str, Any]:
        try:
            await self._tools_at_rest()
            messages = [m for m in self._parts.context.get_messages() if isinstance(m, dict)]
            system = [{"role": "system", "content": self._prompt}] if self._prompt else []
            return {"context": repr(printable([*system, *messages]))}
        except Exception as exc:  # the wire has a shape for it
            logger.warning(f"get_context_history failed: {exc!r}")
            return {"context": []}

    async def _get_scenario_summary(self, arguments: Arguments) -> dict[str, Any]:
        try:
            await self._tools_at_rest()
            db = self.state.get("db") or None
            summary = {
                "actions": self.state.get("actions", []),
                "db_hash": get_dict_hash(db) if db else None,
            }
            if arguments.get("include_db"):
                summary["db"] = plain_copy(db)
            return _within_limit(summary)
        except Exception as exc:  # the wire has a shape for it
            logger.warning(f"get_scenario_summary failed: {exc!r}")
            return {"actions": [], "db_hash": None}

    async def _tools_at_rest(self) -> None:
        """Wait until no tool is at work: what it does is evidence, and so is its answer."""
        loop = asyncio.get_running_loop()
        limit = loop.time() + _CALLS_LIMIT_SECONDS
        assistant = self._parts.assistant
        # pipecat has no event for it.
        while assistant.has_function_calls_in_progress and loop.time() < limit:  # noqa: ASYNC110
            await asyncio.sleep(_CALLS_POLL_SECONDS)


def _arguments(message: ClientMessage) -> Arguments:
    if message.data is None:
        return {}
    if not isinstance(message.data, dict):
        raise TypeError(f"the arguments of {message.type} are an object, not {message.data!r}")
    return message.data


def _as_json(value: Any) -> Any:
    """Return what of ``value`` can travel; anything else as text."""
    return json.loads(json.dumps(value, default=str))


def _within_limit(summary: dict[str, Any]) -> dict[str, Any]:
    """Return ``summary`` as JSON; without the database, and told so, if a message cannot hold it."""
    text = json.dumps(summary, default=str)
    if "db" in summary and len(text) > MAX_MESSAGE_BYTES - ENVELOPE_BYTES:
        told = f"with its database the summary has {len(text)} bytes, a message at most {MAX_MESSAGE_BYTES}"
        return dict(_as_json({**summary, "db": None, "db_error": told}))
    return dict(json.loads(text))


def _outcome(errors: list[str]) -> dict[str, Any]:
    return {"success": not errors, "errors": errors}


def _failure(text: str) -> dict[str, Any]:
    return _outcome([text])
