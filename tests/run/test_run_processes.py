"""Bots that are processes of ours and die, at whatever moment of a run."""

from __future__ import annotations

import os
import shlex
import signal
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from test_run_evaluate import SETTINGS, Listening, Tea, canned, read

from pytest_voiceeval.bots.launch import CommandBot
from pytest_voiceeval.errors import BotProcessError, BotRefusedError
from pytest_voiceeval.model.conversation import Conversation, SideEvidence
from pytest_voiceeval.model.metrics import Metrics, Verdict
from pytest_voiceeval.model.stop_reason import StopReason
from pytest_voiceeval.model.turns import AGENT, USER, Side
from pytest_voiceeval.report.failure import failure_text
from pytest_voiceeval.report.outcomes import Outcome
from pytest_voiceeval.report.terminal import summary_lines
from pytest_voiceeval.run.evaluate import evaluate_conversation, hold
from pytest_voiceeval.run.retries import hold_until_it_counts
from pytest_voiceeval.run.session import Tally
from pytest_voiceeval.run.summary import summary_text
from pytest_voiceeval.testing import FakeBot, Utterance

BOT = """
import asyncio, os, signal, sys
from pytest_voiceeval.testing import FakeBot, Utterance, exit_message

mode, side, port = sys.argv[1], os.environ["VOICEEVAL_SIDE"], int(sys.argv[2])

class Bot(FakeBot):
    async def _answer(self, connection, envelope):
        if mode == "dies-at-once" and envelope.type == "send-text":  # what the call begins with
            os.kill(os.getpid(), signal.SIGKILL)
        await super()._answer(connection, envelope)

def start_anew(arguments):
    bot._next_line = 0
    return True

def initialize(arguments):
    if mode == "dies-in-set-up":
        print("no world for me", flush=True)
        os._exit(5)
    if mode == "refuses":
        print("I know no such world", flush=True)
        return {"success": False, "errors": ["no"]}
    if mode == "dies-in-call":
        print("about to speak", flush=True)
        asyncio.get_running_loop().call_later(0.8, os.kill, os.getpid(), signal.SIGKILL)
    return {"success": True, "errors": []}

ending, seconds = ((), 9.0) if mode == "dies-in-call" else ((exit_message(),), 0.2)
bot = Bot(
    side,
    [Utterance("Hello.", 0.2, 300), Utterance("Bye now.", seconds, 350, late_sends=ending)],
    answers={"update_system_prompt": start_anew, "apply_initialization": initialize},
    answer_after=0.1,
)

async def main():
    with open("pid", "w") as file:
        file.write(str(os.getpid()))
    async with bot.serve(port):
        await asyncio.Event().wait()

asyncio.run(main())
"""


@pytest.fixture
def process(tmp_path: Path) -> Iterator[Callable[[Side, str], CommandBot]]:
    """Makes bots that are processes; they are gone after the test."""
    script = tmp_path / "bot.py"
    script.write_text(BOT, encoding="utf-8")
    bots: list[CommandBot] = []

    def make(side: Side, mode: str) -> CommandBot:
        command = f"{shlex.quote(sys.executable)} {shlex.quote(str(script))} {mode} {{port}}"
        bots.append(CommandBot(side, command, tmp_path / f"bot_{side}_0.log", cwd=tmp_path))
        return bots[-1]

    yield make
    for bot in bots:
        bot.close()


def fake(side: Side) -> Listening:
    return Listening(side, FakeBot(side, [Utterance("Tea please.", 0.2, 500)], answer_after=0.1))


def held(folder: Path, **bots: Any) -> Conversation:
    user, agent = bots.get("user", fake(USER)), bots.get("agent", fake(AGENT))
    return hold(Tea(), user=user, agent=agent, settings=SETTINGS, folder=folder)


def scored(conversation: Conversation, folder: Path) -> Metrics:
    return evaluate_conversation(Tea(), conversation, settings=SETTINGS, folder=folder)


def test_an_agent_that_is_killed_in_a_call_has_failed_and_left_its_last_words(
    process: Callable[[Side, str], CommandBot], tmp_path: Path
) -> None:
    conversation = held(tmp_path, agent=process(AGENT, "dies-in-call"))
    assert conversation.stop_reason is StopReason.AGENT_HANGUP
    metrics = scored(conversation, tmp_path)
    assert metrics.verdict is Verdict.FAILED
    text = failure_text(metrics)
    assert "stop reason: [AGENT_HANGUP]" in text
    assert "ended in the middle of a call, killed by SIGKILL; expected it to stay in the foreground" in text
    assert "\n  about to speak\n" in text
    assert "about to speak" in read(tmp_path / "metrics.json")["bot_processes"]["agent"]["ended"]


