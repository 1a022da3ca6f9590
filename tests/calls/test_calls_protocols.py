"""Spoken calls with pipecat bots that know nothing of scenarios, over each protocol."""

from __future__ import annotations

import asyncio
import json
import shlex
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("piper", reason="the extra 'local' is not installed")
pytest.importorskip("faster_whisper", reason="the extra 'local' is not installed")
pytest.importorskip("uvicorn", reason="the extra 'dev' is not installed")

from pytest_voiceeval.bots.launch import CommandBot
from pytest_voiceeval.bridge import setup
from pytest_voiceeval.model.turns import AGENT

pytestmark = pytest.mark.alone

BOT = Path(__file__).parent / "telephone_bot.py"
COMMAND = f"{shlex.quote(sys.executable)} {shlex.quote(str(BOT))} --port {{port}}"

PACK = '''
"""A call to a pizza line."""
from pytest_voiceeval import Actions, Persona, Rehearsal, Resources, Say, Scenario, SuccessSignal, Task
from pytest_voiceeval import register_eval_scenario


@register_eval_scenario
class Order(Scenario):
    """A caller orders a pizza."""

    name = "phone__order"
    success_signals = (SuccessSignal.ACTION_MATCH, SuccessSignal.CLEAN_EXIT)
    reference_answer = {"actions": [{"name": "order", "arguments": {"pizza": "pepperoni"}}]}
    max_duration = 60.0
    user_persona = agent_persona = Persona(role="person")
    user_task = agent_task = Task(goal="a pizza")
    user_actions = agent_actions = Actions()
    user_resources = agent_resources = Resources()
    rehearsal = Rehearsal(user=(Say("I would like a pepperoni pizza, please."),), agent=())
'''


@pytest.fixture(scope="module")
def elsewhere(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Runs the bot all the time; yields its URL, without the place of a protocol."""
    bot = CommandBot(AGENT, COMMAND, tmp_path_factory.mktemp("bot") / "bot.log", path="/pcm")

    async def listening() -> str:
        async with bot.open(None) as url:  # type: ignore[arg-type]  # for no scenario in particular
            await (await bot.connect(url, 60)).close()
            return url.removesuffix("/pcm")

    try:
        yield asyncio.run(listening())
    finally:
        bot.close()


def started(protocol: str) -> list[str]:
    return [f"--voice-agent=cmd:{COMMAND}", f"--voice-agent-path=/{protocol}", "--voice-start-timeout=60"]


@pytest.mark.parametrize("protocol", ["twilio", "pcm", "rtvi"])
def test_a_spoken_call_with_a_pipecat_bot_behind(
    protocol: str, elsewhere: str, pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One of them with a process of its own, the others with one that runs elsewhere."""
    monkeypatch.setattr(setup, "RECOGNITION_SECONDS", 2.0)  # it answers no request, however long one waits
    pytester.makeini("[pytest]\nasyncio_default_fixture_loop_scope = function\nfilterwarnings = error\n")
    folder = pytester.mkdir("scenarios")
    (folder / "phone.py").write_text(PACK, encoding="utf-8")
    (folder / "__init__.py").touch()
    agent = started(protocol) if protocol == "twilio" else [f"--voice-agent={elsewhere}/{protocol}"]
    result = pytester.runpytest_inprocess(
        *("-p", "no:cacheprovider", "--voice-scenarios=phone", "--voice-min-agent-turns=1", "-v"),
        *(*agent, f"--voice-agent-protocol={protocol}"),
    )
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines([f"*black box in 1 scenario(s) ({protocol})*"])
    (path,) = pytester.path.glob("eval_results/*/phone__order/metrics.json")
    metrics = json.loads(path.read_text(encoding="utf-8"))
    assert (metrics["agent_mode"], metrics["agent_protocol"]) == ("black-box", protocol)
    assert metrics["stop_reason"] == "[AGENT_HANGUP]"
    assert metrics["success_breakdown"]["passed"] == ["clean_exit"]
    assert metrics["success_breakdown"]["not_applicable"] == ["is_action_match"]
    assert metrics["skipped_frames"] == {"agent": 0, "user": 0}
    assert {turn["role"] for turn in metrics["turns"]} == {"agent", "user"}
    assert metrics["turns"][-1]["role"] == "agent"
    said = " ".join(turn["text"].lower() for turn in metrics["turns"] if turn["role"] == "agent")
    assert "welcome" in said  # the caller understood the agent
    assert "pepperoni" in said  # the agent understood the caller
    assert metrics["latency_stats"]["count"] >= 1
