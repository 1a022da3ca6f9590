from __future__ import annotations

import itertools
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from pytest_voiceeval.__main__ import main
from pytest_voiceeval.scenarios.packs import USER_PARENT
from pytest_voiceeval.world import roots

TOOLS = """
from typing import Any, ClassVar
from pytest_voiceeval.tools import WriteScenarioTool, register_schema_tool_for_eval


@register_schema_tool_for_eval("{domain}")
class LendTool(WriteScenarioTool):
    description = "Lend a book."
    ACTION_TYPES: ClassVar[list[str]] = ["lend"]
    properties = {{"title": {{"type": "string", "description": "Which."}}}}
    required_properties = ["title"]

    async def _execute(self, title: str) -> Any:
        if title not in self.state["db"]["books"]:
            raise ValueError(f"there is no {{title}}")
        self.state["db"]["books"][title] = "lent"
        arguments = {{"title": title}}
        self.record({{"action_type": "lend", "name": "lend", "arguments": arguments, "result": "ok"}})
        return {{}}
"""

SCENARIOS = """
from pytest_voiceeval import (
    Actions, Persona, Rehearsal, Resources, Say, Scenario, Task, Use, register_eval_scenario
)


class LibraryBase(Scenario):
    domain = "{domain}"
    max_duration = 60
    success_signals = ("is_action_match", "clean_exit")
    user_persona = Persona(role="reader", name="Eve")
    user_task = Task(goal="borrow a book")
    user_actions = Actions()
    user_resources = Resources()
    agent_persona = Persona(role="librarian")
    agent_task = Task(goal="lend books")
    agent_actions = Actions()
    agent_resources = Resources(tools={{"LendTool": {{}}, "EndConversationTool": {{}}}})

    def setup_shared_state(self, state, side):
        if side == "agent":
            state["db"] = {{"books": {{"Emma": "in", "Dune": "in"}}}}


@register_eval_scenario
class LendEmma(LibraryBase):
    name = "{domain}__emma"
    description = "Eve borrows a book."
    reference_answer = {{"actions": [{{"name": "lend", "arguments": {{"title": "Emma"}}}}]}}
    rehearsal = Rehearsal(
        user=(Say("I would like to borrow Emma."), Say("Goodbye.")),
        agent=(
            Say("Hello."),
            Use("LendTool", {{"title": "Emma"}}),
            Say("Here you are."),
            Use("EndConversationTool"),
        ),
    )
"""

MakePack = Callable[..., Path]

_numbers = itertools.count()


@pytest.fixture
def domain() -> str:
    """A domain of this test's own: what was registered stays while its module is loaded."""
    return f"library{next(_numbers)}"


@pytest.fixture
def library(tmp_path: Path, domain: str) -> Iterator[Path]:
    """A pack with one sound scenario."""
    root = tmp_path / domain
    for folder, text in (("tools", TOOLS), ("scenarios", SCENARIOS)):
        (root / folder).mkdir(parents=True)
        (root / folder / "library.py").write_text(text.format(domain=domain), encoding="utf-8")
    yield root
    for name in [name for name in sys.modules if name.startswith(f"{USER_PARENT}.{domain}")]:
        del sys.modules[name]


KIOSK = """
from pytest_voiceeval import Actions, Persona, Resources, Scenario, SuccessSignal, Task
from pytest_voiceeval import register_eval_scenario


class Kiosk(Scenario):
    success_signals = (SuccessSignal.CLEAN_EXIT,)
    max_duration = 20.0
    user_persona = agent_persona = Persona(role="person")
    user_task = agent_task = Task(goal="tea")
    user_actions = agent_actions = Actions()
    user_resources = agent_resources = Resources()


for _name in ("kiosk__tea", "kiosk__coffee", "stand__juice"):
    register_eval_scenario(type(_name, (Kiosk,), {"name": _name}))
for _name, _split in (("bench__one", "base"), ("bench__two", "test")):
    register_eval_scenario(type(_name, (Kiosk,), {"name": _name, "splits": frozenset({_split})}))
"""


@pytest.fixture(scope="session")
def pack(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A pack of five scenarios that lies in one place, for scenarios are registered once."""
    folder = tmp_path_factory.mktemp("kiosk")
    (folder / "scenarios").mkdir()
    (folder / "scenarios" / "kiosk.py").write_text(KIOSK)
    return folder


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder in which the commands are typed."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


Run = Callable[..., int]


@pytest.fixture
def run(place: Path, pack: Path) -> Run:
    """Runs ``run`` with that pack, without breaks; returns its exit code."""
    fast = ("--pack", str(pack), "--pause", "0", "--auto-retry-backoff-secs", "0")
    return lambda *arguments: main(["run", *fast, *arguments])


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Where data are stored; nothing else is searched but the packs' folders."""
    kept = roots.kept_roots()
    roots.restore_roots(((), ()))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "home"))
    yield tmp_path / "home" / "pytest-voiceeval" / "data"
    roots.restore_roots(kept)
