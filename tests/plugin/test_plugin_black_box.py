"""Scenarios held with an agent that is a black box, on virtual time."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

ENDPOINTS = '''
import pytest
from pytest_voiceeval.testing import FakeBot, FakeJudge, FakeTwilioAgent, Utterance
from pytest_voiceeval.wire.dialect import Dialect


class Fake:
    """An endpoint with a scripted bot of its own for each call."""

    clocks = ("charged", "real")

    def __init__(self, side, make, dialect):
        self.side, self.label, self.dialect, self._make = side, f"fake {side}", dialect, make

    def open(self, scenario):
        return self._make().serve()

    def close(self):
        pass


LINES = [Utterance("Welcome.", 1.0), Utterance("Good bye.", 0.8)]


@pytest.fixture(scope="session")
def voice_agent():
    return Fake("agent", lambda: FakeTwilioAgent(LINES, hangs_up=True), Dialect("twilio", "auto"))


@pytest.fixture(scope="session")
def voice_user():
    return Fake("user", lambda: FakeBot("user", [Utterance("One tea, please.", 1.2)]), Dialect())
'''

SHOP = """
from pytest_voiceeval import Actions, Persona, Resources, Scenario, Task, register_eval_scenario


class Shop(Scenario):
    max_duration = 60.0
    reference_answer = {"items": [{"name": "Tea"}]}
    expected_scenario_db = {"tea": 0}
    user_persona = agent_persona = Persona(role="person")
    user_task = agent_task = Task(goal="tea")
    user_actions = agent_actions = Actions()
    user_resources = agent_resources = Resources()


@register_eval_scenario
class Polite(Shop):
    name = "box__polite"
    success_signals = ("is_action_match", "db_state_match", "clean_exit")


@register_eval_scenario
class Inside(Shop):
    name = "box__inside"
    success_signals = ("is_action_match", "db_state_match")
"""


@pytest.fixture
def box(pytester: pytest.Pytester) -> pytest.Pytester:
    pytester.makeini("[pytest]\nasyncio_default_fixture_loop_scope = function\nfilterwarnings = error\n")
    pytester.makeconftest(ENDPOINTS)
    folder = pytester.mkdir("scenarios")
    (folder / "__init__.py").touch()
    (folder / "box.py").write_text(SHOP, encoding="utf-8")
    return pytester


def metrics_of(folder: Path, name: str) -> dict[str, Any]:
    (path,) = folder.glob(f"eval_results/*/{name}/metrics.json")
    content: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return content


def test_what_can_be_heard_is_scored_and_the_rest_is_left_out_with_its_reason(box: pytest.Pytester) -> None:
    result = box.runpytest_subprocess("--voice-scenarios=box__polite", "--voice-min-agent-turns=0")
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(["black box in 1 scenario(s) (twilio): the agent was only called*"])
    metrics = metrics_of(box.path, "box__polite")
    assert (metrics["agent_mode"], metrics["agent_protocol"]) == ("black-box", "twilio")
    assert metrics["success_breakdown"]["passed"] == ["clean_exit"]
    assert metrics["success_breakdown"]["not_applicable"] == ["is_action_match", "db_state_match"]
    for signal in ("is_action_match", "db_state_match"):
        assert metrics["explanations"][signal].startswith("black box: ")
    assert "db_state_match" not in metrics
    assert metrics["is_action_match"] == "N/A"
    assert metrics["pull_errors"] == {}
    assert metrics["latency_stats"]["count"] == 1
    (summary,) = box.path.glob("eval_results/*/all_summary.txt")
    assert "NOTE: black box in 1 scenario(s)" in summary.read_text(encoding="utf-8")


def test_a_scenario_that_nothing_is_left_to_score_by_is_skipped(box: pytest.Pytester) -> None:
    result = box.runpytest_subprocess("--voice-scenarios=box__inside", "--voice-min-agent-turns=0", "-rs")
    result.assert_outcomes(skipped=1)
    result.stdout.fnmatch_lines(["*there is nothing to score by (is_action_match: black box: *"])
    assert metrics_of(box.path, "box__inside")["is_successful"] == "N/A"


def test_a_failure_says_that_the_agent_was_a_black_box(box: pytest.Pytester) -> None:
    box.makeconftest(ENDPOINTS.replace("hangs_up=True", "hangs_up=False"))
    result = box.runpytest_subprocess(
        "--voice-scenarios=box__polite", "--voice-min-agent-turns=0", "--voice-inactivity-timeout=10"
    )
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        ["*clean_exit failed in box__polite*", "*the agent was a black box (twilio): *"]
    )


def test_an_agent_that_sends_into_another_stream_is_told_why_nobody_heard_it(box: pytest.Pytester) -> None:
    deaf = """
class AnotherStream(FakeTwilioAgent):
    async def tell(self, connection, event, content=None):
        self._stream_sid = "MZ0"
        await super().tell(connection, event, content)
"""
    agents = ENDPOINTS.replace("lambda: FakeTwilioAgent", "lambda: AnotherStream")
    box.makeconftest(agents.replace("\n\nLINES", f"\n{deaf}\n\nLINES"))
    result = box.runpytest_subprocess("--voice-scenarios=box__polite", "--voice-inactivity-timeout=10")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        ["*  * message?s? of the agent bot were skipped, the first: a message for the stream 'MZ0'; *"]
    )
    metrics = metrics_of(box.path, "box__polite")
    assert metrics["skipped_frames"]["agent"] > 50
    assert metrics["first_skipped_frames"].keys() == {"agent"}
    assert metrics["first_skipped_frames"]["agent"].startswith("a message for the stream 'MZ0'")


WEARY = '''

import os
from pytest_voiceeval.testing import exit_message

HANGS_UP = Utterance("Good bye.", 0.8, late_sends=(exit_message(),))


def weary():
    """Return an agent that takes scenarios in one of two workers."""
    bot = FakeBot("agent", [HANGS_UP], answer_after=0.1)
    if os.environ.get("PYTEST_XDIST_WORKER") == "gw1":
        bot.answers["reset"] = ValueError("pool exhausted")
    return bot


@pytest.fixture(scope="session")
def voice_agent():
    return Fake("agent", weary, Dialect(mode="auto"))
'''

POLITE = """

@register_eval_scenario
class Civil(Shop):
    name = "box__civil"
    success_signals = ("clean_exit",)
"""


def test_workers_that_found_the_agent_to_be_different_things_are_told(box: pytest.Pytester) -> None:
    pytest.importorskip("xdist")
    box.makeconftest(ENDPOINTS + WEARY)
    shop = box.path / "scenarios" / "box.py"
    shop.write_text(shop.read_text(encoding="utf-8").partition("@register")[0] + POLITE, encoding="utf-8")
    with shop.open("a", encoding="utf-8") as file:
        file.write(POLITE.replace("Civil", "Kind").replace("civil", "kind"))
    result = box.runpytest_subprocess("--voice-scenarios=box", "--voice-min-agent-turns=0", "-n2")
    result.assert_outcomes(passed=2)
    result.stdout.re_match_lines(
        [r"warning: the agent was taken for a black box in 1 scenario\(s\) \(box__\w+\) and evaluated in 1: "]
    )
    (summary,) = box.path.glob("eval_results/*/all_summary.txt")
    assert "WARNING: the agent was taken for a black box in 1" in summary.read_text(encoding="utf-8")
    alone = box.runpytest_subprocess("--voice-scenarios=box", "--voice-min-agent-turns=0")
    alone.assert_outcomes(passed=2)
    alone.stdout.no_fnmatch_line("warning: the agent*")
