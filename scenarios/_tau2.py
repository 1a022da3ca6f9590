"""A scenario of tau2: made from a task of the benchmark, judged by the database that its actions lead to."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import Any, ClassVar

from pytest_voiceeval import (
    Actions,
    Persona,
    Rehearsal,
    Resources,
    Scenario,
    SuccessSignal,
    Task,
    load_db_artifact,
)
from pytest_voiceeval.tools import GoldReplay, StandardSchemaTool, gold_replay

from ._tau2_rehearsal import rehearse
from ._tau2_tasks import BenchmarkTask, read_policy, read_tasks
from ._voice_notes import ENDING, HONESTY, SPELLING, with_notes

CALLER = "person who phones customer support"
UNUSED = "of the benchmark's own policy; nothing of this part reaches a prompt"


class Tau2Scenario(Scenario):
    """A person phones the customer support of a company; the agent keeps to the company's policy.

    What the company's data must be after the call follows from the task's own actions: they are done on
    them when the expectation is first asked for.

    Attributes:
        TOOLS: the agent's tools, in order.
        JUDGES_ASSERTIONS: the assertions of tasks count.
        source: the task.
    """

    TOOLS: ClassVar[tuple[type[StandardSchemaTool], ...]] = ()
    JUDGES_ASSERTIONS: ClassVar[bool] = False
    source: ClassVar[BenchmarkTask]

    max_duration = 900
    agent_persona = Persona(role=f"agent {UNUSED}")
    agent_task = Task(goal=UNUSED)
    agent_actions = Actions()
    user_actions = Actions(guidelines=[SPELLING])

    @property
    def persona_name(self) -> str | None:
        """Label of the caller's voice in the benchmark; no prompt has it."""
        return self.source.persona_name

    @property
    def user_persona(self) -> Persona:
        return Persona(
            role=CALLER, personality=self.source.personality, voice_config=self.source.persona_name
        )

    @property
    def user_task(self) -> Task:
        return Task(goal=self.source.reason)

    @property
    def user_resources(self) -> Resources:
        known = {"Things you know": self.source.known, "Things you don't know": self.source.unknown}
        return Resources(info_sections={heading: text for heading, text in known.items() if text})

    @property
    def agent_resources(self) -> Resources:
        return Resources(tools={name: {} for name in (*self._tool_names, "EndConversationTool")})

    def get_agent_prompt(self) -> str:
        """Return the company's policy as it stands, and how to keep it on the phone."""
        policy = read_policy(self.domain, "policy.md")
        return with_notes(policy, self.general_prompt, SPELLING, ENDING, HONESTY)

    def setup_shared_state(self, state: dict[str, Any], side: str) -> None:
        """Have the agent's bot load the company's data."""
        if side == "agent":
            state["db_path"] = self._db_path

    @property
    def _tool_names(self) -> list[str]:
        return [tool.__name__ for tool in self.TOOLS]

    @property
    def _db_path(self) -> str:
        return f"{self.domain}/db.json"

    @cached_property
    def _replay(self) -> GoldReplay:
        """What the task's own actions lead to."""
        return gold_replay(
            self.domain,
            {"agent": load_db_artifact(self._db_path)},
            self.source.actions,
            tools={"agent": self._tool_names},
        ).without_faults()

    @cached_property
    def expected_scenario_db(self) -> dict[str, Any]:  # type: ignore[override]  # computed, as it may be
        """The company's data once the task's own actions are done."""
        return self._replay.worlds["agent"]

    @cached_property
    def reference_answer(self) -> dict[str, Any]:
        """What these actions record."""
        return {"actions": self._replay.actions}

    @cached_property
    def rehearsal(self) -> Rehearsal:  # type: ignore[override]
        """The caller tells why they call; the agent does what the task lists."""
        return rehearse(self.source.reason, self.source.actions, self.TOOLS)


def scenarios_of(base: type[Tau2Scenario], module: str) -> Iterator[type[Tau2Scenario]]:
    """Yield one scenario class for each task of a domain whose data are there, as ones of ``module``."""
    for task in read_tasks(base.domain):
        signals = [SuccessSignal.DB_STATE_MATCH, SuccessSignal.CLEAN_EXIT]
        assertions = task.nl_assertions if base.JUDGES_ASSERTIONS else None
        if assertions:
            signals.insert(1, SuccessSignal.NL_ASSERTION)
        fields = {
            "__module__": module,
            "__doc__": f"Task {task.id}.",
            "name": f"{base.domain}__{task.id}",
            "task_id": task.id,
            "source": task,
            "splits": task.splits,
            "gold_actions": task.actions,
            "nl_assertions": assertions,
            "success_signals": tuple(signals),
        }
        yield type(f"{base.__name__}_{task.id}", (base,), fields)
