"""The speech cache in a whole call: the same to the bit, whether the lines are kept or not."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

pytest.importorskip("piper", reason="the extra 'local' is not installed")
pytest.importorskip("faster_whisper", reason="the extra 'local' is not installed")

GREETING = '''
from pytest_voiceeval import Actions, Persona, Rehearsal, Resources, Say, Scenario, SuccessSignal, Task, Use
from pytest_voiceeval import register_eval_scenario


@register_eval_scenario
class Greeting(Scenario):
    """Two people greet each other."""

    name = "greeting__short"
    max_duration = 60.0
    success_signals = (SuccessSignal.CLEAN_EXIT,)
    user_persona = agent_persona = Persona(role="person")
    user_task = agent_task = Task(goal="greet")
    user_actions = agent_actions = Actions()
    user_resources = Resources()
    agent_resources = Resources(tools={"EndConversationTool": {}})
    rehearsal = Rehearsal(
        user=(Say("Good morning to you. Are you open today?"), Say("Thank you and goodbye.")),
        agent=(Say("Good morning and welcome."), Say("Yes, until noon."), Use("EndConversationTool")),
    )
'''


def test_a_call_is_the_same_with_the_cache_cold_and_warm(pytester: pytest.Pytester) -> None:
    pytester.makeini(
        "[pytest]\nasyncio_default_fixture_loop_scope = function\nfilterwarnings = error\n"
        "voice_cache_dir = kept\n"
    )
    pytester.mkdir("scenarios").joinpath("greeting.py").write_text(GREETING, encoding="utf-8")
    before: dict[Path, int] = {}
    for run in (pytester.runpytest_inprocess, pytester.runpytest_subprocess):
        result = run("-p", "no:cacheprovider", "--voice-scenarios=greeting")
        result.assert_outcomes(passed=1)
        kept = {file: file.stat().st_mtime_ns for file in pytester.path.glob("kept/*/*")}
        assert len(kept) >= 2
        assert before in ({}, kept)
        before = kept
    cold, warm = sorted(pytester.path.glob("eval_results/eval_*/greeting__short"))
    for name in ("conversation_log.wav", "conversation_log.seglst.json"):
        assert (cold / name).read_bytes() == (warm / name).read_bytes()
    latencies, again = (
        json.loads((call / "metrics.json").read_text(encoding="utf-8"))["latencies"] for call in (cold, warm)
    )
    assert latencies
    assert latencies == again
