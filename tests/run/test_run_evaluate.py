"""A call between scripted bots over real sockets, its files, and what they hold."""

from __future__ import annotations

import json
import wave
from contextlib import AbstractAsyncContextManager
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from calls_of_fakes import Tea

from pytest_voiceeval.bridge.call import hold_call
from pytest_voiceeval.bridge.endpoint import Peer
from pytest_voiceeval.bridge.settings import CallSettings
from pytest_voiceeval.errors import BotRefusedError, BotUnreachableError, DefinitionError
from pytest_voiceeval.model.conversation import (
    ActionRecord,
    Conversation,
    Recording,
    SideEvidence,
    TokenUsage,
)
from pytest_voiceeval.model.metrics import Verdict
from pytest_voiceeval.model.stop_reason import StopReason
from pytest_voiceeval.model.turns import AGENT, USER, Side, Turn
from pytest_voiceeval.report.failure import failure_text
from pytest_voiceeval.run.counted_turns import counted_turns
from pytest_voiceeval.run.evaluate import evaluate_conversation, hold
from pytest_voiceeval.run.evidence import has_ended, transcript_lines, transcript_text, write_evidence
from pytest_voiceeval.run.metrics import latency_stats
from pytest_voiceeval.run.session import Tally
from pytest_voiceeval.run.settings import RunSettings
from pytest_voiceeval.run.summary import summary_text
from pytest_voiceeval.scenarios.base import Scenario
from pytest_voiceeval.testing import FakeBot, MemoryConnection, Utterance, VirtualClock, exit_message

SETTINGS = RunSettings()


class Listening:
    """An endpoint whose bot is a fake."""

    clocks = ("real",)

    def __init__(self, side: Side, bot: FakeBot) -> None:
        self.side = side
        self.label = f"fake {side}"
        self._bot = bot

    def open(self, scenario: Scenario) -> AbstractAsyncContextManager[str]:
        return self._bot.serve()

    def close(self) -> None:
        pass


def canned(**changes: Any) -> Conversation:
    begin = datetime(2026, 1, 2, 3, 4, 5)
    conversation = Conversation(
        scenario_name="run__tea",
        turns=(
            Turn(AGENT, 0.5, 1.5, "Hi."),
            Turn(USER, 2.0, 3.7, "Tea,\nplease."),
            Turn(AGENT, 5.0, 6.0, "", spoken_at=4.95),
            Turn(USER, 6.5, 7.0, "Thank", cut_off=True),
        ),
        stop_reason=StopReason.EXIT,
        started_at=begin,
        ended_at=begin + timedelta(seconds=9),
        recording=Recording(bytes(4 * 16000), 16000),
        agent=SideEvidence(
            actions=(), db_hash="ab", context=[{"role": "assistant"}], tokens=TokenUsage(3, 20, 10)
        ),
        pushed=('{"drink": "tea"}',),
        events=("[AGENT EVENT] type=bot-started-speaking",),
    )
    return replace(conversation, **changes)


def read(path: Path) -> Any:
    def refuse(word: str) -> None:
        raise AssertionError(f"{path}: {word}")

    return json.loads(path.read_text(encoding="utf-8"), parse_constant=refuse)


def test_a_call_leaves_its_evidence_and_passes(tmp_path: Path) -> None:
    agent = FakeBot(
        AGENT, [Utterance("Welcome.", 0.4, 300), Utterance("Bye.", 0.4, 350, late_sends=(exit_message(),))]
    )
    user = FakeBot(USER, [Utterance("Tea please.", 0.4, 500)])
    conversation = hold(
        Tea(), user=Listening(USER, user), agent=Listening(AGENT, agent), settings=SETTINGS, folder=tmp_path
    )
    assert conversation.stop_reason is StopReason.EXIT
    assert {path.name for path in tmp_path.iterdir()} >= {
        "scenario_config",
        "conversation_log.txt",
        "conversation_log.seglst.json",
        "conversation_log.wav",
        "bridge_log.txt",
        "final_agent_response.json",
        "bot_logs_agent",
        "bot_logs_user",
        "bot_log.txt",
    }
    with wave.open(str(tmp_path / "conversation_log.wav")) as wav:
        assert (wav.getnchannels(), wav.getsampwidth(), wav.getframerate()) == (2, 2, 16000)
        assert wav.getnframes() / 16000 == pytest.approx(conversation.duration_seconds)
    assert read(tmp_path / "scenario_config" / "metadata.json")["name"] == "run__tea"


