"""A scenario whose agent consults a document, from the pack's files to the verdict."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from pytest_voiceeval.bridge.setup import initialization
from pytest_voiceeval.errors import DefinitionError
from pytest_voiceeval.model.parts import Resources
from pytest_voiceeval.run.dry import hold_dry
from pytest_voiceeval.run.scenario_changes import scenario_changes
from pytest_voiceeval.scenarios.base import Scenario
from pytest_voiceeval.scenarios.checks import check_tools
from pytest_voiceeval.scenarios.documents import documents_of
from pytest_voiceeval.scenarios.packs import builtin_pack, user_pack
from pytest_voiceeval.scenarios.registry import named_scenario_class
from pytest_voiceeval.scoring.composite import score

LIBRARY = '''
from pytest_voiceeval import (
    Actions, Persona, Rehearsal, Resources, Say, Scenario, SuccessSignal, Task, Use, register_eval_scenario,
)


@register_eval_scenario
class OpeningHours(Scenario):
    """A caller asks when the library is open on Sundays: the agent has to look it up."""

    name = "library__sunday"
    success_signals = (SuccessSignal.ACTION_MATCH, SuccessSignal.CLEAN_EXIT)
    max_duration = 60
    reference_answer = {"question": "opening hours on Sunday", "answer": "from eleven to three"}
    user_persona = Persona(role="caller")
    user_task = Task(goal="find out when the library is open on Sundays")
    user_actions = Actions()
    user_resources = Resources()
    agent_persona = Persona(role="librarian")
    agent_task = Task(goal="answer questions from the documents")
    agent_actions = Actions(instructions=["Look the answer up with ReadFileTool, and save it."])
    agent_resources = Resources(
        tools={"ReadFileTool": {}, "SaveQuestionAnswerTool": {}, "EndConversationTool": {}},
        documents={"opening hours": "library/hours.txt"},
    )
    rehearsal = Rehearsal(
        user=(Say("When are you open on Sundays?"), Say("Thank you and goodbye.")),
        agent=(
            Say("City library. How can I help you?"),
            Use("ReadFileTool", {"file_path": "library/hours.txt"}),
            Use("SaveQuestionAnswerTool", reference_answer),
            Say("On Sundays we are open from eleven to three."),
            Use("EndConversationTool"),
        ),
    )
'''
HOURS = "Monday to Saturday: nine to six.\nSunday: eleven to three.\n"


@pytest.fixture
def pack(tmp_path: Path) -> Iterator[Path]:
    root = tmp_path / "town"
    (root / "scenarios").mkdir(parents=True)
    (root / "scenarios" / "library.py").write_text(LIBRARY, encoding="utf-8")
    (root / "data" / "library").mkdir(parents=True)
    (root / "data" / "library" / "hours.txt").write_text(HOURS, encoding="utf-8")
    builtin_pack().load_tools()
    loaded = user_pack(root)
    loaded.load()
    yield root
    for name in [name for name in sys.modules if name.startswith(loaded.package)]:
        del sys.modules[name]


def library() -> Scenario:
    return named_scenario_class("library__sunday")()


def test_the_agent_reads_it_and_passes(pack: Path) -> None:
    scenario = library()
    check_tools(scenario, rehearsed=True)
    conversation = hold_dry(scenario)
    (read, *_) = [m for m in conversation.agent.context or [] if m["role"] == "tool"]
    content = read["content"] if isinstance(read["content"], dict) else json.loads(read["content"])
    assert content == {"file_path": "library/hours.txt", "content": HOURS}
    assert score(scenario, conversation).verdict == "passed"


def test_the_prompt_names_it_and_its_text_travels_with_the_scenario(pack: Path) -> None:
    scenario = library()
    assert "- opening hours: library/hours.txt" in scenario.prompt("agent")
    assert HOURS not in scenario.prompt("agent")
    sent = {
        side: json.loads(initialization(scenario, side)["shared_state_init"]) for side in ("user", "agent")
    }
    assert sent == {
        "user": {},
        "agent": {"documents": {"opening hours": {"path": "library/hours.txt", "text": HOURS}}},
    }


def test_one_that_is_other_than_when_its_result_was_made_is_named(pack: Path, tmp_path: Path) -> None:
    library().save(tmp_path / "saved")
    assert scenario_changes(library(), tmp_path / "saved") == []
    hours = pack / "data" / "library" / "hours.txt"
    hours.write_text("Closed.")
    assert scenario_changes(library(), tmp_path / "saved") == ["agent_documents.json"]
    hours.unlink()
    assert scenario_changes(library(), tmp_path / "saved") == ["agent_documents.json"]


def test_one_that_is_missing_is_told_with_the_place_of_the_scenario_before_a_call(pack: Path) -> None:
    (pack / "data" / "library" / "hours.txt").unlink()
    with pytest.raises(DefinitionError) as caught:
        check_tools(library(), ["agent"])
    assert str(caught.value).startswith(
        f"{pack / 'scenarios' / 'library.py'}:7: document 'opening hours' of the agent: there is no document "
        f"'library/hours.txt'; looked in {pack / 'data'}, "
    )


def test_a_bot_elsewhere_may_have_what_is_missing_here(pack: Path) -> None:
    (pack / "data" / "library" / "hours.txt").unlink()
    sent: dict[str, Any] = json.loads(initialization(library(), "agent")["shared_state_init"])
    assert sent["documents"]["opening hours"] == {"path": "library/hours.txt", "text": None}


def test_documents_for_another_reader_are_nobodys_fault(pack: Path) -> None:
    own = {"agent_resources": Resources(documents={"x": "/srv/x.pdf"})}
    scenario = type("OwnReader", (type(library()),), own)()
    check_tools(scenario, ["agent"])
    assert documents_of(scenario, "agent") == {"x": {"path": "/srv/x.pdf", "text": None}}
