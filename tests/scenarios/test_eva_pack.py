"""eva's airline: scenarios that are made of the records of its dataset."""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from eva_world import eva
from pack_play import assert_prompt_is_clean, rehearsal_of
from pytest_voiceeval.builtin.scenarios import _eva_airline as pack
from pytest_voiceeval.builtin.scenarios import _eva_caller, _eva_plays, _eva_tasks

from pytest_voiceeval import Say, Scenario, SuccessSignal, Use
from pytest_voiceeval.errors import DataMissingError

TOOLS = 15
RECORD: dict[str, Any] = {
    "id": "9.1.2",
    "current_date_time": "2026-05-09 10:45 CST",
    "user_goal": {
        "high_level_user_goal": "You want to fly at 3:00 PM, for at most $1,120 more. You like windows.",
        "starting_utterance": "Hi, I need another flight.",
        "decision_tree": {
            "must_have_criteria": ["It is cheap.", "It is late."],
            "nice_to_have_criteria": ["It is blue."],
            "negotiation_behavior": ["Ask one.", "Ask two.", "Ask three.", "Ask four."],
            "resolution_condition": "It is booked.",
            "failure_condition": "Give up.",
            "escalation_behavior": "Ask for nobody.",
            "edge_cases": [f"Case {number}." for number in range(7)],
        },
        "information_required": {
            "confirmation_number": "ABC123",
            "last_name": "Byron",
            "first_name_if_asked": "Ada",
            "flight_number": "SK200",
            "original_travel_details": [
                {
                    "origin": "DEN",
                    "destination": "SFO",
                    "flight_date": "2026-05-12",
                    "departure_time": "09:00",
                }
            ],
        },
    },
    "user_config": {"name": "Ada Byron", "user_persona": "You are short. " * 40},
    "ground_truth": {"expected_scenario_db": {"session": {}, "reservations": {}}},
}
POLICY = "role: '  You answer for an airline. '\ninstructions: |\n  ## Rules\n\n  Be kind.   \n\n"
Write = Callable[..., None]


@pytest.fixture
def write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Write:
    """Write a dataset: one line for each record, with its database."""
    monkeypatch.setenv("EVAL_DATA_ROOT", str(tmp_path))
    folder = tmp_path / "eva_airline"
    folder.mkdir()
    (folder / "airline_agent.yaml").write_text(POLICY, encoding="utf-8")

    def write(*records: Any) -> None:
        lines = [record if isinstance(record, str) else json.dumps(record) for record in records]
        (folder / _eva_tasks.DATASET).write_text("\n".join(lines) + "\n", encoding="utf-8")
        for record in records:
            if isinstance(record, dict):
                (folder / f"{record['id']}.json").write_text(json.dumps(eva()), encoding="utf-8")

    return write


def record(**changes: Any) -> dict[str, Any]:
    """Return the record with members changed, told by dotted paths with ``__`` for the dots."""
    changed = copy.deepcopy(RECORD)
    for path, value in changes.items():
        *way, last = path.split("__")
        node = changed
        for key in way:
            node = node[key]
        if value is ...:
            del node[last]
        else:
            node[last] = value
    return changed


def scenario_of(write: Write, **changes: Any) -> Scenario:
    write(record(**changes))
    [cls] = pack.scenarios(__name__)
    return cls()


def guidelines(scenario: Scenario) -> list[str]:
    return scenario.user_actions.guidelines[1:]


def test_without_data_the_remedy_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EVAL_DATA_ROOT", str(tmp_path))
    with pytest.raises(DataMissingError, match="the data of eva_airline are not here"):
        list(pack.scenarios(__name__))


def test_five_scenarios_have_names_of_their_own_and_come_first(write: Write) -> None:
    write(*(record(id=task_id) for task_id in ("9.1.2", "7.2.1", "1.1.3", "1.1.2", "5.1.1")))
    assert [(cls.name, cls.task_id) for cls in pack.scenarios(__name__)] == [
        ("eva_airline__voluntary_date_change", "1.1.2"),
        ("eva_airline__cancellation_refund", "5.1.1"),
        ("eva_airline__escalation_edge_case", "7.2.1"),
        ("eva_airline__9_1_2", "9.1.2"),
        ("eva_airline__1_1_3", "1.1.3"),
    ]