def test_a_bot_that_is_not_there_is_named(tmp_path: Path) -> None:
    class Nowhere(Listening):
        def open(self, scenario: Scenario) -> Any:
            class Gone:
                async def __aenter__(self) -> str:
                    return "ws://127.0.0.1:9"

                async def __aexit__(self, *exc: object) -> None:
                    pass

            return Gone()

    user = Listening(USER, FakeBot(USER, [Utterance("Tea please.", 0.4, 500)]))
    agent = Nowhere(AGENT, FakeBot(AGENT, [Utterance("x", 0.4, 300)]))
    with pytest.raises(BotUnreachableError, match=r"ws://127\.0\.0\.1:9"):
        hold(Tea(), user=user, agent=agent, settings=SETTINGS, folder=tmp_path)


def test_a_call_without_a_limit_is_refused() -> None:
    class Endless(Tea):
        name = "run__endless"
        max_duration = None

    with pytest.raises(DefinitionError, match=r"test_run_evaluate\.py:\d+: .*no time limit"):
        SETTINGS.seconds_for(Endless())
    assert replace(SETTINGS, max_duration=2).seconds_for(Endless()) == 2.0


@pytest.mark.parametrize("limit", ["long", True, [60]], ids=str)
def test_a_limit_that_is_no_number_is_told_with_file_line_and_remedy(limit: Any) -> None:
    class Long(Tea):
        name = "run__long"
        max_duration = limit

    message = (
        r"test_run_evaluate\.py:\d+: max_duration of scenario 'run__long' is .*; write a number of seconds"
    )
    with pytest.raises(DefinitionError, match=message):
        SETTINGS.seconds_for(Long())


def test_metrics_have_the_keys_of_the_reference_in_its_order(tmp_path: Path) -> None:
    metrics = evaluate_conversation(Tea(), canned(), settings=SETTINGS, folder=tmp_path)
    assert metrics.successful
    content = read(tmp_path / "metrics.json")
    assert content == metrics.json
    assert list(content)[:14] == [
        "total_turns",
        "duration_seconds",
        "turns",
        "latency_stats",
        "latencies",
        "scenario_name",
        "scenario_directory",
        "scenario_duration",
        "stop_reason",
        "clean_exit",
        "is_action_match",
        "token_usage",
        "success_breakdown",
        "is_successful",
    ]
    assert content["total_turns"] == 3
    assert content["turns"][2] == {
        "timestamp": "2026-01-02T03:04:10",
        "role": "agent",
        "text": "[INTERRUPTED]",
    }
    assert content["latency_stats"]["mean_ms"] == pytest.approx(1250)
    assert content["scenario_duration"] == 9.0
    assert content["is_task_successful"] is True
    assert content["token_usage"]["agent"] == {"n_calls": 3, "prompt": 20, "completion": 10}
    assert content["clock"] == "real"


def test_what_the_agents_tools_answered_with_an_error_is_in_the_metrics(tmp_path: Path) -> None:
    context = [
        {"role": "assistant", "tool_calls": [{"id": "1", "function": {"name": "OrderTool"}}]},
        {"role": "tool", "tool_call_id": "1", "content": '{"error": "division by zero"}'},
    ]
    raised = canned(agent=SideEvidence(actions=(), context=context))
    metrics = evaluate_conversation(Tea(), raised, settings=SETTINGS, folder=tmp_path)
    assert metrics.json["tool_errors"] == [{"tool": "OrderTool", "answer": '{"error": "division by zero"}'}]


def test_what_was_not_measured_is_null(tmp_path: Path) -> None:
    silent = canned(turns=(), recording=Recording(b"", 16000), stop_reason=StopReason.INACTIVITY)
    evaluate_conversation(Tea(), silent, settings=SETTINGS, folder=tmp_path)
    content = read(tmp_path / "metrics.json")
    assert content["latency_stats"] == {
        "count": 0,
        "mean_ms": None,
        "p50_ms": None,
        "p95_ms": None,
        "min_ms": None,
        "max_ms": None,
    }
    assert content["clean_exit"] is False
    assert not (tmp_path / "conversation_log.wav").exists()


