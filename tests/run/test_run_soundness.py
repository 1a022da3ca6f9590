from __future__ import annotations

from functools import cached_property
from typing import Any, ClassVar

import pytest

from pytest_voiceeval import (
    Actions,
    NoiseConfig,
    Persona,
    Rehearsal,
    Resources,
    Say,
    Scenario,
    SuccessSignal,
    Task,
    Use,
)
from pytest_voiceeval.run.soundness import check_scenario
from pytest_voiceeval.tools import StandardSchemaTool, WriteScenarioTool, registry
from pytest_voiceeval.tools.checked import CheckedWriteTool, Params
from pytest_voiceeval.world.initialization import INITIALIZATION_FUNCTIONS
from pytest_voiceeval.world.predicates import PREDICATES

DOMAIN = "sound_shop"


class SellTool(WriteScenarioTool):
    """Sells one thing."""

    description = "Sell."
    ACTION_TYPES: ClassVar[list[str]] = ["sell"]
    properties: ClassVar[dict[str, Any]] = {"thing": {"type": "string"}}  # type: ignore[assignment]
    required_properties: ClassVar[list[str]] = ["thing"]  # type: ignore[assignment]

    async def _execute(self, thing: str) -> Any:
        if thing not in self.state["db"]["shelf"]:
            return {"error": f"there is no {thing}"}
        self.state["db"]["shelf"].remove(thing)
        self.record({"action_type": "sell", "name": "sell", "arguments": {"thing": thing}, "result": "sold"})
        return "sold"


class LookTool(SellTool):
    """Looks at the shelf, and changes nothing."""

    async def _execute(self, thing: str) -> Any:
        return {"there": thing in self.state["db"]["shelf"]}


class GiftTool(LookTool):
    """Gives something, which changes no database."""

    async def _execute(self, thing: str) -> Any:
        self.record({"action_type": "sell", "name": "gift", "arguments": {"thing": thing}, "result": "ok"})
        return "given"


class SellParams(Params):
    thing: str


class SellGoldTool(CheckedWriteTool[SellParams]):
    """Sells one thing, also in a replay."""

    description = "Sell."
    PARAMS_MODEL = SellParams

    def run(self, params: SellParams) -> Any:
        self.db["shelf"].remove(params.thing)
        self.record_call(params, {"sold": True})
        return {"status": "success"}


class OddTypeTool(LookTool):
    properties: ClassVar[dict[str, Any]] = {"thing": {"type": "text"}}  # type: ignore[assignment]


class OddRequiredTool(LookTool):
    required_properties: ClassVar[list[str]] = ["colour"]  # type: ignore[assignment]


class TwinTool(LookTool):
    def __init__(self, *, shared_state: dict[str, Any]) -> None:
        super().__init__(shared_state=shared_state, name="SellTool")


class BrokenTool(StandardSchemaTool):
    description = "Breaks."

    @property
    def properties(self) -> dict[str, Any]:
        raise KeyError("colour")

    required_properties: ClassVar[list[str]] = []  # type: ignore[assignment]

    async def _execute(self) -> None: ...


class PickyTool(LookTool):
    def __init__(self, *, shared_state: dict[str, Any], beans: str) -> None:
        raise RuntimeError(f"no beans of kind {beans}")


REFERENCE = {"actions": [{"name": "sell", "arguments": {"thing": "cup"}}]}
EXPECTED = {"shelf": ["pot"]}
SHELF = {"shelf": ["cup", "pot"]}
GOLD = Rehearsal(
    user=(Say("A cup please."), Say("Goodbye.")),
    agent=(
        Say("Hello there."),
        Use("LookTool", {"thing": "cup"}),
        Use("SellTool", {"thing": "cup"}),
        Say("Here it is."),
        Use("EndConversationTool"),
    ),
)


class Sound(Scenario):
    """A scenario in which nothing is wrong."""

    name = "shop__cup"
    domain = DOMAIN
    max_duration = 60
    success_signals = (SuccessSignal.ACTION_MATCH, SuccessSignal.DB_STATE_MATCH, SuccessSignal.CLEAN_EXIT)
    reference_answer: Any = REFERENCE
    expected_scenario_db: Any = EXPECTED
    user_persona = Persona(role="customer")
    user_task = Task(goal="buy a cup")
    user_actions = Actions()
    user_resources = Resources()
    agent_persona: Any = Persona(role="seller")
    agent_task = Task(goal="sell")
    agent_actions = Actions()
    agent_resources: Any = Resources(tools={"SellTool": {}, "LookTool": {}, "EndConversationTool": {}})
    rehearsal: Rehearsal | None = GOLD

    def setup_shared_state(self, state: dict[str, Any], side: str) -> None:
        if side == "agent":
            state["db"] = {"shelf": list(SHELF["shelf"])}


