"""Rehearsals of tau2's tasks: the caller tells why they call, the agent does what the task lists."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from pytest_voiceeval import Rehearsal, Say, Use
from pytest_voiceeval.tools import StandardSchemaTool, TransferTool, WriteScenarioTool, action_name

from ._spoken import utterances

GREETING = Say("Thank you for calling customer support. How can I help you today?")
GO_ON = (
    Say("I see what you mean. Please go on."),
    Say("I have noted that. What else should I know?"),
    Say("That is clear to me. Please tell me more."),
)
WORKING = Say("I have all that I need. Please give me a moment to look into it.")
WAITING = Say("That is fine with me. I will wait.")
DONE = Say("I have done all that I can do for you here. Is there anything else?")
REFUSED = Say("I have looked into it and I cannot do more for you. Is there anything else?")
HANDOVER = Say("I cannot settle this myself so I will connect you with a colleague.")
GOODBYE = Say("That is all I need. Thank you for your help and goodbye.")
UNDERSTOOD = Say("I understand that very well. Thank you for your help and goodbye.")


def rehearse(
    reason: str, actions: Iterable[Mapping[str, Any]], tools: Iterable[type[StandardSchemaTool]]
) -> Rehearsal:
    """Return the rehearsal of a task.

    Args:
        reason: why the caller calls, as the task tells the caller.
        actions: the task's own actions; those that none of the tools can do are left out.
        tools: those of the agent.
    """
    uses = list(_uses(actions, {action_name(tool.__name__): tool for tool in tools}))
    work = [use for use in uses if not use.ends]
    ends = [use for use in uses if use.ends][:1]
    spoken = [Say(text) for text in utterances(reason)]
    go_on = [GO_ON[number % len(GO_ON)] for number in range(len(spoken) - 1)]
    does_something = any(use.writes for use in work)
    last = HANDOVER if ends else DONE if does_something else REFUSED
    return Rehearsal(
        user=(*spoken, WAITING, UNDERSTOOD if ends else GOODBYE),
        agent=(GREETING, *go_on, WORKING, *work, last, *(ends or [Use("EndConversationTool")])),
    )


def _uses(
    actions: Iterable[Mapping[str, Any]], tools: Mapping[str, type[StandardSchemaTool]]
) -> Iterator[Use]:
    for action in actions:
        tool = tools.get(action["name"])
        if tool is not None:
            ends = issubclass(tool, TransferTool)
            writes = issubclass(tool, WriteScenarioTool) and not ends
            yield Use(tool.__name__, action["arguments"], writes=writes, ends=ends)
