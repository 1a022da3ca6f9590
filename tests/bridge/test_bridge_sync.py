"""Two worlds that are kept in step: the bridge follows each action and tells the other side."""

from __future__ import annotations

import asyncio
import re
from typing import Any, ClassVar

import pytest

from pytest_voiceeval.bridge.call import hold_call
from pytest_voiceeval.bridge.endpoint import Peer
from pytest_voiceeval.bridge.settings import CallSettings
from pytest_voiceeval.errors import BotRefusedError, DefinitionError, WorldsPartedError
from pytest_voiceeval.model.conversation import Conversation
from pytest_voiceeval.model.parts import Actions, Persona, Resources, Task
from pytest_voiceeval.model.signals import SuccessSignal
from pytest_voiceeval.model.stop_reason import StopReason
from pytest_voiceeval.model.turns import AGENT, USER
from pytest_voiceeval.run.evaluate import evaluate_conversation
from pytest_voiceeval.run.settings import RunSettings
from pytest_voiceeval.scenarios.base import Scenario
from pytest_voiceeval.testing import FakeBot, Utterance, VirtualClock, exit_message
from pytest_voiceeval.tools.checked import CheckedWriteTool, NoParams
from pytest_voiceeval.tools.registry import find_tool, register_schema_tool_for_eval
from pytest_voiceeval.wire import rtvi
from pytest_voiceeval.world.hashing import get_dict_hash
from pytest_voiceeval.world.sync import apply_delta

DOMAIN = "bridge_sync"


class SwitchLampTool(CheckedWriteTool[NoParams]):
    """Switches the lamp, in the operator's world."""

    name = "switch_lamp"
    description = "Switch the lamp."
    PARAMS_MODEL = NoParams

    def run(self, params: NoParams) -> str:
        self.db["lamp"] = "on"
        self.record_call(params, {"lamp": "on"})
        return "on"


class OpenShutterTool(CheckedWriteTool[NoParams]):
    """Opens the shutter, in the caller's world."""

    name = "open_shutter"
    description = "Open the shutter."
    PARAMS_MODEL = NoParams

    def run(self, params: NoParams) -> str:
        self.db["shutter"] = "open"
        self.record_call(params, {"shutter": "open"})
        return "open"


class BreakTool(CheckedWriteTool[NoParams]):
    """Fails whenever it is done again."""

    name = "break_it"
    description = "Break."
    PARAMS_MODEL = NoParams

    def run(self, params: NoParams) -> str:
        raise RuntimeError("it was broken before")


@pytest.fixture(autouse=True)
def domain() -> None:
    for tool in (SwitchLampTool, OpenShutterTool, BreakTool, DimLampTool):
        if find_tool(tool.name or "", DOMAIN) is None:
            register_schema_tool_for_eval(DOMAIN)(tool)


class Lamps(Scenario):
    name = "bridge__lamps"
    domain = DOMAIN
    success_signals = (SuccessSignal.CLEAN_EXIT,)
    max_duration = 60
    user_persona = Persona(role="caller")
    user_task = Task(goal="Have light.")
    user_actions = Actions()
    user_resources = Resources(tools={"open_shutter": {}})
    agent_persona = Persona(role="agent")
    agent_task = Task(goal="Give light.")
    agent_actions = Actions()
    agent_resources = Resources(tools={"switch_lamp": {}, "break_it": {}, "EndConversationTool": {}})

    def setup_shared_state(self, state: dict[str, Any], side: str) -> None:
        state["db"] = {"lamp": "off", "house": "dark"} if side == AGENT else {"shutter": "shut", "room": "?"}

    def sync_state(self, agent_db: dict[str, Any], user_db: dict[str, Any]) -> Any:
        room = "bright" if "on" in agent_db["lamp"] or user_db["shutter"] == "open" else "dark"
        deltas: dict[str, dict[str, Any]] = {"agent": {}, "user": {}}
        if user_db["room"] != room:
            deltas["user"]["room"] = room
        if agent_db["house"] != room:
            deltas["agent"]["house"] = room
        return deltas


