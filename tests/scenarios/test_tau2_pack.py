"""Scenarios of tau2, made of tasks that are made up, and of the benchmark's own where they are at hand."""

from __future__ import annotations

import fnmatch
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from pack_play import (
    assert_can_be_spoken,
    assert_gold_passes,
    assert_prompt_is_clean,
    rehearsal_of,
    scores_of,
)
from small_worlds import airline, retail

from pytest_voiceeval import Scenario, Use, load_profile
from pytest_voiceeval.scenarios.packs import builtin_pack
from pytest_voiceeval.scenarios.rehearsal import sabotage
from pytest_voiceeval.world.hashing import get_dict_hash

SHARED = Path(__file__).parents[3] / "shared" / "data"
ABSENT = pytest.mark.skipif(not SHARED.is_dir(), reason=f"{SHARED} is absent")

CANCEL = {"name": "cancel_reservation", "arguments": {"reservation_id": "AAA111"}}
LOOK = {"name": "get_user_details", "arguments": {"user_id": "ada_byron_1000"}, "requestor": "assistant"}
TRANSFER = {"name": "transfer_to_human_agents", "arguments": {"summary": "stuck"}}
RETURN = {
    "name": "return_delivered_order_items",
    "arguments": {"order_id": "#W2", "item_ids": ["m1"], "payment_method_id": "credit_card_1"},
}


def load(file: str) -> ModuleType:
    return builtin_pack().load_file(builtin_pack().root / file)


def scenarios(domain: str, *, judged: bool = False) -> dict[str, Scenario]:
    """Return the scenarios of a domain by name, made of what lies in the data root, and not registered."""
    pack, tools = load("scenarios/_tau2.py"), load(f"tools/{domain}.py")
    fields = {"domain": domain, "TOOLS": tools.TOOLS, "JUDGES_ASSERTIONS": judged}
    base = type("Base", (pack.Tau2Scenario,), fields)
    return {cls.name: cls() for cls in pack.scenarios_of(base, __name__)}


@pytest.mark.parametrize(
    ("variables", "tasks", "told"),
    [
        (
            {},
            '[{"id": "7"}]',
            "the data of tau2_airline can't be used: *tasks.json: 0.user_scenario: Field req",
        ),
        (
            {"EVAL_DATA_ROOT": "/nowhere"},
            "",
            "the data of tau2_airline can't be used: EVAL_DATA_ROOT=/nowhere",
        ),
        ({}, None, "the data of tau2_airline can't be used: *Is a directory: *tasks.json"),
    ],
)
def test_data_that_cannot_be_used_leave_other_domains_alone(
    tmp_path: Path, variables: dict[str, str], tasks: str | None, told: str
) -> None:
    folder = tmp_path / "tau2_airline"
    folder.mkdir()
    (folder / "tasks.json").mkdir() if tasks is None else (folder / "tasks.json").write_text(tasks)
    environment = {**os.environ, "EVAL_DATA_ROOT": str(tmp_path), **variables}
    for name, code in (("restaurant__pizza_pepperoni", 0), ("tau2_airline__7", 1)):
        command = [sys.executable, "-m", "pytest_voiceeval", "describe", name]
        done = subprocess.run(
            command, capture_output=True, text=True, env=environment, check=False, cwd=tmp_path
        )
        assert done.returncode == code, done.stderr
    assert fnmatch.fnmatch(
        done.stderr, f"error: {told}*; get them by `python -m pytest_voiceeval data pull*\n"
    )


def task(task_id: str, *actions: Any, **told: Any) -> dict[str, Any]:
    instructions = {
        "task_instructions": "You are terse.",
        "domain": "some",
        "reason_for_call": f"You want to cancel trip {task_id} of yours. It is the one to Denver.",
        "known_info": "Your id is ada_byron_1000.",
        "unknown_info": None,
    }
    criteria = {"actions": list(actions), "nl_assertions": told.pop("nl_assertions", None)}
    return {
        "id": task_id,
        "description": {"purpose": "none"},
        "user_scenario": {"persona": None, "instructions": instructions | told},
        "evaluation_criteria": criteria,
    }


