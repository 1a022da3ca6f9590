"""How often the agent answered in a call, and what becomes of one in which it hardly did."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_voiceeval.model.metrics import Verdict
from pytest_voiceeval.model.signals import SuccessSignal
from pytest_voiceeval.model.stop_reason import StopReason
from pytest_voiceeval.model.turns import AGENT, USER
from pytest_voiceeval.run.counted_turns import counted_turns
from pytest_voiceeval.run.files import read_json

if TYPE_CHECKING:
    from pytest_voiceeval.model.conversation import Conversation

AGENT_TURNS = "agent_turns"
"""Key of ``metrics.json``, our addition: how often the agent answered."""

INSUFFICIENT = "insufficient_agent_turns"
"""Key of ``metrics.json``, only where the agent answered too few times."""

SIGNALS_VERDICT = "signals_verdict"
"""Key of ``metrics.json``, our addition, only beside ``INSUFFICIENT``: what the signals alone came to."""

MINIMUM = "min_agent_turns"
"""Key of ``metrics.json``, our addition, only beside ``INSUFFICIENT``: how often it should have answered."""

IS_SUCCESSFUL: dict[str, bool] = {Verdict.PASSED: True, Verdict.FAILED: False}
"""``is_successful`` of each verdict; of any other one it is ``"N/A"``."""


def agent_turns(conversation: Conversation) -> int:
    """Return how often the agent answered: its turns that came to an end, or its model's calls if more.

    Turns are missing where an answer is tool calls alone; model calls are missing where a bot does not
    report them, or was interrupted before it could.
    """
    heard = sum(turn.speaker == AGENT for turn in counted_turns(conversation))
    return max(heard, conversation.agent.tokens.n_calls)


def agent_turn_count(metrics: Mapping[str, Any]) -> int | None:
    """Return how often the agent answered, from what ``metrics.json`` holds; ``None`` if that is unknown."""
    count = metrics.get(AGENT_TURNS)
    return count if isinstance(count, int) else agent_model_calls(metrics)


def agent_model_calls(metrics: Mapping[str, Any]) -> int | None:
    """Return how often the agent's model answered; ``None`` if that is unknown.

    Taken from the token usage, else from the assistant messages of the saved context. A file of the
    reference tells no more than this.
    """
    usage = metrics.get("token_usage")
    agent = usage.get(AGENT) if isinstance(usage, Mapping) else None
    calls: object = agent.get("n_calls") if isinstance(agent, Mapping) else None
    if isinstance(calls, int):
        return calls
    folder = metrics.get("scenario_directory")
    context = read_json(Path(str(folder)) / "bot_logs_agent" / "llm_context.json") if folder else None
    if not isinstance(context, list):
        return None
    answers = [e for e in context if isinstance(e, Mapping) and e.get("role") == "assistant"]
    return len(answers)


def has_too_few(metrics: Mapping[str, Any], min_agent_turns: int) -> bool:
    """Return whether the agent is known to have answered fewer than ``min_agent_turns`` times."""
    count = agent_turn_count(metrics) if min_agent_turns > 0 else None
    return count is not None and count < min_agent_turns


def task_successful(breakdown: object) -> bool:
    """Return whether no signal but the clean exit failed."""
    failed = breakdown.get("failed") if isinstance(breakdown, Mapping) else None
    keys = failed if isinstance(failed, list | tuple) else ()
    return all(key == SuccessSignal.CLEAN_EXIT.value for key in keys)


def settled(metrics: Mapping[str, Any], min_agent_turns: int) -> dict[str, Any]:
    """Return the metrics of a call with the outcome that it has under this minimum.

    Too few answers are a failure, whatever the signals say; those stay as they were measured. A failure of
    that kind under a higher minimum is taken back.
    """
    content = dict(metrics)
    if not (has_too_few(metrics, min_agent_turns) or INSUFFICIENT in metrics):
        return content
    verdict = _signals_verdict(content)
    for key in (INSUFFICIENT, SIGNALS_VERDICT, MINIMUM):
        content.pop(key, None)
    if has_too_few(metrics, min_agent_turns):
        content = _after("clean_exit", {INSUFFICIENT: True}, content)
        content |= {SIGNALS_VERDICT: verdict, MINIMUM: min_agent_turns}
        return _with_verdict(content, Verdict.FAILED, task_successful=False)
    return _with_verdict(content, verdict, task_successful=task_successful(_breakdown(content)))


def _signals_verdict(metrics: Mapping[str, Any]) -> str:
    """Return what the signals came to: as noted, else as the verdict or the breakdown has it."""
    if isinstance(noted := metrics.get(SIGNALS_VERDICT), str):
        return noted
    if INSUFFICIENT not in metrics and isinstance(noted := metrics.get("verdict"), str):
        return noted
    breakdown = _breakdown(metrics)
    if breakdown.get("failed"):
        return Verdict.FAILED.value
    return Verdict.PASSED.value if breakdown.get("passed") else Verdict.NOT_APPLICABLE.value


def _breakdown(metrics: Mapping[str, Any]) -> Mapping[str, Any]:
    breakdown = metrics.get("success_breakdown")
    return breakdown if isinstance(breakdown, Mapping) else {}


def _with_verdict(metrics: dict[str, Any], verdict: str, *, task_successful: bool) -> dict[str, Any]:
    content = metrics | {"is_successful": IS_SUCCESSFUL.get(verdict, "N/A"), "verdict": str(verdict)}
    content.pop("is_task_successful", None)
    if verdict in IS_SUCCESSFUL:
        content = _after("is_successful", {"is_task_successful": task_successful}, content)
    return content


def _after(key: str, new: Mapping[str, Any], content: Mapping[str, Any]) -> dict[str, Any]:
    """Return ``content`` with ``new`` behind ``key``, or at the end if that is not there."""
    keys = list(content)
    place = keys.index(key) + 1 if key in content else len(keys)
    items = list(content.items())
    return dict([*items[:place], *new.items(), *items[place:]])


PAUSE_SECONDS = 5.0
"""How long an agent must have been silent for a caller to have had its turn."""


def silent_caller(conversation: Conversation, min_agent_turns: int) -> str:
    """Return that the agent had nothing to answer, if that is why it answered too few times; else nothing.

    The agent spoke and was left waiting until the call ended by itself: that tells nothing of the agent. One
    that let nobody in, as it never paused, has itself to blame.
    """
    speakers = {turn.speaker for turn in conversation.turns}
    if agent_turns(conversation) >= min_agent_turns or AGENT not in speakers or USER in speakers:
        return ""
    if conversation.stop_reason not in (StopReason.INACTIVITY, StopReason.TIMEOUT):
        return ""
    if _longest_pause(conversation) < PAUSE_SECONDS:
        return ""
    counts = ", ".join(f"{kind} {count}" for kind, count in conversation.user.notices.items())
    return (
        f"{conversation.scenario_name}: the simulated user said nothing in a call of "
        f"{conversation.duration_seconds:.0f} s, so the agent had nothing to answer; see to the user bot: "
        f"its speech recognition, its model{f' (its endpoints: {counts})' if counts else ''}"
    )


def _longest_pause(conversation: Conversation) -> float:
    """Return for how long, in seconds, the agent was silent at once after it had begun to speak."""
    turns = [turn for turn in conversation.turns if turn.speaker == AGENT]
    begins = [*(turn.start for turn in turns[1:]), conversation.duration_seconds]
    ends = accumulate((turn.end for turn in turns), max)
    return max(begin - end for begin, end in zip(begins, ends, strict=True))