def test_an_agent_that_dies_before_anybody_speaks_has_failed_all_the_same(
    process: Callable[[Side, str], CommandBot], tmp_path: Path
) -> None:
    """Such a call is not held again, as one is in which nobody said anything."""
    agent = process(AGENT, "dies-at-once")
    conversation = hold_until_it_counts(
        Tea(), user=fake(USER), agent=agent, settings=SETTINGS, folder=tmp_path
    )
    assert conversation.retried == ()
    assert conversation.turns == ()
    assert "killed by SIGKILL" in conversation.agent.ended
    assert scored(conversation, tmp_path).verdict is Verdict.FAILED


def test_a_caller_that_is_killed_in_a_call_is_an_error(
    process: Callable[[Side, str], CommandBot], tmp_path: Path
) -> None:
    with pytest.raises(BotProcessError) as caught:
        held(tmp_path, user=process(USER, "dies-in-call"))
    told = str(caught.value)
    assert told.startswith("user bot cmd:")
    assert "ended in the middle of a call, killed by SIGKILL" in told
    assert "about to speak" in told
    assert "whose fault: the simulated user's" in told


@pytest.mark.parametrize("side", [USER, AGENT])
def test_one_that_dies_while_it_is_prepared_is_an_error(
    process: Callable[[Side, str], CommandBot], tmp_path: Path, side: Side
) -> None:
    with pytest.raises(BotProcessError, match=r"(?s)exit code 5; .*no world for me") as caught:
        held(tmp_path, **{side: process(side, "dies-in-set-up")})
    assert "before the call began" in str(caught.value)


def test_the_last_lines_of_one_that_refuses_its_part_are_told(
    process: Callable[[Side, str], CommandBot], tmp_path: Path
) -> None:
    with pytest.raises(BotRefusedError, match=r"(?s)^agent bot at .*refused .*: no; .*I know no such world"):
        held(tmp_path, agent=process(AGENT, "refuses"), user=process(USER, "fine"))


def test_a_crash_between_scenarios_is_mended_once_and_told(
    process: Callable[[Side, str], CommandBot], tmp_path: Path
) -> None:
    agent = process(AGENT, "fine")
    for number in (1, 2, 3):
        folder = tmp_path / f"call{number}"
        metrics = scored(held(folder, agent=agent), folder)
        told = metrics.json.get("bot_processes", {})
        assert told == ({"agent": {"restarted": RESTARTED}} if number == 2 else {})
        if number == 1:
            crash(int((tmp_path / "pid").read_text()))
    crash(int((tmp_path / "pid").read_text()))
    with pytest.raises(
        BotProcessError, match="for the second time in this run, killed by SIGKILL; it is started"
    ):
        held(tmp_path / "call4", agent=agent)


RESTARTED = "its process ended between two scenarios (killed by SIGKILL) and was started again"


def crash(pid: int) -> None:
    os.kill(pid, signal.SIGKILL)
    while Path(f"/proc/{pid}").exists():
        time.sleep(0.02)


def test_the_summary_and_a_failure_tell_of_a_new_start(tmp_path: Path) -> None:
    conversation = canned(agent=SideEvidence(restarted=RESTARTED))
    metrics = scored(conversation, tmp_path)
    assert f"the agent bot was started again before this call: {RESTARTED}" in failure_text(metrics)
    outcome = Outcome("node", "run__tea", "failed", "failed", tmp_path)
    lines = list(summary_lines([outcome], {tmp_path: metrics.json}, tmp_path, Tally(1), full=False))
    assert f"  agent: {RESTARTED}" in lines
    assert "processes of bots started again 1 time(s): agent before run__tea" in lines
    summary = summary_text([metrics.json], Tally(1)).splitlines()
    assert "NOTE: processes of bots started again 1 time(s): agent before run__tea" in summary
    assert f"  Bot started again before this call: agent: {RESTARTED}" in summary


def test_the_summary_tells_of_a_bot_that_ended_in_a_call_without_its_last_words(tmp_path: Path) -> None:
    ended = "agent bot cmd:bot {port}: ended in the middle of a call, exit code 3; expected it to stay"
    metrics = scored(canned(agent=SideEvidence(ended=f"{ended}\nlast words")), tmp_path)
    summary = summary_text([metrics.json], Tally(1))
    assert f"  Bot ended in this call: {ended}\n" in summary
    assert "last words" not in summary