@pytest.fixture(autouse=True)
def shop(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "_domains", {"default": registry._domains.get("default", {})})
    odd = (OddTypeTool, OddRequiredTool, TwinTool, BrokenTool, PickyTool)
    for cls in (SellTool, LookTool, GiftTool, SellGoldTool, *odd):
        registry.register_schema_tool_for_eval(DOMAIN)(cls)
    predicates = {"has": lambda db, thing: thing in db["shelf"]}
    monkeypatch.setitem(PREDICATES._functions, DOMAIN, predicates)
    fill = {"fill": lambda db, things: db["shelf"].extend(things)}
    monkeypatch.setitem(INITIALIZATION_FUNCTIONS._functions, DOMAIN, fill)


def variant(**members: Any) -> type[Scenario]:
    return type("Variant", (Sound,), {"name": "shop__cup", **members})


def found(**members: Any) -> list[str]:
    return [str(finding) for finding in check_scenario("shop__cup", variant(**members))]


def with_tools(**tools: Any) -> Resources:
    return Resources(tools={"SellTool": {}, "LookTool": {}, "EndConversationTool": {}, **tools})


def asserting(**fields: Any) -> dict[str, Any]:
    return {
        "side": "agent",
        "func_name": "has",
        "arguments": {"thing": "cup"},
        "assert_value": False,
    } | fields


def test_nothing_is_found_in_a_sound_scenario() -> None:
    assert found() == []


def test_a_finding_has_file_line_scenario_fault_and_remedy() -> None:
    class Empty(Sound):
        name = "shop__empty"
        max_duration = None

    [finding] = check_scenario("shop__empty", Empty)
    assert finding.to_json() == {
        "kind": "fault",
        "file": "tests/run/test_run_soundness.py",
        "line": finding.to_json()["line"],
        "scenario": "shop__empty",
        "what": "has no time limit: set its max_duration to a number of seconds, or run with "
        "--voice-duration=SECONDS",
        "remedy": None,
    }
    line = finding.to_json()["line"]
    assert str(finding).startswith(f"tests/run/test_run_soundness.py:{line}: shop__empty: has no time limit")


@pytest.mark.parametrize(
    ("members", "fault"),
    [
        ({"__init__": lambda self: 1 / 0}, "the scenario cannot be made: ZeroDivisionError"),
        ({"success_signals": ("fast",)}, "no success signal 'fast'"),
        ({"max_duration": "soon"}, "max_duration of scenario 'shop__cup' is 'soon'"),
        ({"noise_config": NoiseConfig()}, "noise_config of scenario 'shop__cup': there is no noise in it"),
        ({"noise_config": NoiseConfig("gone.wav")}, "no file 'gone.wav' in "),
        (
            {
                "agent_resources": Resources(
                    tools={"ReadFileTool": {}, "SellTool": {}}, documents={"prices": "gone.txt"}
                )
            },
            "document 'prices' of the agent: there is no document 'gone.txt'; looked in ",
        ),
        ({"agent_persona": None}, "the agent's prompt cannot be made: AttributeError"),
        ({"get_user_prompt": lambda self: "  "}, "the user's prompt is empty; a bot refuses it"),
        ({"db_state_assertions": 7}, "TypeError: 'int' object is not iterable"),
        ({"db_state_assertions": ["has"]}, "a DB assertion is no object: 'has'"),
        ({"db_state_assertions": [asserting(side="bridge")]}, "has side 'bridge'; write 'user' or 'agent'"),
        (
            {"db_state_assertions": [asserting(func_name="hass")]},
            "no predicate 'hass' in domain 'sound_shop'",
        ),
        (
            {"agent_resources": with_tools(SelTool={})},
            "no tool 'SelTool' in domain 'sound_shop'; did you mean",
        ),
        ({"agent_resources": with_tools(SellTool={"x": 1})}, "tool 'SellTool' takes no argument 'x'"),
        (
            {"rehearsal": Rehearsal(user=(), agent=(Use("GiveTool"),))},
            "the rehearsal uses tool 'GiveTool' for the agent, but agent_resources do not name it",
        ),
        (
            {"agent_resources": with_tools(PickyTool={"beans": "robusta"})},
            "the agent's bot cannot be prepared: RuntimeError: no beans of kind robusta",
        ),
        (
            {"initialization_actions": [{"side": "bar", "func_name": "fill"}]},
            "initialization action 'fill' has side 'bar'",
        ),
        (
            {"setup_shared_state": lambda self, state, side: state.update(db_path="nowhere")},
            "the world of the user cannot be set up: db_path: no database 'nowhere'",
        ),
        (
            {"setup_shared_state": lambda self, state, side: state.update(now=object())},
            "the user's bot cannot be prepared: setup_shared_state for the user puts in what is not JSON",
        ),
        ({"agent_resources": with_tools(TwinTool={})}, "two tools of the agent have one name"),
        (
            {"agent_resources": with_tools(BrokenTool={})},
            "tool 'BrokenTool' has no schema: KeyError: 'colour'",
        ),
        (
            {"agent_resources": with_tools(OddTypeTool={})},
            "parameter 'thing' of tool 'OddTypeTool' has type 'text', which JSON Schema has not",
        ),
        (
            {"agent_resources": with_tools(OddRequiredTool={})},
            "tool 'OddRequiredTool' requires 'colour', which is none of its parameters; it has: thing",
        ),
        (
            {"initialization_actions": [{"side": "agent", "func_name": "fill", "arguments": {"x": 1}}]},
            "the world of the agent cannot be set up: fill: TypeError",
        ),
    ],
)
def test_what_keeps_a_scenario_from_being_held_is_found(members: dict[str, Any], fault: str) -> None:
    assert [line for line in found(**members) if fault in line], found(**members)


