"""Spoken calls with pipecat bots that know nothing of scenarios, over each protocol."""

from __future__ import annotations

import json
import shlex
import sys
from pathlib import Path

import pytest

pytest.importorskip("piper", reason="the extra 'local' is not installed")
pytest.importorskip("faster_whisper", reason="the extra 'local' is not installed")
pytest.importorskip("uvicorn", reason="the extra 'dev' is not installed")

BOT = Path(__file__).parent / "telephone_bot.py"

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
    rehearsal = Rehearsal(user=(Say("I would like a large pepperoni pizza, please."),), agent=())
'''


@pytest.mark.parametrize("protocol", ["twilio", "pcm", "rtvi"])
def test_a_spoken_call_with_a_pipecat_bot_behind(protocol: str, pytester: pytest.Pytester) -> None:
    pytester.makeini("[pytest]\nasyncio_default_fixture_loop_scope = function\nfilterwarnings = error\n")
    folder = pytester.mkdir("scenarios")
    (folder / "phone.py").write_text(PACK, encoding="utf-8")
    (folder / "__init__.py").touch()
    command = f"{shlex.quote(sys.executable)} {shlex.quote(str(BOT))} --port {{port}} --protocol {protocol}"
    result = pytester.runpytest_subprocess(
        *("-p", "no:cacheprovider", "--voice-scenarios=phone", "--voice-min-agent-turns=1", "-v"),
        *(f"--voice-agent=cmd:{command}", f"--voice-agent-protocol={protocol}", "--voice-start-timeout=60"),
        timeout=200,
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