def test_quantiles_are_interpolated() -> None:
    stats = latency_stats([4.0, 1.0, 2.0, 3.0])
    assert (stats["p50_ms"], stats["p95_ms"], stats["mean_ms"]) == (2.5, pytest.approx(3.85), 2.5)


def test_the_transcript_has_its_shape() -> None:
    assert transcript_text(canned()).splitlines()[1:] == [
        "=" * 80,
        "Start Time: 2026-01-02T03:04:05",
        "=" * 80,
        "",
        "[  0.500s -   1.500s] (1.000s) AGENT: Hi.",
        "[  2.000s -   3.700s] (1.700s) USER: Tea, please.",
        "[  5.000s -   6.000s] (1.000s) AGENT: [INTERRUPTED]",
        "  → Response latency: 1250.0ms",
        "[  6.500s -   7.000s] (0.500s) USER: Thank",
        "",
        "",
        "=" * 80,
        "End time: 2026-01-02T03:04:14",
        "Stop reason: [EXIT]",
        "=" * 80,
    ]


def test_evidence_files_hold_what_the_bots_told(tmp_path: Path) -> None:
    write_evidence(canned(), tmp_path)
    assert read(tmp_path / "final_agent_response.json") == [{"drink": "tea"}]
    assert (tmp_path / "final_scenario_db_hash.txt").read_text() == "db_hash: ab\n"
    assert read(tmp_path / "bot_logs_agent" / "llm_context.json") == [{"role": "assistant"}]
    assert read(tmp_path / "bot_logs_user" / "llm_context.json") == []
    assert read(tmp_path / "conversation_log.seglst.json")[1] == {
        "session_id": "run__tea",
        "words": "Tea,\nplease.",
        "speaker": "user",
        "start_time": 2.0,
        "end_time": 3.7,
    }
    pulled = canned(agent=SideEvidence(actions=(ActionRecord(AGENT, {"name": "x"}),)))
    write_evidence(pulled, tmp_path)
    assert read(tmp_path / "final_agent_response.json") == [{"actions": [{"side": "agent", "name": "x"}]}]
    assert not list(tmp_path.glob("**/*.part"))


def test_a_user_sink_of_loguru_stays(tmp_path: Path) -> None:
    from loguru import logger  # noqa: PLC0415

    lines: list[str] = []
    mine = logger.add(lines.append, format="{message}")
    try:
        agent = FakeBot(AGENT, [Utterance("Bye.", 0.3, 350, late_sends=(exit_message(),))])
        user = FakeBot(USER, [])
        hold(
            Tea(),
            user=Listening(USER, user),
            agent=Listening(AGENT, agent),
            settings=SETTINGS,
            folder=tmp_path,
        )
        logger.info("still here")
    finally:
        logger.remove(mine)
    assert any("still here" in line for line in lines)


def test_evidence_tells_whether_a_call_ended_or_was_broken_off(tmp_path: Path) -> None:
    assert not has_ended(tmp_path)
    for reason in StopReason:
        write_evidence(canned(stop_reason=reason), tmp_path)
        assert has_ended(tmp_path) == (reason is not StopReason.CANCELLED)


def test_the_transcript_is_known_by_its_first_line() -> None:
    assert transcript_text(canned()).startswith("RTVI Evaluation Bridge - Conversation Log\n====")


def test_values_of_others_never_cost_the_evidence(tmp_path: Path) -> None:
    odd = {"name": "x", "arguments": {"price": float("nan"), 3: "\ud800"}}
    conversation = canned(
        agent=SideEvidence(
            actions=(ActionRecord(AGENT, odd),),
            context=[{"role": "assistant", "content": "\udfff", "score": float("-inf")}],
        ),
        turns=(Turn(AGENT, 0.5, 1.5, "half \ud83d"),),
        events=("an event \ud83d",),
    )
    evaluate_conversation(Tea(), conversation, settings=SETTINGS, folder=tmp_path)
    assert read(tmp_path / "final_agent_response.json") == [
        {"actions": [{"side": "agent", "name": "x", "arguments": {"price": None, "3": "\\ud800"}}]}
    ]
    assert read(tmp_path / "bot_logs_agent" / "llm_context.json")[0]["score"] is None
    assert read(tmp_path / "metrics.json")["turns"][0]["text"] == "half \\ud83d"


