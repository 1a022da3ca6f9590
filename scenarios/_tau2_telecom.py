"""A scenario of tau2's telecom: two worlds, the operator's and the phone's, that are kept in step."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cached_property
from typing import Any, ClassVar

from pytest_voiceeval import (
    Actions,
    Rehearsal,
    Resources,
    SuccessSignal,
    load_db_artifact,
)
from pytest_voiceeval.tools import GoldReplay, StandardSchemaTool, gold_replay

from ..tools import tau2_telecom
from ..tools._tau2_telecom_sync import sync_telecom
from ._tau2 import Tau2Scenario
from ._tau2_tasks import BenchmarkTask, read_policy, read_tasks
from ._tau2_telecom_rehearsal import rehearse_on_two_sides
from ._voice_notes import ENDING, HONESTY, SPELLING, with_notes

DOMAIN = tau2_telecom.DOMAIN
DATABASES = {"agent": f"{DOMAIN}/db.json", "user": f"{DOMAIN}/user_db.json"}

TASK_ID = re.compile(r"\[(?P<category>[^\]]*)\](?P<issues>.*?)(?:\[PERSONA:(?P<persona>[^\]]*)\])?")
"""Kind of trouble, its causes with bars between them, and how much the caller knows of phones."""

STAY = (
    "Solve what the caller reported before anything else. Leave alone what else you come upon, unless it "
    "causes the trouble or the caller asks for it; you may mention it at the end."
)
HOME = (
    "The operator is at home in the United States: numbers of ten digits, prices in dollars. "
    "Whatever the trouble with the connection, ask where the caller is right now, as in: 'May I ask whether "
    "you are in the United States at the moment, or abroad?' A caller who is abroad and has no data may lack "
    "roaming: look at the line with get_details_by_id, explain what you see, ask, and once the caller agrees "
    "call enable_roaming."
)
PASSIVE = (
    "Use a tool of your phone only right after the agent asked you to do or to check something, one tool for "
    "each request. Whatever you say of your phone comes from the latest result of a tool. You call: "
    "never say what the agent would say."
)
STEPS = [
    "Greet the agent and describe what does not work; do not suggest a cause or a cure.",
    "Follow the agent's questions and instructions, one tool for each of them.",
    "Say in your next turn what the tool told you, and let the agent decide what it means.",
    "Once the trouble is gone, say so; when the agent has nothing more to do, say goodbye.",
]


class TelecomScenario(Tau2Scenario):
    """A customer's phone does not work; the agent looks into the line, and tells the caller what to do.

    Attributes:
        VARIANT: which of the two texts on technical support the agent's policy has.
    """

    VARIANT: ClassVar[str] = "manual"

    domain = DOMAIN
    TOOLS = (*tau2_telecom.READS, *tau2_telecom.WRITES)
    PHONE_TOOLS: ClassVar[tuple[type[StandardSchemaTool], ...]] = (
        *tau2_telecom.PHONE_READS,
        *tau2_telecom.PHONE_WRITES,
    )
    user_actions = Actions(instructions=STEPS, guidelines=[SPELLING, PASSIVE])

    @property
    def user_resources(self) -> Resources:
        known = super().user_resources
        return Resources(
            tools={name: {} for name in _names(self.PHONE_TOOLS)}, info_sections=known.info_sections
        )

    @property
    def _tool_names(self) -> list[str]:
        return _names(self.TOOLS)

    def get_agent_prompt(self) -> str:
        """Return the operator's policy with one of its texts on support, and how to keep it on the phone."""
        parts = ("main_policy.md", f"tech_support_{self.VARIANT}.md")
        policy = "\n\n---\n\n".join(read_policy(DOMAIN, part).strip() for part in parts)
        notes = (self.general_prompt, SPELLING, ENDING, HONESTY, self._tool_note(), STAY, HOME)
        return with_notes(policy, *notes)

    def _tool_note(self) -> str:
        """Return which tools are the agent's, and which are the caller's."""
        own = [*sorted(self._tool_names), "EndConversationTool"]
        return "\n".join(
            [
                "You can call these tools, and no others:",
                *(f"- `{name}`" for name in own),
                "",
                "All other tools of the policy are on the caller's phone. Where the policy has you use one, "
                "tell the caller in words what to do or to check; calling it yourself is answered with an "
                "`unknown_tool` error:",
                *(f"- `{name}`" for name in sorted(_names(self.PHONE_TOOLS))),
            ]
        )

    def setup_shared_state(self, state: dict[str, Any], side: str) -> None:
        """Have each bot load its own world."""
        state["db_path"] = DATABASES[side]

    def sync_state(self, agent_db: dict[str, Any], user_db: dict[str, Any]) -> Any:
        """Return what the phone must learn of the line, and the operator of a payment."""
        return sync_telecom(agent_db, user_db)

    @cached_property
    def _replay(self) -> GoldReplay:
        return gold_replay(
            DOMAIN,
            {side: load_db_artifact(path) for side, path in DATABASES.items()},  # type: ignore[misc]  # sides
            self.source.actions,
            tools={"agent": self._tool_names, "user": _names(self.PHONE_TOOLS)},
            initialization_actions=self.initialization_actions or (),
            sync=self.sync_state,
        ).without_faults()

    @cached_property
    def expected_user_db(self) -> dict[str, Any]:  # type: ignore[override]  # computed, as it may be
        """The phone once the task's own actions are done."""
        return self._replay.worlds["user"]

    @cached_property
    def rehearsal(self) -> Rehearsal:  # type: ignore[override]
        """The agent asks for each step on the phone; the caller does it and says so."""
        return rehearse_on_two_sides(self.source.reason, self.source.actions)


