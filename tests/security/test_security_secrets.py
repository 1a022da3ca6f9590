"""Secrets stay where they are: no file, output, report or argument of a process has them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from pytest_voiceeval import RemoteBot
from pytest_voiceeval.bots.model_access import ModelAccess
from pytest_voiceeval.bridge.endpoint import Peer

CANARY = "canary-Zx81"
"""Part of every secret."""

SCENARIO = """
from pytest_voiceeval import Actions, Persona, Resources, Scenario, SuccessSignal, Task
from pytest_voiceeval import register_eval_scenario


class Base(Scenario):
    success_signals = (SuccessSignal.CLEAN_EXIT,)
    max_duration = 5.0
    user_persona = agent_persona = Persona(role="person")
    user_task = agent_task = Task(goal="tea")
    user_actions = agent_actions = Actions()
    user_resources = agent_resources = Resources()


@register_eval_scenario
class Tea(Base):
    name = "shop__tea"


@register_eval_scenario
class Coffee(Base):
    name = "shop__coffee"
    success_signals = (SuccessSignal.JUDGE_PASSED,)
    reference_answer = "tea"
"""

CONFTEST = """
import pytest
from pytest_voiceeval.testing import FakeBot, Utterance, exit_message


ORDER = {"text": '{"drink": "tea"}'}


class Fake:
    clocks = ("real",)

    def __init__(self, side, line):
        self.side, self.label, self.line = side, f"fake {side}", line

    def open(self, scenario):
        return FakeBot(self.side, [self.line] * 3, answer_after=0.1).serve()

    def close(self):
        pass


@pytest.fixture(scope="session")
def voice_user():
    return Fake("user", Utterance("Hello.", 0.1, 500))


@pytest.fixture
def voice_agent(voice_agent, voice_scenario):
    if voice_scenario.name == "shop__coffee":
        return Fake("agent", Utterance("Bye.", 0.2, 300, (ORDER,), (exit_message(),)))
    return voice_agent
"""


def files_with_canary(folder: Path) -> Iterator[str]:
    """Yield the files below ``folder`` in which a secret stands."""
    for path in sorted(folder.rglob("*")):
        if path.is_file() and CANARY.encode() in path.read_bytes():
            yield str(path.relative_to(folder))


@pytest.fixture
def project(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> pytest.Pytester:
    monkeypatch.setenv("PYTEST_ADDOPTS", "-p no:asyncio -p no:anyio -p no:hypothesispytest -p no:timeout")
    for name in ("OPENAI_API_KEY", "JUDGE_API_KEY", "MY_SERVICE_TOKEN"):
        monkeypatch.setenv(name, f"{CANARY}-{name.lower()}")
    pytester.mkdir("scenarios")
    (pytester.path / "scenarios" / "shop.py").write_text(SCENARIO, encoding="utf-8")
    (pytester.path / "conftest.py").write_text(CONFTEST, encoding="utf-8")
    pytester.makeini("[pytest]\n")
    return pytester


@pytest.mark.parametrize(
    "agent",
    [
        f"ws://somebody:{CANARY}-password@127.0.0.1:9/?token={CANARY}-token&x=1",
        f"ws://127.0.0.1:9/agent?api_key={CANARY}-key",
    ],
)
def test_no_secret_gets_out_however_much_is_told(project: pytest.Pytester, agent: str) -> None:
    pytest.importorskip("allure")
    result = project.runpytest_subprocess(
        "--voice-scenarios=shop",
        f"--voice-agent={agent}",
        "--voice-judge-url=http://127.0.0.1:9/v1",
        "--voice-judge-model=m",
        "--voice-judge-timeout=5",
        "--voice-min-agent-turns=0",
        "--voice-judge-include-conversation",
        *("-vv", "--showlocals", "--tb=long", "-rA", "--junitxml=out/it.xml", "--alluredir=out/allure"),
    )
    result.assert_outcomes(errors=2)
    assert CANARY not in result.stdout.str() + result.stderr.str()
    assert list(files_with_canary(project.path)) == []


def test_an_error_of_usage_shows_no_secret(project: pytest.Pytester) -> None:
    for option in (
        f"--voice-agent=http://somebody:{CANARY}@127.0.0.1:9",
        f"--voice-agent=ws://127.0.0.1:nine/?token={CANARY}",
        f"--voice-judge-url=http://somebody:{CANARY}@127.0.0.1:9/v1",
    ):
        result = project.runpytest("--voice-scenarios=shop__tea", option)
        assert result.ret == pytest.ExitCode.USAGE_ERROR, option
        assert CANARY not in result.stdout.str() + result.stderr.str()


def test_settings_and_endpoints_show_no_secret_of_theirs() -> None:
    url = f"ws://somebody:{CANARY}@127.0.0.1:9/?token={CANARY}"
    shown = [
        repr(RemoteBot("agent", url)),
        RemoteBot("agent", url).label,
        repr(Peer("agent", url, "label")),
        Peer("agent", url, "label").shown,
        repr(ModelAccess("http://127.0.0.1:9", "m", CANARY)),
    ]
    assert [text for text in shown if CANARY in text] == []
