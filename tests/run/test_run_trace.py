"""Figures that an agent leaves of a call, from the file to the metrics."""

from __future__ import annotations

import json
import shlex
import sys
from pathlib import Path

import pytest
from test_run_evaluate import SETTINGS, Listening, Tea, canned, read

from pytest_voiceeval.bots.launch import CommandBot
from pytest_voiceeval.model.stop_reason import StopReason
from pytest_voiceeval.model.turns import AGENT, USER
from pytest_voiceeval.run.evaluate import evaluate_conversation, hold
from pytest_voiceeval.run.trace import MAX_BYTES, trace_metrics
from pytest_voiceeval.testing import FakeBot, Utterance

BOT = """
import asyncio, json, os, sys
from pathlib import Path
from pytest_voiceeval.testing import FakeBot, Utterance, exit_message

calls = 0

def start_anew(arguments):
    bot._next_line = 0
    return True

def summary(arguments):
    global calls
    calls += 1
    if calls < 3:
        Path(os.environ["VOICEEVAL_TRACE_METRICS"]).write_text(json.dumps({"call": calls}))
    return {"actions": [], "db_hash": None}

bot = FakeBot(
    os.environ["VOICEEVAL_SIDE"],
    [Utterance("Hello.", 0.2, 300), Utterance("Bye.", 0.2, 350, late_sends=(exit_message(),))],
    answers={"update_system_prompt": start_anew, "get_scenario_summary": summary},
    answer_after=0.1,
)

async def main():
    async with bot.serve(int(sys.argv[1])):
        await asyncio.Event().wait()

asyncio.run(main())
"""


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def test_the_file_of_the_folder_comes_before_that_of_the_agents_logs(tmp_path: Path) -> None:
    assert trace_metrics(tmp_path) == {}
    write(tmp_path / "bot_logs_agent" / "trace_metrics.json", '{"ttfb": [0.1, null]}')
    assert trace_metrics(tmp_path) == {"trace_metrics": {"ttfb": [0.1, None]}}
    write(tmp_path / "trace_metrics.json", "5")
    assert trace_metrics(tmp_path) == {"trace_metrics": 5}


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("{", "trace_metrics.json is not JSON that can be read: Expecting property name"),
        ("[" * 100_000, "trace_metrics.json is not JSON that can be read"),
        (" " * (MAX_BYTES + 1), f"trace_metrics.json has {MAX_BYTES + 1} bytes, more than {MAX_BYTES}"),
    ],
)
def test_a_broken_file_is_noted_and_ends_nothing(tmp_path: Path, text: str, told: str) -> None:
    write(tmp_path / "trace_metrics.json", text)
    content = evaluate_conversation(Tea(), canned(), settings=SETTINGS, folder=tmp_path).json
    assert content["trace_metrics_error"].startswith(told)
    assert "trace_metrics" not in content
    assert content["is_successful"] is True


def test_a_folder_in_its_place_is_noted_too(tmp_path: Path) -> None:
    (tmp_path / "trace_metrics.json").mkdir()
    assert "trace_metrics_error" in trace_metrics(tmp_path)


def test_they_stand_in_the_metrics_as_they_are_and_as_strict_json(tmp_path: Path) -> None:
    write(tmp_path / "trace_metrics.json", '{"turns": [{"ttfb": 0.25, "odd": NaN}], "x": "é"}')
    content = evaluate_conversation(Tea(), canned(), settings=SETTINGS, folder=tmp_path).json
    keys = list(content)
    assert keys.index("trace_metrics") == keys.index("is_task_successful") + 1
    assert read(tmp_path / "metrics.json")["trace_metrics"] == {
        "turns": [{"ttfb": 0.25, "odd": None}],
        "x": "é",
    }


def test_a_command_leaves_them_call_by_call(tmp_path: Path) -> None:
    """The third call leaves none: what the second one left is not taken for its own."""
    script = tmp_path / "bot.py"
    script.write_text(BOT, encoding="utf-8")
    command = f"{shlex.quote(sys.executable)} {shlex.quote(str(script))} {{port}}"
    agent = CommandBot(AGENT, command, tmp_path / "bot_agent_0.log")
    try:
        for number in (1, 2, 3):
            folder = tmp_path / f"call{number}"
            user = Listening(USER, FakeBot(USER, [Utterance("Tea please.", 0.2, 500)], answer_after=0.1))
            conversation = hold(Tea(), user=user, agent=agent, settings=SETTINGS, folder=folder)
            assert conversation.stop_reason is StopReason.EXIT
            left = folder / "bot_logs_agent" / "trace_metrics.json"
            assert left.exists() is (number < 3)
            if left.exists():
                assert json.loads(left.read_text(encoding="utf-8")) == {"call": number}
    finally:
        agent.close()