@pytest.mark.parametrize(
    ("members", "fault"),
    [
        (
            {"reference_answer": {"actions": [{"arguments": {"thing": float("nan")}}]}},
            "its reference answer does not match itself",
        ),
        ({"reference_answer": ["cup"]}, "its reference answer does not match itself; write an object"),
        (
            {"expected_scenario_db": {"shelf": ["cup"]}},
            "its gold rehearsal does not pass: db_state_match: ",
        ),
        (
            {
                "rehearsal": Rehearsal(
                    GOLD.user, (Use("SellTool", {"thing": "mug"}), Use("EndConversationTool"))
                )
            },
            'SellTool answered {"error": "there is no mug"}; mend the rehearsal, or what',
        ),
        (
            {"success_signals": ("clean_exit",)},
            "nothing can score it but how the call ends: any agent that hangs up passes",
        ),
        (
            {"success_signals": ("db_state_match", "clean_exit"), "expected_scenario_db": None},
            "nothing can score it but how the call ends",
        ),
        (
            {
                "success_signals": ("db_state_assertion", "clean_exit"),
                "db_state_assertions": [asserting(assert_value=True)],
                "rehearsal": None,
                "gold_actions": [{"name": "sell_gold", "arguments": {"thing": "cup"}}],
                "agent_resources": with_tools(SellGoldTool={}),
            },
            "after its gold actions 0 of 1 DB assertions hold",
        ),
        (
            {
                "gold_actions": [{"name": "sell_gold", "arguments": {"thing": "pot"}}],
                "agent_resources": with_tools(SellGoldTool={}),
            },
            "its gold actions do not lead to the database that it expects",
        ),
        ({"gold_actions": [{"name": "give"}]}, "its gold actions cannot be replayed: no tool 'give'"),
        (
            {"compute_is_successful": lambda self, signals: True},
            "an agent that does nothing and hangs up passes; expect something that holds only after",
        ),
        (
            {"compute_is_successful": lambda self, signals: signals["is_action_match"]},
            "its rehearsal sabotaged by 'no-exit' passes, though it ends otherwise",
        ),
        (
            {"compute_is_successful": lambda self, signals: "maybe"},
            "it cannot be played: Variant.compute_is_successful returned 'maybe'",
        ),
        (
            {"compute_is_successful": lambda self, signals: signals["missing"]},
            "it cannot be played: KeyError: 'missing'",
        ),
    ],
)
def test_what_keeps_a_scenario_from_being_passed_or_failed_is_found(
    members: dict[str, Any], fault: str
) -> None:
    assert [line for line in found(**members) if fault in line], found(**members)


def test_gold_actions_that_lead_to_what_is_expected_are_sound() -> None:
    gold = [{"name": "sell_gold", "arguments": {"thing": "cup"}}]
    assert found(gold_actions=gold, agent_resources=with_tools(SellGoldTool={})) == []


REFUSAL = Rehearsal(
    user=(Say("A mug please."), Say("Goodbye.")),
    agent=(Use("LookTool", {"thing": "mug"}), Say("We have none."), Use("EndConversationTool")),
)