class TelecomWorkflowScenario(TelecomScenario):
    """The agent's policy has the text on technical support as a workflow."""

    VARIANT = "workflow"


VARIANTS = {"tau2_telecom": TelecomScenario, "tau2_telecom_workflow": TelecomWorkflowScenario}
"""The bases of the scenarios, by what their names begin with."""


def _names(tools: tuple[type[StandardSchemaTool], ...]) -> list[str]:
    return [tool.name or tool.__name__ for tool in tools]


def scenario_name(prefix: str, task_id: str) -> str:
    """Return the name of a task's scenario: prefix, kind of trouble, causes, persona unless it is none.

    An id of another form follows the prefix as it is.
    """
    match = TASK_ID.fullmatch(task_id)
    if match is None:
        return f"{prefix}__{task_id}"
    persona = match["persona"] or "None"
    issues = [issue for issue in match["issues"].split("|") if issue]
    parts = [match["category"], *issues, *([] if persona == "None" else [persona.lower()])]
    return "__".join([prefix, *parts])


def telecom_scenarios(
    variants: dict[str, type[TelecomScenario]], module: str
) -> Iterator[type[TelecomScenario]]:
    """Yield one scenario class for each task and variant, by prefix of their names, as ones of ``module``."""
    for number, task in enumerate(read_tasks(DOMAIN)):
        for prefix, base in variants.items():
            yield _scenario(task, prefix, base, f"{base.__name__}_{number}", module)


def _scenario(
    task: BenchmarkTask, prefix: str, base: type[TelecomScenario], class_name: str, module: str
) -> type[TelecomScenario]:
    judged = [SuccessSignal.NL_ASSERTION] if task.nl_assertions else []
    fields = {
        "__module__": module,
        "__doc__": f"Task {task.id}.",
        "name": scenario_name(prefix, task.id),
        "task_id": task.id,
        "source": task,
        "splits": task.splits,
        "gold_actions": task.actions,
        "initialization_actions": task.initialization_actions,
        "db_state_assertions": task.db_state_assertions,
        "nl_assertions": task.nl_assertions,
        "success_signals": (SuccessSignal.DB_STATE_ASSERTION, *judged, SuccessSignal.CLEAN_EXIT),
    }
    return type(class_name, (base,), fields)
