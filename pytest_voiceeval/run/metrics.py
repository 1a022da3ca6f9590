"""``metrics.json`` of one scenario: the keys of the reference in its order, then ours."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any

from pytest_voiceeval.model.conversation import Conversation
from pytest_voiceeval.model.ending import ENDING
from pytest_voiceeval.model.judgement import Judgement
from pytest_voiceeval.model.metrics import Scores, percentile
from pytest_voiceeval.model.signals import SuccessSignal
from pytest_voiceeval.model.stop_reason import StopReason
from pytest_voiceeval.model.turns import SIDES, ResponseLatency, Turn
from pytest_voiceeval.run.agent_turns import AGENT_TURNS, IS_SUCCESSFUL, agent_turns, task_successful
from pytest_voiceeval.run.agents import AGENT_MODE, AGENT_PROTOCOL, BLACK_BOX, EVALUATED, RECOGNISED_BY
from pytest_voiceeval.run.counted_turns import counted_turns
from pytest_voiceeval.run.echoes import ECHOES, echoed_turns
from pytest_voiceeval.run.evidence import words_of
from pytest_voiceeval.run.process_events import processes_json
from pytest_voiceeval.run.tool_errors import tool_errors
from pytest_voiceeval.run.trace import trace_metrics
from pytest_voiceeval.run.unjudged import UNJUDGED, unjudged_signals
from pytest_voiceeval.scenarios.base import Scenario
from pytest_voiceeval.scoring.db_state import db_state_assertion_verdicts
from pytest_voiceeval.world.task_sets import data_set

PHANTOMS = "phantom_transcripts"
"""Key of ``metrics.json``, our addition, only where a side's recogniser heard words that nobody had said."""


def metrics_json(
    scenario: Scenario,
    conversation: Conversation,
    scores: Scores,
    folder: Path,
    *,
    judgement: Judgement | None = None,
) -> dict[str, Any]:
    """Return what ``metrics.json`` holds."""
    return {
        **_call(conversation),
        "scenario_name": conversation.scenario_name,
        "scenario_directory": str(folder),
        "scenario_duration": (conversation.ended_at - conversation.started_at).total_seconds(),
        "stop_reason": conversation.stop_reason.value,
        **_signals(scenario, conversation, scores, judgement),
        "success_breakdown": scores.breakdown.to_json(),
        "is_successful": IS_SUCCESSFUL.get(scores.verdict, "N/A"),
        **_task_success(scores),
        **trace_metrics(folder),
        **_ours(scenario, conversation, scores, judgement),
        AGENT_TURNS: agent_turns(conversation),
        "attempts": _attempts(conversation, folder),
    }


def latency_stats(milliseconds: Sequence[float]) -> dict[str, float | int | None]:
    """Return count, mean and quantiles of response latencies; ``None`` where none was measured."""
    count = len(milliseconds)
    return {
        "count": count,
        "mean_ms": sum(milliseconds) / count if count else None,
        "p50_ms": percentile(milliseconds, 0.50),
        "p95_ms": percentile(milliseconds, 0.95),
        "min_ms": min(milliseconds, default=None),
        "max_ms": max(milliseconds, default=None),
    }


def _attempts(conversation: Conversation, folder: Path) -> list[dict[str, Any]]:
    """Return every call that was held, in order; the one that counts has no reason to be held again."""
    earlier = [
        {
            "attempt": number,
            "retry_reason": attempt.reason,
            "stop_reason": attempt.stop_reason.value,
            "total_turns": attempt.turn_count,
            "directory": attempt.directory,
        }
        for number, attempt in enumerate(conversation.retried, 1)
    ]
    last = {
        "attempt": len(earlier) + 1,
        "retry_reason": None,
        "stop_reason": conversation.stop_reason.value,
        "total_turns": len(counted_turns(conversation)),
        "directory": folder.name,
    }
    return [*earlier, last]


def _call(conversation: Conversation) -> dict[str, Any]:
    turns = counted_turns(conversation)
    latencies = [_latency(latency) for latency in conversation.latencies]
    return {
        "total_turns": len(turns),
        "duration_seconds": conversation.duration_seconds,
        "turns": [
            {
                "timestamp": _timestamp(conversation, turn),
                "role": turn.speaker,
                "text": words_of(turn),
            }
            for turn in turns
        ],
        "latency_stats": latency_stats([latency["latency_ms"] for latency in latencies]),
        "latencies": latencies,
    }


def _latency(latency: ResponseLatency) -> dict[str, Any]:
    """Return one latency; with its parts, as our addition, where the agent's bot reports them."""
    parts: dict[str, float] = {share: seconds * 1000 for share, seconds in latency.work.items()}
    if latency.rest is not None:
        parts["rest"] = latency.rest * 1000
    return {
        "user_transcript": latency.user_text,
        "agent_transcript": latency.agent_text,
        "latency_ms": latency.seconds * 1000,
        **({"parts_ms": parts} if parts else {}),
    }


def _timestamp(conversation: Conversation, turn: Turn) -> str:
    return (conversation.started_at + timedelta(seconds=turn.start)).replace(tzinfo=None).isoformat()