class Data:
    """A folder of benchmark data."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def write(self, file: str, content: Any) -> None:
        path = self.folder / file
        path.parent.mkdir(parents=True, exist_ok=True)
        text = content if isinstance(content, str) else json.dumps(content)
        path.write_text(text, encoding="utf-8")


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Data:
    monkeypatch.setenv("EVAL_DATA_ROOT", str(tmp_path))
    data = Data(tmp_path)
    data.write("tau2_airline/db.json", airline())
    data.write("tau2_airline/policy.md", "# Policy\n\nBe kind — always.\n")
    data.write("tau2_airline/tasks.json", [task("10", CANCEL), task("9", LOOK), task("2", TRANSFER)])
    data.write("tau2_retail/db.json", retail())
    data.write("tau2_retail/policy.md", "# Policy")
    said = [task("0", RETURN, nl_assertions=["The agent is kind."]), task("1", nl_assertions=[])]
    data.write("tau2_retail/tasks.json", said)
    return data


def test_tasks_are_listed_by_number(data: Data) -> None:
    assert list(scenarios("tau2_airline")) == ["tau2_airline__2", "tau2_airline__9", "tau2_airline__10"]


def test_only_tasks_that_are_meant_to_be_spoken_become_scenarios(data: Data) -> None:
    voices = {"9": {"configs": {"control": {"persona_name": "jane"}}}, "10": {}, "77": {}}
    data.write("tau2_airline/tasks_voice.json", {"base_seed": 1, "configs": voices})
    found = scenarios("tau2_airline")
    labels = {name: scenario.persona_name for name, scenario in found.items()}  # type: ignore[attr-defined]
    assert labels == {"tau2_airline__9": "jane", "tau2_airline__10": None}
    assert "jane" not in found["tau2_airline__9"].get_user_prompt()


def test_a_task_knows_its_splits(data: Data) -> None:
    assert {scenario.splits for scenario in scenarios("tau2_airline").values()} == {None}
    data.write("tau2_airline/split_tasks.json", {"base": ["9", "10"], "test": ["9", "77"]})
    found = {scenario.task_id: scenario.splits for scenario in scenarios("tau2_airline").values()}
    assert found == {"2": frozenset(), "9": {"base", "test"}, "10": {"base"}}


def test_what_is_expected_is_what_the_tasks_own_actions_lead_to(data: Data) -> None:
    found = scenarios("tau2_airline")
    cancelled, looked, handed_over = (found[f"tau2_airline__{number}"] for number in (10, 9, 2))
    db = cancelled.expected_scenario_db
    assert db is not None
    assert db["reservations"]["AAA111"]["status"] == "cancelled"
    assert cancelled.reference_answer["actions"] == [
        {
            "action_type": "cancel_reservation",
            "name": "cancel_reservation",
            "arguments": {"reservation_id": "AAA111"},
            "result": {"reservation_id": "AAA111", "status": "cancelled"},
            "side": "agent",
        }
    ]
    for unchanged in (looked, handed_over):
        assert get_dict_hash(unchanged.expected_scenario_db) == get_dict_hash(airline())
    assert looked.reference_answer == {"actions": []}
    assert [record["name"] for record in handed_over.reference_answer["actions"]] == [TRANSFER["name"]]
    assert cancelled.gold_actions == ({**CANCEL, "requestor": "agent"},)


def test_the_agent_has_the_policy_as_it_stands_and_the_tools_in_order(data: Data) -> None:
    scenario = scenarios("tau2_airline")["tau2_airline__9"]
    prompt = scenario.get_agent_prompt()
    assert prompt.startswith("# Policy\n\nBe kind — always.\n\n## Additional Notes to Follow\n\n")
    assert "EndConversationTool" in prompt
    assert_prompt_is_clean(prompt)
    names = list(json.loads(scenario.get_agent_tools()))
    assert (len(names), names[0], names[-1]) == (15, "GetUserDetailsTool", "EndConversationTool")
    assert json.loads(scenario.get_user_tools()) == {}


def test_a_policy_that_cannot_be_read_is_told_with_its_file(data: Data) -> None:
    scenario = scenarios("tau2_airline")["tau2_airline__9"]
    path = data.folder / "tau2_airline" / "policy.md"
    path.write_bytes(b"caf\xe9")
    with pytest.raises(ValueError, match=f"^{re.escape(str(path))}: 'utf-8' codec.*; pull it again$"):
        scenario.get_agent_prompt()
    path.unlink()
    path.mkdir()
    with pytest.raises(ValueError, match=f"^{re.escape(str(path))}: .*Is a directory.*; pull it again$"):
        scenario.get_agent_prompt()


def test_the_caller_knows_what_the_task_tells(data: Data) -> None:
    data.write("tau2_airline/tasks.json", [task("9", unknown_info="The date."), task("8", known_info=None)])
    found = scenarios("tau2_airline")
    prompt = found["tau2_airline__9"].get_user_prompt()
    assert prompt.startswith("You are a person who phones customer support.\nYou are terse.\n")
    assert "Your goal is to: You want to cancel trip 9 of yours. It is the one to Denver." in prompt
    assert "### Things you know\nYour id is ada_byron_1000.\n\n### Things you don't know\nThe date." in prompt
    assert_prompt_is_clean(prompt)
    assert "Things you" not in found["tau2_airline__8"].get_user_prompt()


def test_the_agents_bot_loads_the_data_and_the_callers_none(data: Data) -> None:
    scenario = scenarios("tau2_airline")["tau2_airline__9"]
    agent: dict[str, Any] = {}
    user: dict[str, Any] = {}
    scenario.setup_shared_state(agent, "agent")
    scenario.setup_shared_state(user, "user")
    assert (agent, user) == ({"db_path": "tau2_airline/db.json"}, {})
    assert scenario.max_duration == 900


def test_assertions_count_only_where_the_domain_says_so(data: Data) -> None:
    judged, plain = scenarios("tau2_retail", judged=True).values()
    assert [signal.value for signal in judged.whitelist] == ["db_state_match", "nl_assertion", "clean_exit"]
    assert judged.nl_assertions == ["The agent is kind."]
    assert [signal.value for signal in plain.whitelist] == ["db_state_match", "clean_exit"]
    assert plain.nl_assertions is None
    for scenario in scenarios("tau2_retail").values():
        assert (scenario.nl_assertions, len(scenario.whitelist)) == (None, 2)


def test_the_rehearsal_does_what_the_task_lists_and_passes(data: Data) -> None:
    for scenario in [*scenarios("tau2_airline").values(), *scenarios("tau2_retail").values()]:
        assert_gold_passes(scenario)
    uses = {
        name: [(line.tool, line.writes, line.ends) for line in rehearsal_of(s).agent if isinstance(line, Use)]
        for name, s in scenarios("tau2_airline").items()
    }
    assert uses == {
        "tau2_airline__2": [("TransferToHumanAgentsTool", False, True)],
        "tau2_airline__9": [("GetUserDetailsTool", False, False), ("EndConversationTool", None, False)],
        "tau2_airline__10": [("CancelReservationTool", True, False), ("EndConversationTool", None, False)],
    }


def test_a_rehearsal_can_be_spoken(data: Data) -> None:
    for name in ("tau2_airline__9", "tau2_airline__10"):
        assert_can_be_spoken(rehearsal_of(scenarios("tau2_airline")[name]))


def test_a_sabotaged_rehearsal_fails_where_something_is_written(data: Data) -> None:
    scenario = scenarios("tau2_airline")["tau2_airline__10"]
    for variant in ("drop-last-write", "wrong-argument", "do-nothing"):
        failed = scores_of(scenario, sabotage(rehearsal_of(scenario), variant)).breakdown.failed
        assert failed == ("db_state_match",)


@pytest.mark.parametrize(
    ("file", "content", "complaint"),
    [
        ("tasks.json", "[", "tasks.json: Expecting value"),
        ("tasks.json", [{"id": 7}], "tasks.json: 0.id: Input should be a valid string"),
        ("tasks.json", {}, "tasks.json: : Input should be a valid list"),
        ("split_tasks.json", {"base": 1}, "split_tasks.json: base: Input should be a valid list"),
        ("tasks_voice.json", {"base_seed": 1}, "tasks_voice.json: 'configs' is missing"),
    ],
)
def test_a_file_that_is_not_as_it_must_be_is_named(
    data: Data, file: str, content: Any, complaint: str
) -> None:
    data.write(f"tau2_airline/{file}", content)
    with pytest.raises(Exception, match=complaint):
        scenarios("tau2_airline")


def test_the_profile_of_the_readme_can_be_loaded() -> None:
    profile = load_profile(str(Path(__file__).parents[2] / "examples" / "tau2" / "model.yaml"))
    assert profile.llm.service == "openai"


WITHOUT_A_TRACE = {"tau2_retail__105"}
"""Their writes are refused on purpose, so that leaving one out makes no difference."""


@ABSENT
@pytest.mark.parametrize(("domain", "number"), [("tau2_airline", 50), ("tau2_retail", 114)])
def test_every_task_of_the_benchmark_can_be_passed_and_failed(
    domain: str, number: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EVAL_DATA_ROOT", str(SHARED))
    found = scenarios(domain)
    assert len(found) == number
    for name, scenario in found.items():
        rehearsal = rehearsal_of(scenario)
        assert scores_of(scenario, rehearsal).breakdown.failed == (), name
        for variant in ("drop-last-write", "wrong-argument"):
            if (changed := sabotage(rehearsal, variant)) != rehearsal:
                passed = not scores_of(scenario, changed).breakdown.failed
                assert passed == (name in WITHOUT_A_TRACE), (name, variant)
