"""A run whose agent has a real model: its key is told to nobody, whatever the endpoint and the user do."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET

import pytest
from model_double import GOODBYE, ModelDouble, in_a_thread, status

KEY = "canary-80ad-0042-of-a-model"

DESK = """
from pytest_voiceeval import Actions, Persona, Resources, Scenario, SuccessSignal, Task
from pytest_voiceeval import register_eval_scenario
from pytest_voiceeval.testing import FakeBot


class Desk(Scenario):
    domain = "desk"
    success_signals = (SuccessSignal.CLEAN_EXIT,)
    max_duration = 60.0
    user_persona = agent_persona = Persona(role="person")
    user_task = agent_task = Task(goal="talk")
    user_actions = agent_actions = Actions()
    user_resources = Resources()
    agent_resources = Resources(tools={"EndConversationTool": {}})


@register_eval_scenario
class Refused(Desk):
    name = "desk__refused"


@register_eval_scenario
class Served(Desk):
    name = "desk__served"
"""

CONFTEST = """
from contextlib import asynccontextmanager

import pytest

from pytest_voiceeval.testing import FakeBot


class Quiet:
    side, label, clocks = "user", "quiet user", ("measured", "real")

    def open(self, scenario):
        return FakeBot("user").serve()

    def close(self):
        pass


@pytest.fixture(scope="session")
def voice_user():
    return Quiet()
"""

PROFILE = """
stt: {{service: whisper}}
llm: {{service: openai, model: m, base_url: "{base_url}", api_key_env: CANARY_KEY}}
tts: {{service: piper}}
"""


def test_a_refused_key_is_an_error_and_in_no_file_and_no_output(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CANARY_KEY", KEY)
    monkeypatch.setenv("PYTEST_ADDOPTS", "-p no:asyncio -p no:hypothesispytest")
    pytester.makeini("[pytest]\n")
    pytester.makeconftest(CONFTEST)
    pytester.mkdir("scenarios").joinpath("desk.py").write_text(DESK, encoding="utf-8")
    acts = status(401, f"the key {KEY} is wrong"), status(500, f"{KEY} crashed"), GOODBYE
    chosen = "--voice-agent=model.yaml", "--voice-scenarios=desk", "--voice-min-agent-turns=0"
    talkative = "-v", "-rA", "--showlocals", "--log-level=DEBUG", "--log-cli-level=DEBUG"
    written = "--log-file=debug.log", "--junitxml=junit.xml"
    with in_a_thread(ModelDouble(*acts)) as double:
        (pytester.path / "model.yaml").write_text(PROFILE.format(base_url=double.base_url), encoding="utf-8")
        result = pytester.runpytest_subprocess(*chosen, *talkative, *written)
    assert [headers["Authorization"] for headers in double.headers] == [f"Bearer {KEY}"] * 3
    result.assert_outcomes(passed=1, errors=1)
    told = f"model 'm' at {double.base_url}/chat/completions answered 401 Unauthorized: the key <redacted>"
    result.stdout.fnmatch_lines(
        [f"*{told} is wrong; set the environment variable CANARY_KEY to a key that it takes*"]
    )
    (error,) = ET.parse(pytester.path / "junit.xml").getroot().iter("error")
    assert "answered 401 Unauthorized" in f"{error.get('message')} {error.text}"
    assert KEY not in result.stdout.str() + result.stderr.str()
    files = [path for path in pytester.path.rglob("*") if path.is_file()]
    names = {path.name for path in files}
    assert {"junit.xml", "debug.log", "bridge_log.txt", "bot_log.txt", "metrics.json"} <= names
    assert [path for path in files if KEY.encode() in path.read_bytes()] == []
    (metrics,) = pytester.path.rglob("metrics.json")
    notices = json.loads(metrics.read_text(encoding="utf-8"))["endpoint_notices"]
    assert notices == {"user": {}, "agent": {"retry": 1, "recovered": 1}}