class WorldBot(FakeBot):
    """A scripted bot with a world: it does what it announces, takes deltas, and reports what became of it."""

    DOES: ClassVar = {"switch_lamp": ("lamp", "on"), "open_shutter": ("shutter", "open")}

    def __init__(self, side: Any, lines: list[Utterance], db: dict[str, Any], **answers: Any) -> None:
        self.db = db
        self.deltas: list[dict[str, Any]] = []
        own = {"apply_sync_delta": self._take, "get_scenario_summary": self._summary}
        super().__init__(side, lines, answers=own | answers)

    async def _tell(self, connection: Any, kind: str, data: Any, message_id: str | None = None) -> None:
        if isinstance(data, dict) and data.get("type") == "action-applied":
            self.db.update([self.DOES[name]] if (name := data["action"]["name"]) in self.DOES else [])
        await super()._tell(connection, kind, data, message_id)

    def _take(self, arguments: dict[str, Any]) -> dict[str, Any]:
        self.deltas.append(arguments["delta"])
        errors = apply_delta(arguments["domain"], self.db, arguments["delta"])
        return {"success": not errors, "errors": errors}

    def _summary(self, arguments: dict[str, Any]) -> dict[str, Any]:
        db = {"db": self.db} if arguments["include_db"] else {}
        return {"actions": [], "db_hash": get_dict_hash(self.db), **db}


def applied(name: str, **arguments: Any) -> dict[str, Any]:
    action = {"action_type": name, "name": name, "arguments": arguments, "result": {}}
    return {"type": "action-applied", "action": action, "tool_domain": DOMAIN}


class Clumsy(WorldBot):
    """It breaks the lamp that it says it switched on."""

    DOES: ClassVar = {"switch_lamp": ("lamp", "broken")}


def agent_bot(*sends: Any, kind: type[WorldBot] = WorldBot, **answers: Any) -> WorldBot:
    lines = [
        Utterance("Welcome.", 1.0, 300),
        Utterance("Now there is light.", 1.0, 320, sends=sends),
        Utterance("Good bye.", 0.8, 350, late_sends=(exit_message(),)),
    ]
    return kind(AGENT, lines, {"lamp": "off", "house": "dark"}, **answers)


def user_bot(*sends: Any, **answers: Any) -> WorldBot:
    lines = [Utterance("It is dark.", 1.0, 500), Utterance("Thank you.", 1.0, 520, sends=sends)]
    return WorldBot(USER, lines, {"shutter": "shut", "room": "?"}, **answers)


def held(user: FakeBot, agent: FakeBot, scenario: Scenario | None = None) -> Conversation:
    bots = {"mem://user": user, "mem://agent": agent}

    async def opener(url: str, limit: float) -> Any:
        return await bots[url].open(url, limit)

    async def call() -> Conversation:
        return await hold_call(
            scenario or Lamps(),
            user=Peer(USER, "mem://user", "fake user"),
            agent=Peer(AGENT, "mem://agent", "fake agent"),
            settings=CallSettings(max_duration=60, opener=opener, clock="charged"),
        )

    return VirtualClock().run(call())


def test_both_worlds_are_brought_in_step_before_the_call() -> None:
    user, agent = user_bot(), agent_bot()
    conversation = held(user, agent)
    assert user.deltas == [{"room": "dark"}]
    assert agent.deltas == []
    assert conversation.drift == ()


def test_what_one_side_does_reaches_both_worlds() -> None:
    user, agent = user_bot(), agent_bot(applied("switch_lamp"))
    conversation = held(user, agent)
    assert user.deltas == [{"room": "dark"}, {"room": "bright"}]
    assert agent.deltas == [{"house": "bright"}]
    assert conversation.drift == ()


def test_what_the_user_does_reaches_the_agent() -> None:
    user, agent = user_bot(applied("open_shutter")), agent_bot()
    conversation = held(user, agent)
    assert agent.deltas == [{"house": "bright"}]
    assert conversation.drift == ()


