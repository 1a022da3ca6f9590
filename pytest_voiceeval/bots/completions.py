"""Chat completions in OpenAI's shapes: what is asked, and a rehearsal's line as the answer."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from pytest_voiceeval.scenarios.rehearsal import Line, Say, Use

Json = dict[str, Any]


class Message(BaseModel):
    """One message of a conversation."""

    model_config = ConfigDict(extra="allow")

    role: str
    content: Any = None

    @property
    def text(self) -> str:
        """The message's words, whether it is one text or a list of parts."""
        if isinstance(self.content, list):
            return "".join(str(p.get("text", "")) for p in self.content if isinstance(p, dict))
        return self.content if isinstance(self.content, str) else ""


class StreamOptions(BaseModel):
    """What a stream is to have besides the answer."""

    model_config = ConfigDict(extra="ignore")

    include_usage: bool = False


class Request(BaseModel):
    """What is asked; the settings of a real model are ignored."""

    model_config = ConfigDict(extra="ignore")

    model: str
    messages: list[Message] = Field(min_length=1)
    stream: bool = False
    stream_options: StreamOptions | None = None

    @property
    def prompt(self) -> str:
        """The system prompt; empty if there is none."""
        return next((m.text for m in self.messages if m.role in {"system", "developer"}), "")


def batched(tokens: Sequence[str], size: int) -> Iterator[Sequence[str]]:
    """Yield ``tokens`` in runs of ``size``, the last one shorter."""
    for start in range(0, len(tokens), size):
        yield tokens[start : start + size]


class Answer:
    """One line as a chat completion, whole or in chunks."""

    def __init__(self, request: Request, line: Line | None, number: int) -> None:
        self._request = request
        self._number = number
        self._use = line if isinstance(line, Use) else None
        text = line.text if isinstance(line, Say) else ""
        self.tokens = re.findall(r"\s*\S+", text)

    def whole(self) -> Json:
        """Return the completion in one piece."""
        message: Json = {"role": "assistant", "content": "".join(self.tokens) or None}
        if self._use is not None:
            message["tool_calls"] = [self._call()]
        elif not self.tokens:
            message["content"] = ""
        choice = {"index": 0, "message": message, "finish_reason": self._finish, "logprobs": None}
        return self._envelope("chat.completion", [choice], self._usage())

    def chunks(self, *, tokens: int = 1) -> Iterator[Json]:
        """Yield the completion as a stream has it: role, pieces of so many tokens, why it ends, usage."""
        deltas: list[Json] = [{"role": "assistant", "content": ""}]
        if self._use is not None:
            call = self._call()
            arguments = call["function"]["arguments"]
            opened = {**call, "function": {"name": call["function"]["name"], "arguments": ""}}
            deltas = [
                {"role": "assistant", "tool_calls": [{"index": 0, **opened}]},
                {"tool_calls": [{"index": 0, "function": {"arguments": arguments}}]},
            ]
        deltas += [{"content": "".join(piece)} for piece in batched(self.tokens, tokens)]
        for delta in deltas:
            yield self._chunk([{"index": 0, "delta": delta, "finish_reason": None}])
        yield self._chunk([{"index": 0, "delta": {}, "finish_reason": self._finish}])
        options = self._request.stream_options
        if options is not None and options.include_usage:
            yield self._envelope("chat.completion.chunk", [], self._usage())

    @property
    def _finish(self) -> str:
        return "stop" if self._use is None else "tool_calls"

    def _call(self) -> Json:
        assert self._use is not None
        function = {"name": self._use.tool, "arguments": json.dumps(dict(self._use.arguments))}
        return {"id": f"call_{self._number}", "type": "function", "function": function}

    def _chunk(self, choices: list[Json]) -> Json:
        return self._envelope("chat.completion.chunk", choices, None)

    def _envelope(self, kind: str, choices: list[Json], usage: Json | None) -> Json:
        return {
            "id": f"chatcmpl-rehearsal-{self._number}",
            "object": kind,
            "created": 0,
            "model": self._request.model,
            "choices": choices,
            "usage": usage,
        }

    def _usage(self) -> Json:
        """Return token counts by the rule of thumb of four characters a token."""
        asked = [message.model_dump_json(exclude_none=True) for message in self._request.messages]
        answered = json.dumps(self._call()) if self._use is not None else "".join(self.tokens)
        prompt, completion = sum(len(a) // 4 + 1 for a in asked), len(answered) // 4 + 1
        return {
            "prompt_tokens": prompt,
            "completion_tokens": completion,
            "total_tokens": prompt + completion,
        }
