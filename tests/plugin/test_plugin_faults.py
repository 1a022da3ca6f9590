"""Faults as a person sees them: failed or error, whose fault, in which turn; the other results are kept."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET
from collections.abc import Callable
from pathlib import Path

import pytest
from canned_project import run_folder
from leftovers import Possessions

SCENARIOS = '''
"""One scenario a fault."""
from pytest_voiceeval import Actions, Persona, Resources, Scenario, SuccessSignal, Task
from pytest_voiceeval import register_eval_scenario

NAMES = "a_good hangs_up is_mute never_ready refuses_summary user_echoes user_leaves z_good".split()


class Fault(Scenario):
    """Base of all."""

    success_signals = (SuccessSignal.ACTION_MATCH, SuccessSignal.CLEAN_EXIT)
    max_duration = 60.0
    reference_answer = {"actions": [{"name": "brew", "arguments": {}}]}
    user_persona = agent_persona = Persona(role="person")
    user_task = agent_task = Task(goal="tea")
    user_actions = agent_actions = Actions()
    user_resources = agent_resources = Resources()


for name in NAMES:
    register_eval_scenario(type(name, (Fault,), {"name": f"fault__{name}"}))
'''

CONFTEST = '''
"""Bots that go wrong as the scenario says; their calls take no time, as nobody listens."""
import asyncio
import pytest
from pytest_voiceeval.testing import FakeBot, Utterance, exit_message

BREWED = {"get_scenario_summary": {"actions": [{"name": "brew", "arguments": {}}], "db_hash": None}}
WELCOME = "Welcome to the tea shop, what would you like?"


class Dumb(FakeBot):
    async def _answer(self, connection, message):
        return


class HangingUp(FakeBot):
    async def _say(self, connection, line):
        speaking = asyncio.create_task(super()._say(connection, line))
        await asyncio.sleep(0.5)
        speaking.cancel()
        await connection.close()


def lines(side, *texts, **last):
    hz = 300 if side == "agent" else 500
    return [Utterance(t, 1.0, hz, **(last if t == texts[-1] else {})) for t in texts]


def agent(name):
    kind = {"hangs_up": HangingUp, "never_ready": Dumb}.get(name, FakeBot)
    answers = {"get_scenario_summary": ValueError("KeyError: 'db'")} if name == "refuses_summary" else BREWED
    if name == "is_mute":
        said = lines("agent", WELCOME)
    elif name == "user_echoes":
        said = lines("agent", WELCOME, "Could you say that once more?", "I do not understand you, sorry.")
    else:
        said = lines("agent", WELCOME, "Here it is.", "Good bye.", late_sends=(exit_message(),))
    return kind("agent", said, answers=answers)


def user(name):
    if name == "user_echoes":
        return FakeBot("user", lines("user", WELCOME, "Could you say that once more?"))
    return (HangingUp if name == "user_leaves" else FakeBot)("user", lines("user", "Tea, please.", "Thanks."))


class Endpoint:
    clocks = ("charged", "measured", "real")

    def __init__(self, side, make):
        self.side, self.label, self.make = side, f"fake {side}", make

    def open(self, scenario):
        return self.make(scenario.name.removeprefix("fault__")).serve()

    def close(self):
        pass


@pytest.fixture(scope="session")
def voice_agent():
    return Endpoint("agent", agent)


@pytest.fixture(scope="session")
def voice_user():
    return Endpoint("user", user)
'''

SIMULATOR = "  whose fault: the simulated user's; no verdict on the agent"
ENVIRONMENT = "  whose fault: the environment's; no verdict on the agent"
OUTCOMES = {
    "a_good": "passed",
    "hangs_up": "failure",
    "is_mute": "failure",
    "never_ready": "error",
    "refuses_summary": "error",
    "user_echoes": "error",
    "user_leaves": "error",
    "z_good": "passed",
}


def test_faults_are_told_as_what_they_are_and_the_other_results_are_kept(
    project: pytest.Pytester, write: Callable[[str, str], Path]
) -> None:
    write("scenarios/fault.py", SCENARIOS)
    write("conftest.py", CONFTEST)
    project.makeini(
        "[pytest]\nfilterwarnings = error\nvoice_min_agent_turns = 0\nvoice_inactivity_timeout = 20\n"
    )
    before = Possessions.now()
    result = project.runpytest("--voice-scenarios=fault", "--junitxml=junit.xml", "-p", "no:rerunfailures")
    assert Possessions.now().beyond(before) == []
    result.assert_outcomes(passed=2, failed=2, errors=4)
    result.stdout.fnmatch_lines(
        [
            "*ERROR at setup of fault__never_ready*",
            "agent bot at ws://127.0.0.1:* accepted the connection but never said bot-ready: *",
            ENVIRONMENT,
            "  where: before the call began, while the bots were prepared",
            "*ERROR at setup of fault__refuses_summary*",
            "fault__refuses_summary: is_action_match cannot be scored, because *KeyError*",
            ENVIRONMENT,
            '  where: * s into the call, after turn 5, the agent\'s: "Good bye."',
            "  last event: * s, the agent: type=server-message*",
            "*ERROR at setup of fault__user_echoes*",
            "fault__user_echoes: the simulated user repeated the agent word by word in 2 of its 2 turns*",
            SIMULATOR,
            '  where: * s into the call, after turn 5, the agent\'s: "I do not understand you, sorry."',
            "*ERROR at setup of fault__user_leaves*",
            "the user bot at ws://127.0.0.1:* went away: closed with code 1000; expected *",
            SIMULATOR,
            "  where: * s into the call, in turn 2, the user's",
            "  last event: * s, the user: type=bot-started-speaking",
            "*_ fault__hangs_up _*",
            "clean_exit failed in fault__hangs_up",
            "  stop reason: [[]AGENT_HANGUP[]] after * s: the agent went away: closed with code 1000",
            "  where: * s into the call, in turn 1, the agent's",
            "  last event: * s, the agent: type=bot-started-speaking",
            "*_ fault__is_mute _*",
            "  stop reason: [[]INACTIVITY[]] after * s: nobody made a sound for 20 s: the agent *",
            '  where: * s into the call, after turn 2, the user\'s: "Tea, please."',
        ]
    )
    cases = ET.parse(project.path / "junit.xml").iter("testcase")
    found = {str(case.get("name")).removeprefix("fault__"): [child.tag for child in case] for case in cases}
    assert {
        name: next((tag for tag in tags if tag in ("failure", "error")), "passed")
        for name, tags in found.items()
    } == OUTCOMES
    run = run_folder(project.path)
    records = json.loads((run / "all_metrics.json").read_text(encoding="utf-8"))
    assert [record["scenario_name"].removeprefix("fault__") for record in records] == [
        name for name, outcome in OUTCOMES.items() if outcome != "error"
    ]
    endings = {record["scenario_name"]: record.get("ending", {}).get("cause") for record in records}
    assert endings["fault__a_good"] is None
    assert endings["fault__hangs_up"] == "the agent went away: closed with code 1000"
    for name in ("user_leaves", "user_echoes", "refuses_summary"):  # what there was of the call is kept
        assert (run / f"fault__{name}" / "conversation_log.wav").exists()
