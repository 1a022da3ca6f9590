"""What a scenario may decide for itself, from its file to what pytest says; its bots follow a script."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

CONFTEST = '''
"""Bots that follow a script: what the agent pushes and answers is written into the scenario."""
from contextlib import asynccontextmanager

import pytest
from pytest_voiceeval.testing import FakeBot, Utterance, exit_message


class Scripted:
    clocks = ("charged", "real")

    def __init__(self, side):
        self.side, self.label = side, f"scripted {side}"

    @asynccontextmanager
    async def open(self, scenario):
        script = getattr(scenario, f"{self.side}_script", {})
        pushed = script.get("pushes", ())
        sends = tuple({"text": f"<final_response>{text}</final_response>"} for text in pushed)
        lines = {
            "agent": [
                Utterance("Welcome.", 0.3, 300, sends=sends),
                Utterance("Bye.", 0.3, 350, late_sends=(exit_message(),)),
            ],
            "user": [Utterance("One tea, please.", 0.3, 500)],
        }[self.side]
        answers = {"get_scenario_summary": script["summary"]} if "summary" in script else {}
        bot = FakeBot(self.side, lines, answers=answers, answer_after=0.1)
        async with bot.serve() as url:
            yield url

    def close(self):
        pass


@pytest.fixture(scope="session")
def voice_agent():
    return Scripted("agent")


@pytest.fixture(scope="session")
def voice_user():
    return Scripted("user")
'''

HEAD = """
import json
from functools import cached_property
from pytest_voiceeval import Actions, Persona, Resources, Scenario, SuccessSignal, Task
from pytest_voiceeval import get_dict_hash, register_eval_scenario
from pytest_voiceeval.tools import register_db_state_predicate


class Base(Scenario):
    success_signals = (SuccessSignal.ACTION_MATCH, SuccessSignal.CLEAN_EXIT)
    max_duration = 20.0
    reference_answer = {"drink": "Tea"}
    user_persona = agent_persona = Persona(role="person")
    user_task = agent_task = Task(goal="tea")
    user_actions = agent_actions = Actions()
    user_resources = agent_resources = Resources()


def pushes(*answers):
    return {"pushes": [json.dumps(answer) for answer in answers]}


def has(db):
    def summary(arguments):
        found = {"actions": [], "db_hash": get_dict_hash(db)}
        return {**found, "db": db} if arguments["include_db"] else found
    return {"summary": summary}


@register_eval_scenario
class One(Base):
    name = "hooks__one"
"""

Hold = Callable[..., tuple[pytest.RunResult, dict[str, Any]]]


@pytest.fixture
def hold(project: pytest.Pytester, write: Callable[[str, str], Path]) -> Hold:
    """Hold a scenario whose class body is given; returns what pytest said, and the metrics."""
    write("conftest.py", CONFTEST)

    def hold(body: str, *arguments: str) -> tuple[pytest.RunResult, dict[str, Any]]:
        indented = "".join(f"    {line}\n" for line in body.strip("\n").split("\n"))
        write("scenarios/hooks.py", HEAD + indented)
        result = project.runpytest("--voice-scenarios=hooks", "--voice-min-agent-turns=0", *arguments)
        assert "Traceback" not in result.stdout.str()
        (path,) = project.path.glob("eval_results/eval_*/hooks__one/metrics.json")
        return result, json.loads(path.read_text(encoding="utf-8"))

    return hold


def test_a_scenario_may_make_its_own_verdict_of_the_signals(hold: Hold) -> None:
    result, metrics = hold(
        """
agent_script = pushes({"drink": "Coffee"})

def compute_is_successful(self, signals):
    assert signals["is_action_match"] is False
    return signals["clean_exit"]
"""
    )
    result.assert_outcomes(passed=1)
    assert (metrics["is_successful"], metrics["verdict"]) == (True, "passed")
    # The breakdown is what was measured, whatever the scenario makes of it.
    assert metrics["success_breakdown"]["failed"] == ["is_action_match"]
    assert metrics["is_task_successful"] is False


def test_a_verdict_of_its_own_may_fail_what_the_signals_pass(hold: Hold) -> None:
    result, metrics = hold(
        'agent_script = pushes({"drink": "Tea"})\ndef compute_is_successful(self, signals):\n    return False'
    )
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        ["compute_is_successful failed in hooks__one", "  is_action_match    passed", "*artefacts:*"]
    )
    assert metrics["is_successful"] is False
    assert metrics["success_breakdown"]["failed"] == []


def test_a_verdict_of_its_own_may_say_that_nothing_applies(hold: Hold) -> None:
    result, metrics = hold('def compute_is_successful(self, signals):\n    return "N/A"', "-rs")
    result.assert_outcomes(skipped=1)
    assert metrics["is_successful"] == "N/A"
    assert "is_task_successful" not in metrics


def test_success_signals_may_be_computed_for_each_scenario(hold: Hold) -> None:
    result, metrics = hold(
        """
agent_script = pushes({"drink": "Coffee"})

@cached_property
def success_signals(self):
    return (SuccessSignal.CLEAN_EXIT, *([SuccessSignal.NL_ASSERTION] if self.nl_assertions else []))
