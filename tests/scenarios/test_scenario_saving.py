from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from pytest_voiceeval import (
    Actions,
    NoiseConfig,
    Persona,
    Resources,
    Scenario,
    SuccessSignal,
    Task,
    get_dict_hash,
)


class Saved(Scenario):
    name = "coffee__saved"
    description = "Zoë wants a coffee."
    success_signals = (SuccessSignal.CLEAN_EXIT, SuccessSignal.ACTION_MATCH)
    max_duration = 60
    user_persona = agent_persona = Persona(role="guest")
    user_task = agent_task = Task(goal="talk")
    user_actions = agent_actions = Actions()
    user_resources = Resources()
    agent_resources = Resources(tools={"BrewTool": {"beans": "café"}})


def read(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


def test_the_files_of_a_scenario_without_a_reference(tmp_path: Path) -> None:
    Saved().save(tmp_path / "scenario_config")
    files = {path.name for path in (tmp_path / "scenario_config").iterdir()}
    assert files == {
        "user_prompt.txt",
        "agent_prompt.txt",
        "user_tools.json",
        "agent_tools.json",
        "metadata.json",
    }


def test_prompts_are_saved_as_sent_and_tools_encoded_twice(tmp_path: Path) -> None:
    scenario = Saved()
    scenario.save(tmp_path)
    assert (tmp_path / "agent_prompt.txt").read_text(encoding="utf-8") == scenario.get_agent_prompt()
    assert read(tmp_path / "agent_tools.json") == scenario.get_agent_tools()
    assert json.loads(read(tmp_path / "agent_tools.json")) == {"BrewTool": {"beans": "café"}}
    assert read(tmp_path / "user_tools.json") == "{}"


def test_metadata_have_the_ten_keys_in_order(tmp_path: Path) -> None:
    Saved().save(tmp_path)
    metadata = read(tmp_path / "metadata.json")
    assert list(metadata.items()) == [
        ("name", "coffee__saved"),
        ("domain", "default"),
        ("description", "Zoë wants a coffee."),
        ("max_duration", 60),
        ("noise_config", None),
        ("ignore_capitalization", False),
        ("ignore_punctuation", False),
        ("clean_text", False),
        ("disallow_extra_items", False),
        ("success_signals", ["is_action_match", "clean_exit"]),
    ]
    assert (tmp_path / "metadata.json").read_text(encoding="utf-8").startswith('{\n    "name"')


def test_metadata_have_more_keys_where_they_are_set(tmp_path: Path) -> None:
    db = {"cups": {"a": 1}}
    Saved(
        noise_config=NoiseConfig(gain_db=3.0),
        db_state_assertions=[{"func": "is_full"}],
        nl_assertions=["It was kind."],
        initialization_actions=[{"side": "agent", "func_name": "fill", "arguments": {}}],
        expected_scenario_db=db,
        expected_user_db={},
    ).save(tmp_path)
    metadata = read(tmp_path / "metadata.json")
    assert metadata["noise_config"]["gain_db"] == 3.0
    assert list(metadata)[10:] == [
        "db_state_assertions",
        "nl_assertions",
        "initialization_actions",
        "expected_db_hash",
    ]
    assert metadata["expected_db_hash"] == get_dict_hash(db)


@pytest.mark.parametrize(
    ("reference", "content"),
    [({"cups": 1}, {"cups": 1}), ([{"cups": 1}, {"cups": 2}], [{"cups": 1}, {"cups": 2}])],
)
def test_a_reference_is_saved_as_it_is(tmp_path: Path, reference: Any, content: Any) -> None:
    Saved(reference_answer=reference).save(tmp_path)
    assert read(tmp_path / "reference_answer.json") == content


def test_a_text_reference_is_wrapped_and_the_file_name_is_the_scenarios(tmp_path: Path) -> None:
    class Elsewhere(Saved):
        name = "coffee__elsewhere"
        reference_file = "expected.json"
        reference_answer = "a cup"

    Elsewhere().save(tmp_path)
    assert read(tmp_path / "expected.json") == {"message": "a cup"}


def test_a_text_that_utf_8_cannot_hold_is_saved_escaped_and_no_draft_is_left(tmp_path: Path) -> None:
    class Odd(Saved):
        name = "coffee__odd"
        description = "half \ud83d"

    Odd().save(tmp_path / "deep" / "down")
    assert read(tmp_path / "deep" / "down" / "metadata.json")["description"] == "half \\ud83d"
    assert not [path for path in (tmp_path / "deep" / "down").iterdir() if path.name.startswith(".")]