def test_actions_are_followed_in_their_order() -> None:
    user = user_bot(applied("open_shutter"))
    agent = agent_bot(applied("switch_lamp"), applied("switch_lamp"))
    conversation = held(user, agent)
    assert [delta for delta in user.deltas if "room" in delta] == [{"room": "dark"}, {"room": "bright"}]
    assert conversation.drift == ()


def test_a_world_that_parted_is_told_by_path() -> None:
    class Asserting(Lamps):
        name = "bridge__asserting"

    scenario = Asserting(db_state_assertions=[{"side": "agent", "func_name": "any", "assert_value": True}])
    conversation = held(user_bot(), agent_bot(applied("switch_lamp"), kind=Clumsy), scenario)
    assert conversation.drift == (
        "the agent's world, as it must be by all recorded actions → as it is:",
        '  lamp: "on" → "broken"',
    )


def test_a_world_that_was_not_pulled_whole_is_told_by_its_hash() -> None:
    conversation = held(user_bot(), agent_bot(applied("switch_lamp"), kind=Clumsy))
    [line] = conversation.drift
    assert line.startswith("the agent's world has hash ")


def test_worlds_that_parted_are_an_error_and_no_verdict(tmp_path: Any) -> None:
    conversation = held(user_bot(), agent_bot(applied("switch_lamp"), kind=Clumsy))
    with pytest.raises(
        WorldsPartedError, match="bridge__lamps: the worlds of the two bots did not stay in step"
    ) as caught:
        evaluate_conversation(Lamps(), conversation, settings=RunSettings(), folder=tmp_path)
    assert "\n  whose fault: the scenario's tools', or of a bot that does not keep its world" in str(
        caught.value
    )
    assert "\n  where: " in str(caught.value)


def test_an_unknown_action_is_a_fault() -> None:
    conversation = held(user_bot(), agent_bot(applied("paint_wall")))
    assert any("paint_wall" in line and "switch_lamp" in line for line in conversation.drift)


def test_an_action_that_fails_when_done_again_is_a_fault() -> None:
    conversation = held(user_bot(), agent_bot(applied("break_it")))
    assert any("it was broken before" in line for line in conversation.drift)


def test_an_action_that_is_refused_when_done_again_is_a_fault() -> None:
    conversation = held(user_bot(), agent_bot(applied("switch_lamp", colour="red")))
    assert any("refused when done again" in line and "colour" in line for line in conversation.drift)


def test_a_delta_that_a_bot_does_not_take_is_a_fault() -> None:
    answers = iter([{"success": True, "errors": []}, {"success": False, "errors": ["no such path"]}])
    user = user_bot(apply_sync_delta=lambda _: next(answers))
    conversation = held(user, agent_bot(applied("switch_lamp")))
    assert any("no such path" in line for line in conversation.drift)


def test_a_bot_that_does_not_take_the_first_delta_ends_the_scenario_before_the_call() -> None:
    user = user_bot(apply_sync_delta={"success": False, "errors": ["no database"]})
    with pytest.raises(BotRefusedError, match=r"before the call: the user bot did not take .*no database"):
        held(user, agent_bot())


def test_a_sync_function_that_fails_is_told_with_the_scenario() -> None:
    class Failing(Lamps):
        name = "bridge__failing_sync"

        def sync_state(self, agent_db: dict[str, Any], user_db: dict[str, Any]) -> Any:
            raise LookupError("no line")

    with pytest.raises(DefinitionError, match=r"bridge__failing_sync: sync_state failed: LookupError"):
        held(user_bot(), agent_bot(), Failing())


def test_a_scenario_without_both_worlds_is_told() -> None:
    class OneWorld(Lamps):
        name = "bridge__one_world"

        def setup_shared_state(self, state: dict[str, Any], side: str) -> None:
            if side == AGENT:
                state["db"] = {"lamp": "off"}

    with pytest.raises(DefinitionError, match="the world of the user cannot be set up"):
        held(user_bot(), agent_bot(), OneWorld())