"""
    )
    result.assert_outcomes(passed=1)
    assert metrics["success_breakdown"] == {
        "passed": ["clean_exit"],
        "failed": [],
        "not_applicable": [],
        "excluded": ["is_action_match"],
    }


@pytest.mark.parametrize(
    ("flags", "given", "passes"),
    [
        ("", "tea", False),
        ("ignore_capitalization = True", "tea", True),
        ("ignore_capitalization = True", "tea!", False),
        ("ignore_punctuation = True", "Tea!", True),
        ("ignore_punctuation = True", "tea!", False),
        ("clean_text = True", " Tea", False),
        ("clean_text = True\nignore_capitalization = True", "TEA", True),
    ],
)
def test_how_texts_are_matched_is_the_scenarios_choice(
    hold: Hold, flags: str, given: str, passes: bool
) -> None:
    _, metrics = hold(f'agent_script = pushes({{"drink": "{given}"}})\n{flags}')
    assert metrics["is_action_match"] is passes


TWO = """
reference_answer = [{"drink": "Tea"}, {"drink": "Milk"}]
agent_script = pushes({"drink": "Tea"}, {"drink": "Gin"}, {"drink": "Milk"})
"""


def test_more_answers_than_asked_for_fail_where_the_scenario_or_the_run_says_so(
    hold: Hold, project: pytest.Pytester
) -> None:
    for number, (more, arguments, passes) in enumerate(
        [("", (), True), ("disallow_extra_items = True", (), False), ("", ("--voice-strict-match",), False)]
    ):
        result, metrics = hold(TWO + more, *arguments)
        result.assert_outcomes(**{"passed" if passes else "failed": 1})
        assert metrics["is_action_match"] is passes
        if not passes:
            result.stdout.fnmatch_lines(["*expected 2 answers and no more, found 3"])
        (project.path / "eval_results").rename(project.path / f"kept{number}")


DB_STATE = """
success_signals = (SuccessSignal.DB_STATE_MATCH, SuccessSignal.CLEAN_EXIT)
reference_answer = None
expected_scenario_db = {"reservations": {"ZFA04V": {"status": "cancelled", "seats": 2}}}
agent_script = has({"reservations": {"ZFA04V": {"status": None, "seats": 2}}})
"""


def test_a_wrong_database_is_told_by_path_in_the_failure(hold: Hold) -> None:
    result, metrics = hold(DB_STATE)
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        [
            "db_state_match failed in hooks__one",
            "  db_state_match     FAILED",
            "      the agent's database, expected → found:",
            '      reservations.ZFA04V.status: "cancelled" → null',
            "  clean_exit         passed",
        ]
    )
    result.stdout.no_fnmatch_line("*seats*")
    assert metrics["db_state_match"] is False
    assert metrics["db_state_expected_hash"] != metrics["db_state_actual_hash"]


def test_assertions_look_at_both_sides_databases_and_each_has_its_verdict(hold: Hold) -> None:
    result, metrics = hold(
        """
domain = "hooks"
success_signals = (SuccessSignal.DB_STATE_ASSERTION, SuccessSignal.CLEAN_EXIT)
reference_answer = None
agent_script = has({"n": 1})
user_script = has({"n": 2})
db_state_assertions = [
    {"side": "agent", "func_name": "count", "arguments": {}, "assert_value": 1},
    {"side": "user", "func_name": "count", "arguments": {"plus": 1}, "assert_value": 4, "message": "more"},
    {"side": "user", "func_name": "cuont", "arguments": {}, "assert_value": 2},
]

@register_db_state_predicate("hooks")
def count(db, plus=0):
    return db["n"] + plus
"""
    )
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        [
            "  db_state_assertion FAILED",
            "      count (user database): expected 4, found 3; more",
            "      cuont (user database): no predicate 'cuont' in domain 'hooks'; registered: count",
        ]
    )
    assert metrics["db_state_assertion_pass_rate"] == pytest.approx(1 / 3)
    assert [
        (v["side"], v["passed"], v["expected"], v["actual"]) for v in metrics["db_state_assertion_verdicts"]
    ] == [("agent", True, 1, 1), ("user", False, 4, 3), ("user", False, 2, None)]


def test_a_fixture_may_leave_figures_of_the_agent_as_the_readme_shows(
    hold: Hold, write: Callable[[str, str], Path]
) -> None:
    readme = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")
    shown = readme[readme.index("@pytest.fixture\ndef voice_conversation(") :].partition("```")[0]
    server = "class Server:\n    def traces_as_json(self):\n        return '{\"ttfb\": 0.2}'\n"
    fixture = "@pytest.fixture\ndef my_server():\n    return Server()\n"
    write("scenarios/conftest.py", f"import pytest\n\n{server}\n{fixture}\n{shown}")
    _, metrics = hold("pass")
    assert metrics["trace_metrics"] == {"ttfb": 0.2}


LETS_GO = """
import gc
import weakref
import pytest

RAISED = []

class Broken(Exception):
    pass

def broken():
    error = Broken("no line")
    RAISED.append(weakref.ref(error))
    raise error

@pytest.fixture
def voice_conversation():
    broken()

@pytest.fixture(scope="module")
def voice_user():
    broken()

def pytest_sessionfinish(session):
    gc.collect()
    print("raised", len(RAISED), "kept", sum(ref() is not None for ref in RAISED))
"""


def test_what_broke_a_fixture_is_kept_no_longer_than_the_fixture(
    project: pytest.Pytester, write: Callable[[str, str], Path]
) -> None:
    write("conftest.py", LETS_GO)
    write(
        "tests/test_by_hand.py",
        "import pytest\n\npytestmark = pytest.mark.voice_scenario('shop__good')\n\n"
        "def test_one(voice_user):\n    pass\n\n"
        "def test_two(voice_user):\n    pass\n\n"
        "def test_three(voice_conversation):\n    pass\n",
    )
    # A run within this process, and pytest-rerunfailures, keep exceptions for themselves.
    result = project.runpytest_subprocess("tests/test_by_hand.py", "-s", "-p", "no:rerunfailures")
    result.assert_outcomes(errors=3)
    result.stdout.fnmatch_lines(
        ["*raised 2 kept 0", "voice scenarios: 0 passed, 0 failed, 0 skipped, 3 errors"]
    )
