# ruff: noqa: RUF012 - a scenario declares constants
from __future__ import annotations

import json
from functools import cached_property
from typing import Any

import pytest

from pytest_voiceeval import NoiseConfig, Persona, Resources, Scenario, SuccessSignal, Task
from pytest_voiceeval.errors import DefinitionError
from pytest_voiceeval.scenarios.base import ARGUMENTS

PARTS = [
    f"{side}_{part}" for side in ("user", "agent") for part in ("persona", "task", "actions", "resources")
]
BOTH = (SuccessSignal.CLEAN_EXIT, SuccessSignal.ACTION_MATCH)


class Lean(Scenario):
    success_signals = BOTH


class Full(Lean):
    name = "coffee__full"
    max_duration = 60
    noise_config = NoiseConfig(random_white_noise=True)
    reference_answer = {"cups": 1}


def test_a_field_has_its_default_unless_it_is_given() -> None:
    scenario = Lean()
    assert scenario.domain == "default"
    assert scenario.reference_file == "reference_answer.json"
    assert [getattr(scenario, field) for field in ARGUMENTS] == [None] * 4 + [False] * 4 + [None] * 6
    assert scenario.rehearsal is None


@pytest.mark.parametrize("field", ARGUMENTS)
def test_the_constructor_takes_every_field(field: str) -> None:
    value = object()
    assert getattr(Lean(**{field: value}), field) is value


def test_what_the_class_declares_wins_over_an_argument() -> None:
    class Computed(Full):
        name = "coffee__computed"

        @property
        def description(self) -> str:  # type: ignore[override]
            return "computed"

    scenario = Computed(
        name="other", max_duration=1, noise_config=None, reference_answer=1, description="d", clean_text=True
    )
    assert scenario.name == "coffee__computed"
    assert scenario.max_duration == 60
    assert scenario.noise_config == NoiseConfig(random_white_noise=True)
    assert scenario.reference_answer == {"cups": 1}
    assert scenario.description == "computed"
    assert scenario.clean_text is True


@pytest.mark.parametrize("name", ["domain", "success_signals", "reference_file", "general_prompt", "colour"])
def test_other_keywords_are_refused(name: str) -> None:
    with pytest.raises(TypeError, match=rf"Full\(\) takes no argument '{name}'; it takes: name, "):
        Full(**{name: "x"})


@pytest.mark.parametrize("part", PARTS)
def test_reading_a_part_that_nobody_declares_names_class_and_part(part: str) -> None:
    with pytest.raises(
        DefinitionError, match=rf"test_scenario_base\.py:\d+: scenario class Full has no {part}"
    ):
        getattr(Full(), part)


def test_a_part_may_be_a_constant_or_computed() -> None:
    class Parted(Lean):
        user_persona = Persona(role="guest")

        @property
        def user_task(self) -> Task:
            return Task(goal="drink coffee")

        @cached_property
        def user_resources(self) -> Resources:
            return Resources(information=["It is late."])

    scenario = Parted()
    assert (scenario.user_persona.role, scenario.user_task.goal) == ("guest", "drink coffee")
    assert scenario.resources("user").information == ["It is late."]


@pytest.mark.parametrize("signals", [None, (), [], "clean_exit", 1])
def test_a_class_with_a_name_needs_success_signals(signals: Any) -> None:
    with pytest.raises(TypeError, match=r"class \S*Nameless \(name = 'coffee__x'\) needs success_signals"):
        type("Nameless", (Scenario,), {"name": "coffee__x", "success_signals": signals})


def test_a_class_without_a_name_of_its_own_is_not_checked() -> None:
    class Base(Scenario):
        pass

    class Heir(Full):
        success_signals = ()

    assert Base().success_signals is None
    assert Heir.name == "coffee__full"


@pytest.mark.parametrize("tools", [["EndConversationTool"], {"EndConversationTool": None}, None], ids=str)
def test_tools_that_are_no_dict_of_arguments_are_refused_with_an_example(tools: Any) -> None:
    with pytest.raises(
        DefinitionError, match=r"a dict of name to arguments, not .*; write for example tools="
    ):
        Resources(tools=tools)


