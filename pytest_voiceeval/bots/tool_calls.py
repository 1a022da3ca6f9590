"""The tool calls of a streamed reply, put together from what servers really send."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel, ConfigDict

from pytest_voiceeval.tools import StandardSchemaTool

UNNAMED = "unnamed"
"""What a call without a name is taken for: a tool that is not there."""

_SHOWN = 200
_numbers = itertools.count(1)


class _FunctionPart(BaseModel):
    model_config = ConfigDict(extra="ignore")

    name: str | None = None
    arguments: str | dict[str, Any] | None = None


class CallPart(BaseModel):
    """A piece of a tool call; any part of it may be missing."""

    model_config = ConfigDict(extra="ignore")

    index: int | None = None
    id: str | None = None
    function: _FunctionPart | None = None


@dataclass
class _Call:
    index: int | None
    id: str = ""
    name: str = ""
    arguments: str = ""


class MalformedArguments(dict[str, Any]):
    """Arguments of a call that are no JSON object: none of them can be used.

    Attributes:
        text: what the model wrote.
        fault: what is wrong with it.
    """

    def __init__(self, text: str, fault: str) -> None:
        super().__init__()
        self.text = text
        self.fault = fault

    def answer(self, tool: StandardSchemaTool) -> dict[str, Any]:
        """Return what the model is told, so that it can call ``tool`` again."""
        expected = ", ".join(tool.properties) or "none: {}"
        return {
            "status": "error",
            "error_type": "malformed_arguments",
            "message": f"The arguments of '{tool.name}' are no JSON object: {self.fault}. Nothing was done. "
            f"Call it again with one JSON object; its keys are {expected}.",
            "received": self.text[:_SHOWN],
        }


@dataclass(frozen=True)
class CompleteCall:
    """A call as it is to be made.

    Attributes:
        arguments: its arguments, by name; ``MalformedArguments`` where the model wrote none that can be used.
    """

    id: str
    name: str
    arguments: dict[str, Any]


class ToolCalls:
    """Collects the parts of calls as they come.

    Parts belong together by their index. Where there is none, a part with another id or, lacking that, with
    a name begins the next call. A server that gives every call the index 0 tells them apart by their ids.
    """

    def __init__(self) -> None:
        self._calls: list[_Call] = []

    def __bool__(self) -> bool:
        return bool(self._calls)

    def add(self, parts: Sequence[CallPart]) -> None:
        """Take what one piece of the reply has of calls."""
        for part in parts:
            function = part.function or _FunctionPart()
            call = self._call_of(part, function)
            call.id = call.id or part.id or ""
            if function.name and function.name != call.name:
                call.name += function.name
            if isinstance(function.arguments, dict):
                call.arguments = json.dumps(function.arguments)
            else:
                call.arguments += function.arguments or ""

    def complete(self) -> list[CompleteCall]:
        """Return all calls, in the order of their beginnings; each has an id of its own."""
        return list(self._complete())

    def _call_of(self, part: CallPart, function: _FunctionPart) -> _Call:
        known = self._known(part)
        if known is None or _begins_another(known, part, function):
            known = _Call(part.index)
            self._calls.append(known)
        return known

    def _known(self, part: CallPart) -> _Call | None:
        if part.index is None:
            return self._calls[-1] if self._calls else None
        return next((call for call in reversed(self._calls) if call.index == part.index), None)

    def _complete(self) -> Iterator[CompleteCall]:
        used: set[str] = set()
        for call in self._calls:
            key = call.id if call.id and call.id not in used else f"call_{next(_numbers)}_voiceeval"
            used.add(key)
            yield CompleteCall(sendable(key), sendable(call.name) or UNNAMED, _arguments(call.arguments))


def _begins_another(call: _Call, part: CallPart, function: _FunctionPart) -> bool:
    """Whether ``part`` cannot be one of ``call``."""
    if part.id and call.id:
        return part.id != call.id
    return part.index is None and bool(function.name and call.name)


def _arguments(text: str) -> dict[str, Any]:
    if not text.strip():
        return {}
    try:
        value = json.loads(text, parse_constant=_refuse)
    except (ValueError, RecursionError) as exc:
        return MalformedArguments(sendable(text), f"not JSON ({exc})")
    if value is None:
        return {}
    if not isinstance(value, dict):
        return MalformedArguments(
            sendable(text), f"JSON, but {type(value).__name__} where an object is wanted"
        )
    sent: dict[str, Any] = json.loads(sendable(json.dumps(value, ensure_ascii=False)))
    return sent


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is no number that JSON has")


def sendable(text: str) -> str:
    """Return ``text`` as it can be sent: half of a surrogate pair, which JSON can name, becomes ``?``."""
    return text.encode("utf-8", "replace").decode()
