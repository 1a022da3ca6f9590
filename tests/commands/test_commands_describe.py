from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from pytest_voiceeval.__main__ import main
from pytest_voiceeval.world.hashing import get_dict_hash

DB_HASH = get_dict_hash({"books": {"Emma": "in", "Dune": "in"}})

RECORD_FIELDS = {
    *("name", "task_id", "tool_domain", "success_signals", "max_duration", "agent_tools", "user_tools"),
    *("initial_db_hash", "initial_user_db_hash", "initialization_ok"),
    *("post_init_db_hash", "post_init_user_db_hash", "expected_db_hash", "expected_user_db_hash"),
    *("n_gold_actions", "n_gold_calls_refused", "n_reference_actions", "reference_action_names"),
    *("n_db_state_assertions", "n_nl_assertions", "n_initialization_actions"),
    *("n_db_state_assertions_holding_before_gold", "n_db_state_assertions_holding_after_gold"),
    *("agent_prompt_sha256", "user_prompt_sha256", "agent_prompt", "user_prompt"),
}


def test_json_has_the_fields_of_a_scenario_record_and_the_prompts(
    library: Path, domain: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["describe", f"{domain}__emma", "--json", "--pack", str(library)]) == 0
    record = json.loads(capsys.readouterr().out)
    assert record.keys() >= RECORD_FIELDS
    assert record["tool_domain"] == domain
    assert record["success_signals"] == ["is_action_match", "clean_exit"]
    assert record["agent_tools"] == ["LendTool", "EndConversationTool"]
    assert (record["initial_db_hash"], record["initial_user_db_hash"]) == (DB_HASH, None)
    assert record["expected_db_hash"] is None
    assert record["reference_action_names"] == [["agent", "lend"]]
    assert record["agent_tool_schemas"][0]["required"] == ["title"]
    assert record["user_prompt"].startswith("You are a reader.")


def test_text_has_signals_tools_hashes_and_prompts(
    library: Path, domain: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["describe", f"{domain}__emma", "--pack", str(library)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith(f"{domain}__emma ({library}")
    assert lines[1] == "  Eve borrows a book."
    assert "  signals:              is_action_match, clean_exit" in lines
    assert f"  agent's database:     {DB_HASH}" in lines
    assert "tools of the agent:" in lines
    assert "    title (string): Which." in lines
    assert "tools of the user: none" in lines
    assert "  You are a librarian." in lines


WORLD = """
from pytest_voiceeval.tools import register_initialization_function
from pytest_voiceeval.tools import register_db_state_predicate
from pytest_voiceeval import register_eval_scenario
from .library import LibraryBase, LendEmma


@register_initialization_function("{domain}")
def buy(db, title):
    db["books"][title] = "in"


@register_db_state_predicate("{domain}")
def is_lent(db, title):
    return db["books"].get(title) == "lent"


@register_eval_scenario
class Assertions(LendEmma):
    name = "{domain}__assertions"
    task_id = "7"
    success_signals = ("db_state_assertion",)
    initialization_actions = [{{"side": "agent", "func_name": "buy", "arguments": {{"title": "Moby"}}}}]
    db_state_assertions = [
        {{"side": "agent", "func_name": "is_lent", "arguments": {{"title": "Emma"}}, "assert_value": True}},
        {{"side": "agent", "func_name": "is_lent", "arguments": {{"title": "Moby"}}, "assert_value": False}},
    ]
    nl_assertions = ["The agent is kind."]


@register_eval_scenario
class Broken(LibraryBase):
    name = "{domain}__broken"

    @property
    def user_task(self):
        raise KeyError("book")
"""


@pytest.fixture
def world(library: Path, domain: str) -> Path:
    (library / "scenarios" / "world.py").write_text(WORLD.format(domain=domain), encoding="utf-8")
    return library


def test_worlds_are_counted_and_hashed_before_and_after_initialization(
    world: Path, domain: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["describe", f"{domain}__assertions", "--json", "--pack", str(world)]) == 0
    record = json.loads(capsys.readouterr().out)
    assert record["post_init_db_hash"] == get_dict_hash({"books": {"Emma": "in", "Dune": "in", "Moby": "in"}})
    counts = {key: value for key, value in record.items() if key.startswith("n_") and value}
    assert counts == {
        "n_reference_actions": 1,
        "n_db_state_assertions": 2,
        "n_db_state_assertions_holding_before_gold": 1,
        "n_db_state_assertions_holding_after_gold": 1,
        "n_nl_assertions": 1,
        "n_initialization_actions": 1,
    }
    assert main(["describe", f"{domain}__assertions", "--pack", str(world)]) == 0
    out = capsys.readouterr().out
    assert "  benchmark task:       7\n" in out
    assert "  DB assertions:        2; 1 hold at the start, 1 after the gold actions\n" in out
    assert f"  agent's, initialized: {record['post_init_db_hash']}\n" in out


def test_what_a_scenario_raises_is_told_with_its_place(
    world: Path, domain: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["describe", f"{domain}__broken", "--pack", str(world)]) == 1
    err = capsys.readouterr().err
    assert err.startswith(f"error: {world / 'scenarios' / 'world.py'}:")
    assert f": scenario {domain}__broken: KeyError: 'book'; the command 'check' tells more" in err


def test_an_unknown_scenario_is_told_with_the_nearest(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["describe", "restaurant__pizza_peperoni"]) == 1
    error = capsys.readouterr().err
    assert error.startswith(
        "error: no scenario 'restaurant__pizza_peperoni'; did you mean 'restaurant__pizza_pepp"
    )


def test_a_domain_is_told_to_stand_for_several(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["describe", "restaurant"]) == 1
    assert "'restaurant' is no scenario but stands for 11: name one, such as" in capsys.readouterr().err


def test_the_output_is_json_and_nothing_else_in_a_process_of_its_own() -> None:
    command = [sys.executable, "-m", "pytest_voiceeval", "describe", "restaurant__burger_classic", "--json"]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (run.returncode, run.stderr) == (0, "")
    assert json.loads(run.stdout)["name"] == "restaurant__burger_classic"