def test_a_scenario_is_judged_by_the_database_of_its_record(write: Write) -> None:
    scenario = scenario_of(write)
    assert scenario.whitelist == (SuccessSignal.DB_STATE_MATCH, SuccessSignal.CLEAN_EXIT)
    assert scenario.expected_scenario_db == RECORD["ground_truth"]["expected_scenario_db"]
    assert (scenario.domain, scenario.max_duration) == ("eva_airline", 900)
    assert scenario.reference_answer is scenario.nl_assertions is scenario.gold_actions is None
    assert len(scenario.agent_resources.tools) == TOOLS + 1
    assert list(scenario.agent_resources.tools)[-1] == "EndConversationTool"
    assert not any(scenario.agent_resources.tools.values())
    assert scenario.user_resources.tools == {}


def test_only_the_agent_has_the_database_and_it_travels_as_json(write: Write) -> None:
    scenario = scenario_of(write)
    agent: dict[str, Any] = {}
    user: dict[str, Any] = {}
    scenario.setup_shared_state(agent, "agent")
    scenario.setup_shared_state(user, "user")
    assert user == {}
    assert json.loads(json.dumps(agent)) == {"db": eva()}
    agent["db"]["reservations"].clear()
    again: dict[str, Any] = {}
    scenario.setup_shared_state(again, "agent")
    assert again["db"] == eva()


def test_the_agent_reads_the_policy_and_notes_for_the_phone(write: Write) -> None:
    prompt = scenario_of(write).get_agent_prompt()
    parts = prompt.split("\n\n")
    assert parts[:3] == ["You answer for an airline.", "## Rules", "Be kind."]
    assert parts[3] == "## Additional Notes to Follow"
    assert parts[4] == "Today is 2026-05-09."
    assert len(parts) == 10
    assert "id of a journey" in parts[7]
    assert_prompt_is_clean(prompt)


@pytest.mark.parametrize(
    "policy", [b"\xff", b"role: [", b"role: 2026-13-45", b"5", b"", b"role: x", b"role: 5"]
)
def test_a_policy_that_is_none_is_told_with_its_file(write: Write, tmp_path: Path, policy: bytes) -> None:
    scenario = scenario_of(write)
    path = tmp_path / "eva_airline" / "airline_agent.yaml"
    path.write_bytes(policy)
    told = f"{path}: texts 'role' and 'instructions' are expected ("
    with pytest.raises(ValueError, match=f"^{re.escape(told)}.*; pull it again$"):
        scenario.get_agent_prompt()


def test_a_dataset_that_is_no_text_is_told_with_its_file(write: Write, tmp_path: Path) -> None:
    path = tmp_path / "eva_airline" / _eva_tasks.DATASET
    path.write_bytes(b"caf\xe9")
    with pytest.raises(ValueError, match=f"^{re.escape(str(path))}: 'utf-8' codec"):
        _eva_tasks.read_tasks()


def test_the_caller_is_the_one_of_the_record(write: Write) -> None:
    scenario = scenario_of(write)
    goal = RECORD["user_goal"]["high_level_user_goal"]
    assert scenario.description == goal
    assert scenario.user_persona.name == "Ada Byron"
    assert scenario.user_persona.background == scenario.user_task.goal == goal
    assert len(scenario.user_persona.personality or "") == 300
    assert '"Hi, I need another flight."' in scenario.user_actions.instructions[0]
    assert len(scenario.user_actions.instructions) == 6
    assert_prompt_is_clean(scenario.get_user_prompt().replace(" \n", "\n"))


def test_the_caller_decides_by_the_tree_of_the_record(write: Write) -> None:
    assert guidelines(scenario_of(write)) == [
        "For identification: your confirmation number is ABC123 (spelled out as A, B, C, one, two, three), "
        "your last name is Byron, your first name is Ada.",
        "You are booked from DEN (spelled out as D, E, N) to SFO (spelled out as S, F, O), on 2026-05-12, "
        "departing at 09:00, flight SK200 (spelled out as S, K, two, zero, zero).",
        "Must-have: It is cheap.",
        "Must-have: It is late.",
        "Ask one.",
        "Ask two.",
        "Ask three.",
        *(f"Edge case: Case {number}." for number in range(5)),
        "Failure path: Give up.",
        "Escalation: Ask for nobody.",
    ]


@pytest.mark.parametrize(
    ("key", "fact"),
    [
        *(
            (key, "your confirmation number is XY9 (spelled out as X, Y, nine)")
            for key in _eva_tasks.CONFIRMATION_KEYS
        ),
        *((key, "your last name is XY9") for key in _eva_tasks.LAST_NAME_KEYS),
        *((key, "your first name is XY9") for key in _eva_tasks.FIRST_NAME_KEYS),
    ],
)
def test_the_caller_knows_what_the_record_has_under_any_of_its_keys(
    write: Write, key: str, fact: str
) -> None:
    scenario = scenario_of(write, user_goal__information_required={key: "XY9"})
    assert guidelines(scenario)[0] == f"For identification: {fact}."