def test_evidence_that_a_signal_needs_and_no_bot_gave_is_an_error_and_leaves_no_metrics(
    tmp_path: Path,
) -> None:
    gone = canned(agent=SideEvidence(pull_error="no answer within 10 s"), pushed=())
    with pytest.raises(BotRefusedError, match="could not be pulled: no answer within 10 s"):
        evaluate_conversation(Tea(), gone, settings=SETTINGS, folder=tmp_path)
    assert not (tmp_path / "metrics.json").exists()
    assert (tmp_path / "conversation_log.txt").exists()


def test_an_agent_that_died_with_its_evidence_fails_and_the_message_says_so(tmp_path: Path) -> None:
    died = canned(
        agent=SideEvidence(pull_error="nothing listens"), pushed=(), stop_reason=StopReason.AGENT_HANGUP
    )
    metrics = evaluate_conversation(Tea(), died, settings=SETTINGS, folder=tmp_path)
    assert metrics.verdict is Verdict.FAILED
    text = failure_text(metrics)
    assert "the agent hung up, and what it recorded could not be pulled: nothing listens" in text
    assert "  evidence of the agent is missing: nothing listens" in text


@pytest.mark.parametrize(
    ("last", "seconds", "counts"),
    [
        pytest.param(Turn(USER, 3.0, 4.9, "a", cut_off=True), 5.0, False, id="the call ended in it"),
        pytest.param(Turn(USER, 3.0, 5.0, "a"), 5.0, True, id="it ended with the call"),
        pytest.param(Turn(USER, 3.0, 3.0, "a", cut_off=True), 60.0, False, id="never heard"),
        pytest.param(Turn(USER, 3.0, 4.0, "a", cut_off=True), 60.0, True, id="stopped, then silence"),
    ],
)
def test_a_last_turn_counts_if_it_came_to_an_end(last: Turn, seconds: float, counts: bool) -> None:
    recording = Recording(bytes(4 * int(seconds * 16000)), 16000)
    conversation = canned(turns=(Turn(AGENT, 0.5, 2.0, "b"), last), recording=recording)
    assert (last in counted_turns(conversation)) is counts


def test_a_last_turn_that_was_barged_into_and_stopped_counts() -> None:
    barged = Turn(AGENT, 0.5, 3.0, "a", cut_off=True)
    turns = (barged, Turn(USER, 2.8, 6.0, "b"))
    recording = Recording(bytes(4 * 6 * 16000), 16000)
    assert counted_turns(canned(turns=turns, recording=recording)) == list(turns)


def test_an_answer_to_a_turn_that_nobody_heard_has_no_latency_in_the_transcript() -> None:
    turns = (
        Turn(USER, 1.0, 1.0, "unheard"),
        Turn(AGENT, 2.0, 3.0, "What?"),
        Turn(USER, 4.0, 5.0, "Tea."),
        Turn(AGENT, 5.5, 6.0, "Sure."),
    )
    lines = list(transcript_lines(turns))
    assert [line for line in lines if "latency" in line] == ["  → Response latency: 500.0ms"]
    assert "latency" in lines[-1]


def test_durations_and_times_are_those_of_the_calls_clock(tmp_path: Path) -> None:
    agent = FakeBot(
        AGENT, [Utterance("Welcome.", 30, 300), Utterance("Bye.", 30, 350, late_sends=(exit_message(),))]
    )
    user = FakeBot(USER, [Utterance("Tea please.", 30, 500)])

    async def call() -> Conversation:
        return await hold_call(
            Tea(),
            user=Peer(USER, "ws://user", "user"),
            agent=Peer(AGENT, "ws://agent", "agent"),
            settings=CallSettings(max_duration=600, opener=opener, clock="virtual"),
        )

    async def opener(url: str, limit: float) -> MemoryConnection:
        return await (agent if "agent" in url else user).open(url, limit)

    conversation = VirtualClock().run(call())
    content = evaluate_conversation(Tea(), conversation, settings=SETTINGS, folder=tmp_path).json
    assert content["duration_seconds"] > 90
    assert content["scenario_duration"] == pytest.approx(content["duration_seconds"], abs=2)
    end = datetime.fromisoformat(content["turns"][-1]["timestamp"]) - conversation.started_at
    assert end.total_seconds() == pytest.approx(conversation.turns[-1].start, abs=1e-3)
    summary = summary_text([content], Tally(1, errors=0, skipped=0))
    assert f"  Turns/min: {3 / content['scenario_duration'] * 60:.1f}" in summary
