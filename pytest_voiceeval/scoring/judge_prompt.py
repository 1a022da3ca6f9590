"""What a judge is asked: its instructions, and the evidence of a call between tags."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pytest_voiceeval.model.conversation import Conversation
from pytest_voiceeval.model.turns import SIDES, Turn
from pytest_voiceeval.scenarios.assertions import assertions_of
from pytest_voiceeval.scoring.evidence import missing_record
from pytest_voiceeval.scoring.judge_instructions import instructions, short_instructions
from pytest_voiceeval.scoring.match import normalize_scenario_payload
from pytest_voiceeval.scoring.payload import prediction_payload, reference_payload
from pytest_voiceeval.world.files import plain

if TYPE_CHECKING:
    from pytest_voiceeval.scenarios.base import Scenario

REFERENCE = "reference"
PREDICTION = "prediction"
CONVERSATION = "conversation"
ASSERTIONS = "nl_assertions"
HISTORIES = {"agent": "agent_context_history", "user": "user_context_history"}

_TAGS = re.compile(
    rf"<(?=\s*/?\s*(?:{'|'.join((REFERENCE, PREDICTION, CONVERSATION, ASSERTIONS, *HISTORIES.values()))})\b)",
    re.IGNORECASE,
)
_INSTRUCTING = ("system", "developer")


@dataclass(frozen=True)
class Compaction:
    """How the histories of models are shortened.

    Attributes:
        messages: most messages, and most elements of a list in one.
        system_characters: longest text of a system message.
        characters: longest text of anything else.
    """

    messages: int = 40
    system_characters: int = 2500
    characters: int = 6000


@dataclass(frozen=True)
class JudgeInput:
    """What a judge is asked, word by word."""

    system_prompt: str
    user_content: str

    def to_json(self) -> dict[str, str]:
        """Return ``judge_input`` of ``judge_result.json``."""
        return {"system_prompt": self.system_prompt, "user_content": self.user_content}


def judge_input(
    scenario: Scenario,
    conversation: Conversation,
    *,
    include_conversation: bool = False,
    compaction: Compaction | None = None,
    strict_match: bool = False,
) -> JudgeInput:
    """Return what a judge is asked of a call.

    Args:
        scenario: what was to happen.
        conversation: what happened.
        include_conversation: also show what was said, turn by turn.
        compaction: shorten the histories of the models; ``None`` leaves them whole.
        strict_match: have it hold what goes beyond the reference against the agent.
    """
    sections = dict(_sections(scenario, conversation, include_conversation, compaction))
    if sections.keys() <= {REFERENCE, PREDICTION}:
        system_prompt = short_instructions(strict_match=strict_match)
    else:
        system_prompt = instructions(has_assertions=ASSERTIONS in sections, strict_match=strict_match)
    blocks = [f"<{tag}>\n{as_data(body)}\n</{tag}>" for tag, body in sections.items()]
    return JudgeInput(system_prompt, "\n\n".join(blocks))


def is_anything_observed(conversation: Conversation, *, include_conversation: bool = False) -> bool:
    """Return whether there is anything that a judge could judge by.

    Something was recorded, or was said that the judge is shown, or a model was told more than what to do.
    """
    if conversation.actions or conversation.pushed or (include_conversation and conversation.turns):
        return True
    messages = [message for side in SIDES for message in conversation.side(side).context or ()]
    return any(message.get("role") not in _INSTRUCTING for message in messages)


def as_data(text: str) -> str:
    """Return ``text`` such that no tag of ours stands in it, and that it can be sent as UTF-8."""
    return _TAGS.sub("&lt;", text).encode("utf-8", "backslashreplace").decode("utf-8")


def compacted(history: Sequence[Any], limits: Compaction) -> list[Any]:
    """Return a model's messages within limits: the latest, behind the system message if they begin with one.

    Longer texts are cut, and say how much is missing; lists keep their last elements.
    """
    first = history[0] if history else None
    if isinstance(first, Mapping) and first.get("role") == "system":
        kept = [first, *_last(history[1:], limits.messages - 1)]
    else:
        kept = _last(history, limits.messages)
    return [_compacted_message(message, limits) for message in kept]


def _compacted_message(message: Any, limits: Compaction) -> Any:
    if not isinstance(message, Mapping) or message.get("role") != "system":
        return _cut(message, limits)
    content = message.get("content")
    shortened = _cut(message, limits)
    if isinstance(content, str):
        shortened["content"] = _cut_text(content, limits.system_characters)
    return shortened


def _cut(value: Any, limits: Compaction) -> Any:
    if isinstance(value, str):
        return _cut_text(value, limits.characters)
    if isinstance(value, Mapping):
        return {key: _cut(inner, limits) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_cut(inner, limits) for inner in _last(value, limits.messages)]
    return value


def _cut_text(text: str, limit: int) -> str:
    missing = len(text) - limit
    return text if missing <= 0 else f"{text[:limit]}\n...[truncated {missing} chars for judge input]"


def _last(elements: Sequence[Any], count: int) -> list[Any]:
    return list(elements[max(len(elements) - count, 0) :])


def _sections(
    scenario: Scenario,
    conversation: Conversation,
    include_conversation: bool,
    compaction: Compaction | None,
) -> Iterator[tuple[str, str]]:
    """Yield tag and body of each piece of evidence that there is, in order."""
    reference = reference_payload(scenario)
    if reference is not None:
        yield REFERENCE, _json(normalize_scenario_payload(reference))
    if not missing_record(conversation):
        yield PREDICTION, _json(normalize_scenario_payload(prediction_payload(conversation)))
    if include_conversation and conversation.turns:
        yield CONVERSATION, "\n".join(map(_spoken, conversation.turns))
    if assertions := assertions_of(scenario):
        lines = [f"{number}. {_one_line(text)}" for number, text in enumerate(assertions, 1)]
        yield ASSERTIONS, "\n".join(lines)
    for side, tag in HISTORIES.items():
        history = conversation.agent.context if side == "agent" else conversation.user.context
        if history:
            yield tag, _json(history if compaction is None else compacted(history, compaction))


def _spoken(turn: Turn) -> str:
    return f"[{turn.speaker or 'unknown'}]: {_one_line(turn.text)}"


def _one_line(text: object) -> str:
    return " ".join(str(text).split())


def _json(value: Any) -> str:
    return json.dumps(plain(value), indent=2, ensure_ascii=False)