def test_what_a_record_leaves_out_is_left_out(write: Write) -> None:
    scenario = scenario_of(
        write,
        user_goal__information_required={"original_travel_details": [{"origin": "DEN"}]},
        user_goal__starting_utterance="",
        user_goal__decision_tree={},
    )
    assert guidelines(scenario) == []
    assert scenario.user_actions.instructions[0] == "Greet the agent."


@pytest.mark.parametrize(
    ("goal", "description"),
    [
        ("Short. And sweet", "Short."),
        (f"{'a' * 198}. More.", f"{'a' * 198}."),
        (f"One. {'a' * 200}.", "One."),
        ("a" * 210, "a" * 200),
    ],
)
def test_a_description_has_whole_sentences_as_far_as_they_fit(
    write: Write, goal: str, description: str
) -> None:
    assert scenario_of(write, user_goal__high_level_user_goal=goal).description == description


def test_a_code_is_spelled_by_its_letters_and_digits_alone() -> None:
    assert _eva_caller.spelled("fl_07-x\u00e9") == "fl_07-x\u00e9 (spelled out as F, L, zero, seven, X)"


@pytest.mark.parametrize(
    ("line", "fault"),
    [
        ("{", ":2: Expecting property name"),
        (record(id=...), ":2: id: Field required"),
        (record(user_goal__decision_tree__edge_cases="no"), ":2: user_goal.decision_tree.edge_cases: Input"),
        (record(ground_truth={}), ":2: ground_truth.expected_scenario_db: Field required"),
    ],
)
def test_a_wrong_line_of_the_dataset_is_told(write: Write, line: Any, fault: str) -> None:
    write(RECORD, line if isinstance(line, str) else json.dumps(line))
    with pytest.raises(ValueError, match=f"{_eva_tasks.DATASET}{fault}"):
        _eva_tasks.read_tasks()


def test_a_play_is_read_into_calls() -> None:
    play = (
        "rebook SK1_20260101>SK2_20260102 voluntary; seat window; rebook SK3_20260103>SK4_20260104 same_day "
        "business; cancel SK5_20260105; cancel SK6_20260106 medical; refund 1.5 full_fare; "
        "credit 2 goodwill; meal irrops_overnight; hotel 3; standby SK7_20260107"
    )
    calls = _eva_plays.uses(play, "ABC123")
    assert all(call.writes and call.arguments["confirmation_number"] == "ABC123" for call in calls)
    told = [
        (
            call.tool.removesuffix("Tool"),
            *(v for k, v in call.arguments.items() if k not in ("confirmation_number", "passenger_id")),
        )
        for call in calls
    ]
    assert told == [
        ("RebookFlight", "FL_SK1_20260101", "FL_SK2_20260102", "voluntary", False),
        ("AssignSeat", "FL_SK2_20260102", "window"),
        ("RebookFlight", "FL_SK3_20260103", "FL_SK4_20260104", "same_day", False, "business"),
        ("CancelReservation", "FL_SK5_20260105", "voluntary"),
        ("CancelReservation", "FL_SK6_20260106", "medical"),
        ("ProcessRefund", 1.5, "full_fare"),
        ("IssueTravelCredit", 2.0, "goodwill"),
        ("IssueMealVoucher", "irrops_overnight"),
        ("IssueHotelVoucher", 3),
        ("AddToStandby", "FL_SK7_20260107", ["PAX001"]),
    ]


def test_a_scenario_without_a_play_has_no_rehearsal(write: Write) -> None:
    assert scenario_of(write).rehearsal is None


def test_the_caller_of_a_rehearsal_says_who_they_are_and_what_they_want(
    write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(_eva_plays.PLAYS, "9.1.2", "meal irrops_overnight")
    rehearsal = rehearsal_of(scenario_of(write))
    spoken = [line.text for line in rehearsal.user if isinstance(line, Say)]
    assert spoken[:2] == [
        "Hi I need another flight.",
        "My confirmation number is A B C 1 2 3 and my last name is Byron.",
    ]
    assert spoken[2].startswith("I want to fly at 3 PM, for at most 1 1 2 0 dollars more")
    said = [line.text for line in rehearsal.agent if isinstance(line, Say)]
    assert len(said) == len(spoken)
    assert [line.tool for line in rehearsal.agent if isinstance(line, Use)] == [
        "GetReservationTool",
        "IssueMealVoucherTool",
        "EndConversationTool",
    ]