def test_an_agent_that_hangs_up_is_at_fault_itself() -> None:
    class Leaving(WorldBot):
        async def play(self, connection: Any) -> None:
            async def leave() -> None:
                await asyncio.sleep(3)
                await connection.close()

            leaving = asyncio.get_running_loop().create_task(leave())
            try:
                await super().play(connection)
            finally:
                leaving.cancel()

    agent = Leaving(AGENT, agent_bot().lines, {"lamp": "off", "house": "dark"})
    conversation = held(user_bot(applied("open_shutter")), agent)
    assert conversation.stop_reason is StopReason.AGENT_HANGUP
    assert conversation.drift == ()


class LateBot(WorldBot):
    """Its tool comes to its end only when the evidence is asked for."""

    late = True

    async def _answer(self, connection: Any, message: Any) -> None:
        if self.late and message.fields.get("t") == "get_context_history":
            self.late = False
            await self._tell(connection, rtvi.SERVER_MESSAGE, applied("open_shutter"))
        await super()._answer(connection, message)


def test_an_action_that_comes_while_the_evidence_is_pulled_does_not_part_the_worlds() -> None:
    user = LateBot(USER, user_bot().lines, {"shutter": "shut", "room": "?"})
    conversation = held(user, agent_bot())
    assert not user.late
    assert conversation.drift == ()
    assert conversation.agent.db_hash == get_dict_hash({"lamp": "off", "house": "bright"})


@pytest.mark.parametrize(
    ("returned", "told"),
    [
        (None, r"sync_state returns None; return \{'agent'"),
        ({"usr": {"room": "bright"}}, r"sync_state returns \{'usr': .*; return \{'agent'"),
        ({"user": {"room": object()}}, "a delta maps paths, as texts, to values of JSON"),
        ({"user": {7: "bright"}}, "a delta maps paths, as texts, to values of JSON"),
        ({"user": ["room"]}, "a delta maps paths, as texts, to values of JSON"),
    ],
)
def test_what_is_no_delta_is_told_and_no_call_hangs(returned: Any, told: str) -> None:
    class Odd(Lamps):
        name = "bridge__odd_sync"
        calls = 0

        def sync_state(self, agent_db: dict[str, Any], user_db: dict[str, Any]) -> Any:
            self.calls += 1
            return {"agent": {}, "user": {}} if self.calls == 1 else returned

    agent = agent_bot(applied("switch_lamp"), applied("switch_lamp"))
    conversation = held(user_bot(), agent, Odd())
    assert [line for line in conversation.drift if re.search(told, line)]

    class AtOnce(Odd):
        name = "bridge__odd_sync_at_once"
        calls = 1

    with pytest.raises(DefinitionError, match=told):
        held(user_bot(), agent_bot(), AtOnce())


class DimLampTool(SwitchLampTool):
    """Switches the lamp as its constructor is told."""

    name = "dim_lamp"

    def __init__(self, *, level: str, shared_state: dict[str, Any] | None = None) -> None:
        super().__init__(shared_state=shared_state)
        self.level = level

    def run(self, params: NoParams) -> str:
        self.db["lamp"] = self.level
        self.record_call(params, {"lamp": self.level})
        return self.level


class DimLamps(Lamps):
    name = "bridge__dim_lamps"
    agent_resources = Resources(tools={"dim_lamp": {"level": "on, a little"}})


class DimBot(WorldBot):
    DOES: ClassVar = {"dim_lamp": ("lamp", "on, a little")}


def test_tools_are_made_as_the_scenario_says() -> None:
    conversation = held(user_bot(), agent_bot(applied("dim_lamp"), kind=DimBot), DimLamps())
    assert conversation.drift == ()


def test_a_tool_that_cannot_be_made_is_told() -> None:
    class Undimmed(DimLamps):
        name = "bridge__undimmed"
        agent_resources = Resources(tools={"dim_lamp": {}})

    with pytest.raises(
        DefinitionError, match="bridge__undimmed: a tool of the agent cannot be made: TypeError"
    ):
        held(user_bot(), agent_bot(), Undimmed())