def test_computed_success_signals_are_accepted() -> None:
    class Later(Scenario):
        name = "coffee__later"

        @cached_property
        def success_signals(self) -> tuple[SuccessSignal, ...]:
            return (SuccessSignal.NL_ASSERTION,) if self.nl_assertions else (SuccessSignal.CLEAN_EXIT,)

    assert Later().whitelist == (SuccessSignal.CLEAN_EXIT,)
    assert Later(nl_assertions=["It was kind."]).whitelist == (SuccessSignal.NL_ASSERTION,)


def test_the_whitelist_takes_texts_and_has_the_order_of_the_signals() -> None:
    class Texts(Scenario):
        name = "coffee__texts"
        success_signals = ["clean_exit", "is_action_match", SuccessSignal.CLEAN_EXIT]

    assert Texts().whitelist == (SuccessSignal.ACTION_MATCH, SuccessSignal.CLEAN_EXIT)


def test_an_unknown_or_empty_whitelist_is_noticed_when_the_verdict_is_computed() -> None:
    class Unknown(Scenario):
        name = "coffee__unknown"
        success_signals = ["clean_exits"]

    with pytest.raises(
        ValueError, match=r"\.py:\d+: .*no success signal 'clean_exits'; choose from: .*clean_exit"
    ):
        Unknown().compute_is_successful({})
    with pytest.raises(ValueError, match=r"base\.py:\d+: .*success_signals is empty"):
        Scenario(name="coffee__none").compute_is_successful({})


@pytest.mark.parametrize(
    ("action_match", "clean_exit", "verdict"),
    [
        (True, True, True),
        (True, False, False),
        (None, True, True),
        (None, False, False),
        (None, None, "N/A"),
        (1.0, True, True),
        (0.99, True, False),
    ],
)
def test_success_is_all_whitelisted_signals_that_apply(
    action_match: Any, clean_exit: Any, verdict: Any
) -> None:
    signals = {"is_action_match": action_match, "clean_exit": clean_exit, "judge_passed": False}
    assert Full().compute_is_successful(signals) == verdict


def test_prompts_and_tools_are_those_of_the_side(builtin: None) -> None:
    from pytest_voiceeval import get_eval_scenario  # noqa: PLC0415 - public name, as users import it

    scenario = get_eval_scenario("restaurant__pizza_pepperoni")
    assert scenario is not None
    assert scenario.prompt("user") == scenario.get_user_prompt()
    assert scenario.prompt("agent") == scenario.get_agent_prompt()
    assert scenario.tools("user") == scenario.get_user_tools() == "{}"
    assert json.loads(scenario.tools("agent"))["PlaceOrderTool"] == {"auto_validate": "False"}
    assert scenario.tools("agent") == scenario.get_agent_tools()


def test_the_world_is_seeded_and_synchronised_only_by_classes_that_say_so() -> None:
    class Synced(Full):
        def setup_shared_state(self, state: dict[str, Any], side: str) -> None:
            state["db_path"] = f"coffee/{side}_db.json"

        def sync_state(self, agent_db: Any, user_db: Any) -> Any:
            return {"agent": {"a": 1}, "user": {}}

    plain, synced = Full(), Synced()
    state: dict[str, Any] = {}
    plain.setup_shared_state(state, "agent")
    assert state == {}
    assert plain.sync_state({}, {}) == {"agent": {}, "user": {}}
    assert plain.syncs_state is False
    synced.setup_shared_state(state, "user")
    assert state == {"db_path": "coffee/user_db.json"}
    assert synced.syncs_state is True


def test_a_prompt_that_cannot_be_sent_is_told_with_its_place() -> None:
    class Halved(Scenario):
        name = "base__halved"
        success_signals = ("clean_exit",)

        def get_user_prompt(self) -> str:
            return "Say \ud83d now."

    with pytest.raises(DefinitionError, match=r"py:\d+: the user's prompt of .*character 4 is '\\ud83d'"):
        Halved().prompt("user")
