"""The two things that action match compares: what was asked for, and what was recorded."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NoReturn

from pytest_voiceeval.model.conversation import Conversation

if TYPE_CHECKING:
    from pytest_voiceeval.scenarios.base import Scenario


def reference_payload(scenario: Scenario) -> Any:
    """Return the reference answer as an object or a list of objects; ``None`` if there is none."""
    answer = scenario.reference_answer
    if not answer:
        return None
    return {"message": answer} if isinstance(answer, str) else answer


def prediction_payload(conversation: Conversation) -> list[Any]:
    """Return what the bots recorded, as ``final_agent_response.json`` holds it.

    The pulled actions if there are any, as one object ``{"actions": […]}``; else one entry for each
    summary that the agent pushed; else, if an empty list of actions was pulled, that.
    """
    if actions := conversation.actions:
        return [{"actions": [action.to_json() for action in actions]}]
    if conversation.pushed:
        return [pushed_payload(text) for text in conversation.pushed]
    return [] if conversation.agent.actions is None else [{"actions": []}]


def pushed_payload(text: str) -> Any:
    """Return the JSON value of a pushed summary; ``{"message": text}`` if it is none."""
    try:
        return json.loads(text, parse_constant=_refuse_constant)
    except (ValueError, RecursionError):
        return {"message": text}


def _refuse_constant(word: str) -> NoReturn:
    raise ValueError(f"{word} is not a JSON value")
