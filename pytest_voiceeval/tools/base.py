"""What every tool is: a schema for the model, a step that executes, and one delivery of its result."""

from __future__ import annotations

import asyncio
import json
import logging
from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar, Protocol

from pytest_voiceeval.errors import DefinitionError

logger = logging.getLogger(__name__)

LIMIT_SECONDS = 9.5
"""How long a tool may take: a little less than pipecat waits, whose answer to a model says nothing of why."""


class FunctionCall(Protocol):
    """What a tool needs of pipecat's ``FunctionCallParams``."""

    @property
    def arguments(self) -> Mapping[str, Any] | None:
        """Arguments of the call, by name."""

    @property
    def result_callback(self) -> Any:
        """Coroutine function that hands a result (and ``properties=``) to the model."""


class StandardSchemaTool(ABC):
    """A tool that a bot's model may call.

    A subclass gives ``properties``, ``required_properties`` and ``_execute``, which *returns* its
    result. Calling the tool is the only way to deliver, and delivers exactly once.

    Attributes:
        name: what the model calls it by: the constructor's argument, else the class's ``name``, else
            the name of the class.
        description: what the model reads about it; a class may declare it, too.
        ends_conversation: after its result the model is not asked for another answer.
        limit_seconds: how long it may take to execute; then the model is told that it did not answer.
    """

    name: str = ""
    description: str = ""
    ends_conversation: ClassVar[bool] = False
    limit_seconds: ClassVar[float] = LIMIT_SECONDS

    def __init__(self, name: str | None = None, description: str | None = None) -> None:
        """Take a name and a description; raise ``DefinitionError`` if one of them ends up empty."""
        cls = type(self)
        self.name = (cls.name or cls.__name__) if name is None else name
        self.description = cls.description if description is None else description
        for field in ("name", "description"):
            if not getattr(self, field):
                raise DefinitionError(f"tool class {cls.__qualname__}: give it a {field} that is not empty")

    @property
    @abstractmethod
    def properties(self) -> dict[str, Any]:
        """The parameters, as the ``properties`` object of a JSON Schema."""

    @property
    @abstractmethod
    def required_properties(self) -> list[str]:
        """Names of the parameters that a call must give."""

    @abstractmethod
    async def _execute(self, *args: Any, **kwargs: Any) -> Any:
        """Do the work for the call's arguments (as keywords) and return the result."""

    async def _after_result(self, result: Any) -> None:  # noqa: B027 - a hook; most tools need none
        """Do what must come after the result was delivered: here, nothing."""

    def _ends_conversation_with(self, result: Any) -> bool:
        """Return whether the model is done after ``result``: here, ``ends_conversation``."""
        return self.ends_conversation

    def schema(self) -> dict[str, Any]:
        """Return what the model is told: name, description, properties, required."""
        return {
            "name": self.name,
            "description": self.description,
            "properties": self.properties,
            "required": self.required_properties,
        }

    async def __call__(self, params: FunctionCall) -> None:
        """Execute, deliver the result or ``{"error": text}`` once, then run ``_after_result``.

        A result that is no JSON is an error, and so is none within ``limit_seconds``.
        """
        try:
            result = await self._within_limit(params.arguments or {})
            content = deliverable(result)
            self._check_json(content)
        except (Exception, SystemExit) as exc:  # whatever a tool raises is an answer to the model
            logger.info("tool %s raised %s: %s", self.name, type(exc).__name__, exc)
            told = f"SystemExit: {exc}" if isinstance(exc, SystemExit) else str(exc) or type(exc).__name__
            await params.result_callback({"error": told})
            return
        if self._ends_conversation_with(result):
            await params.result_callback(content, properties=_no_further_answer())
        else:
            await params.result_callback(content)
        try:
            await self._after_result(result)
        except Exception:  # the result is out; raising here would make the framework answer again
            logger.exception("tool %s: what follows its result failed", self.name)

    async def _within_limit(self, arguments: Mapping[str, Any]) -> Any:
        try:
            async with asyncio.timeout(self.limit_seconds) as limit:
                return await self._execute(**arguments)
        except TimeoutError:
            if not limit.expired():  # it is the tool's own
                raise
            raise TimeoutError(
                f"the tool {self.name} did not answer within {self.limit_seconds:g} s"
            ) from None

    def _check_json(self, content: Any) -> None:
        """Raise TypeError for what cannot be told to a model: not JSON, or no Unicode."""
        try:
            json.dumps(content, allow_nan=False, ensure_ascii=False).encode()
        except (TypeError, ValueError, RecursionError) as exc:
            raise TypeError(f"the tool {self.name} returned what is no JSON: {exc}") from None


def deliverable(result: Any) -> Any:
    """Return ``result``, or an envelope that says "no data" if it is empty.

    The framework replaces an empty result by a word that a model reads as success with data.
    """
    if result:
        return result
    if isinstance(result, list):
        return {
            "status": "success",
            "results": result,
            "count": 0,
            "message": "No matching records found.",
        }
    if isinstance(result, dict):
        return {"status": "success", "results": result, "message": "No matching records found."}
    return {"status": "success", "result": result, "message": "Completed with no data returned."}


def unknown_tool_result(name: str, available: list[str] | tuple[str, ...]) -> dict[str, Any]:
    """Return what a model is told that called ``name``, which is not among ``available`` tools."""
    names = sorted(available)
    remedy = f"Call one of: {', '.join(names)}." if names else "No tools are available; answer without one."
    return {
        "status": "error",
        "error_type": "unknown_tool",
        "message": f"There is no tool named '{name}'. {remedy}",
        "available_tools": names,
    }


def _no_further_answer() -> Any:
    from pipecat.frames.frames import FunctionCallResultProperties  # noqa: PLC0415 - heavy, only in a call

    return FunctionCallResultProperties(run_llm=False)