@pytest.mark.parametrize(
    ("members", "reason"),
    [
        (
            {"success_signals": ("db_state_match", "clean_exit"), "expected_scenario_db": SHELF},
            "the expected database is the initial one",
        ),
        (
            {
                "success_signals": ("db_state_assertion", "clean_exit"),
                "db_state_assertions": [asserting(assert_value=True)],
            },
            "all DB assertions hold from the start",
        ),
        (
            {"success_signals": ("is_action_match", "clean_exit"), "reference_answer": {"actions": []}},
            "the reference answer lists no action",
        ),
    ],
)
def test_a_scenario_that_expects_nothing_to_be_done_is_noted(members: dict[str, Any], reason: str) -> None:
    [note] = found(rehearsal=REFUSAL, **members)
    assert note.endswith(f"shop__cup: passes by doing nothing, by its own expectation: {reason}")
    assert "note: shop__cup" in note


def test_the_initial_database_is_that_after_the_initialization_actions() -> None:
    fill = [{"side": "agent", "func_name": "fill", "arguments": {"things": ["mug"]}}]
    signals = ("db_state_match", "clean_exit")
    expected = {"shelf": ["cup", "pot", "mug"]}
    members = {"success_signals": signals, "expected_scenario_db": expected, "initialization_actions": fill}
    [note] = found(rehearsal=REFUSAL, **members)
    assert "the expected database is the initial one" in note


def test_a_signal_without_criteria_beside_others_is_noted() -> None:
    [note] = found(success_signals=(*Sound.success_signals, "nl_assertion"))
    assert note.endswith(
        "nl_assertion is whitelisted and has nothing to be judged by: there are no nl_assertions"
    )


@pytest.mark.parametrize(
    "members",
    [
        {"success_signals": ("judge_passed", "clean_exit")},
        {"success_signals": ("db_state_match", "nl_assertion"), "nl_assertions": ["The agent is kind."]},
    ],
)
def test_what_a_judge_decides_is_said_and_all_else_is_looked_at(members: dict[str, Any]) -> None:
    [note] = found(**members)
    assert "a judge decides on " in note
    spoilt = found(rehearsal=Rehearsal(GOLD.user, (Say("Hello."),)), **members)
    assert any("its gold rehearsal does not pass" in line for line in spoilt)


def test_a_gold_rehearsal_whose_tool_call_is_refused_is_a_fault_though_it_passes() -> None:
    *lines, end = GOLD.agent
    refused = Use("LookTool", {"colour": "red"})
    script = Rehearsal(GOLD.user, (*lines, refused, end))
    [line] = found(rehearsal=script, agent_resources=with_tools(LookTool={}))
    assert "a tool refuses what its gold rehearsal calls it with: LookTool answered" in line


def test_a_scenario_without_a_rehearsal_is_noted() -> None:
    assert [line.rpartition(": ")[2] for line in found(rehearsal=None)] == [
        "it has no rehearsal, so that nothing here plays it to its end"
    ]


def giving() -> dict[str, Any]:
    """Return a gold rehearsal in which the last write is recorded and changes no database."""
    *lines, end = GOLD.agent
    return {
        "rehearsal": Rehearsal(GOLD.user, (*lines, Use("GiftTool", {"thing": "ribbon"}), end)),
        "agent_resources": with_tools(GiftTool={}),
    }


def test_a_recorded_write_that_the_reference_does_not_ask_for_is_found_by_its_sabotage() -> None:
    lines = found(**giving())
    assert len(lines) == 2
    for line, sabotage in zip(lines, ("drop-last-write", "wrong-argument"), strict=True):
        assert f"shop__cup: its rehearsal sabotaged by '{sabotage}' passes, though it ends otherwise" in line


def test_a_benchmark_task_that_does_not_ask_for_a_write_is_noted_only() -> None:
    assert all(": note: shop__cup: " in line for line in found(task_id="7", **giving()))


def test_a_write_that_no_signal_looks_at_is_nobodys_business() -> None:
    assert found(success_signals=("db_state_match", "clean_exit"), **giving()) == []


def test_a_part_that_raises_wherever_it_is_read_is_one_fault() -> None:
    class Moody(Sound):
        name = "shop__moody"

        @cached_property
        def reference_answer(self) -> Any:  # type: ignore[override]
            raise ValueError("not today")

    [finding] = check_scenario("shop__moody", Moody)
    assert "ValueError: not today" in str(finding)