def _signals(
    scenario: Scenario, conversation: Conversation, scores: Scores, judgement: Judgement | None
) -> dict[str, Any]:
    action_match = scores.result(SuccessSignal.ACTION_MATCH)
    keys: dict[str, Any] = {
        "clean_exit": _clean_exit(conversation, scores),
        "is_action_match": "N/A"
        if action_match is None or action_match.passed is None
        else action_match.passed,
        **_judged(scores, judgement),
        "token_usage": {
            side: {"n_calls": tokens.n_calls, "prompt": tokens.prompt, "completion": tokens.completion}
            for side, tokens in (("agent", conversation.agent.tokens), ("user", conversation.user.tokens))
        },
    }
    if scenario.expected_scenario_db is not None:
        keys["db_state_expected_hash"] = scenario.expected_db_hash
        state = scores.result(SuccessSignal.DB_STATE_MATCH)
        if state is not None and state.passed is not None:
            keys["db_state_match"] = state.passed
        keys["db_state_actual_hash"] = conversation.agent.db_hash
    judged = scores.result(SuccessSignal.NL_ASSERTION)
    if judged is not None and judged.passed is not None:
        keys["nl_assertion_pass_rate"] = judged.value
    assertion = scores.result(SuccessSignal.DB_STATE_ASSERTION)
    if assertion is not None and assertion.passed is not None:
        keys["db_state_assertion_verdicts"] = db_state_assertion_verdicts(scenario, conversation)
        keys["db_state_assertion_pass_rate"] = assertion.value
    return keys


def _judged(scores: Scores, judgement: Judgement | None) -> dict[str, Any]:
    """Return score and verdict of the judge, as far as there are any."""
    keys: dict[str, Any] = {}
    if judgement is not None and judgement.score is not None:
        keys["judge_score"] = judgement.score
    passed = scores.result(SuccessSignal.JUDGE_PASSED)
    if passed is not None and passed.passed is not None:
        keys["judge_passed"] = passed.passed
    return keys


def _clean_exit(conversation: Conversation, scores: Scores) -> bool:
    result = scores.result(SuccessSignal.CLEAN_EXIT)
    if result is not None and result.passed is not None:
        return result.passed
    return conversation.stop_reason is StopReason.EXIT


def _task_success(scores: Scores) -> dict[str, bool]:
    if scores.verdict not in IS_SUCCESSFUL:
        return {}
    return {"is_task_successful": task_successful(scores.breakdown.to_json())}


def _ending(conversation: Conversation) -> dict[str, Any]:
    """Return how a call ended that did not end as it should."""
    known = conversation.stop_reason is not StopReason.EXIT and conversation.ending.cause
    return {ENDING: conversation.ending.to_json()} if known else {}


def _misheard(conversation: Conversation) -> dict[str, Any]:
    """Return where a side was told to have heard, or said, what no person would; nothing if nowhere."""
    phantoms = {side: conversation.side(side).phantoms for side in SIDES if conversation.side(side).phantoms}
    echoes = len(echoed_turns(conversation.turns))
    return {
        **({PHANTOMS: phantoms} if phantoms else {}),
        **({ECHOES: echoes} if echoes else {}),
    }


def _noise(conversation: Conversation) -> dict[str, Any]:
    noise = conversation.noise
    if noise is None:
        return {}
    levels = {"speech_db": noise.speech_db, "noise_db": noise.noise_db, "snr_db": noise.snr_db}
    return {"noise": levels}


def _task_set(scenario: Scenario) -> dict[str, str]:
    """Return of which data of a benchmark the scenario is: figures of two sets do not compare."""
    found = data_set(scenario.domain) if scenario.task_id is not None else None
    return {"task_set_sha256": found.tasks_sha256, "data_sha256": found.sha256} if found else {}


def _ours(
    scenario: Scenario, conversation: Conversation, scores: Scores, judgement: Judgement | None
) -> dict[str, Any]:
    """Return the keys that the reference does not have."""
    errors = [result.error for result in scores.results if result.error]
    unjudged = unjudged_signals(scores)
    return {
        "verdict": scores.verdict.value,
        **({"judge_error": errors[0]} if errors else {}),
        **({UNJUDGED: unjudged} if unjudged else {}),
        **({"judge_spread": judgement.spread} if judgement and judgement.samples else {}),
        "clock": conversation.clock,
        AGENT_MODE: BLACK_BOX if conversation.agent_is_black_box else EVALUATED,
        AGENT_PROTOCOL: conversation.agent_protocol,
        **({RECOGNISED_BY: conversation.agent_recognised_by} if conversation.agent_recognised_by else {}),
        **_noise(conversation),
        **_task_set(scenario),
        "explanations": {
            result.signal.value: result.explanation for result in scores.results if result.explanation
        },
        **_ending(conversation),
        **_misheard(conversation),
        "simulator_end_reported": conversation.simulator_end_reported,
        "skipped_frames": {side: conversation.side(side).skipped_frames for side in SIDES},
        "first_skipped_frames": {
            side: told for side in SIDES if (told := conversation.side(side).first_skipped)
        },
        "pull_errors": {side: error for side in SIDES if (error := conversation.side(side).pull_error)},
        "endpoint_notices": {side: dict(conversation.side(side).notices) for side in SIDES},
        **processes_json(conversation),
        "reported_errors": {side: list(conversation.side(side).errors) for side in SIDES},
        "tool_errors": tool_errors(conversation.agent.context),
    }
