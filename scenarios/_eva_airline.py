"""A scenario of eva's airline: made from a record of its dataset, judged by the database it expects."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache, cached_property
from typing import Any, ClassVar

import yaml

from pytest_voiceeval import (
    Actions,
    Persona,
    Rehearsal,
    Resources,
    Scenario,
    SuccessSignal,
    Task,
    data_path,
    load_db_artifact,
)

from ..tools import eva_airline
from . import _eva_caller as caller
from ._eva_rehearsal import rehearse
from ._eva_tasks import DOMAIN, EvaTask, read_tasks
from ._voice_notes import ENDING, HONESTY, SPELLING, with_notes

NAMES = {
    "1.1.2": "eva_airline__voluntary_date_change",
    "2.1.1": "eva_airline__irrops_cancellation",
    "3.1.3": "eva_airline__missed_flight_standby",
    "5.1.1": "eva_airline__cancellation_refund",
    "7.2.1": "eva_airline__escalation_edge_case",
}
UNUSED = "of the benchmark's own policy; nothing of this part reaches a prompt"
JOURNEY_IDS = (
    "Never say the id of a journey. Tell a flight by its number and its date, and if need be by its times."
)


class EvaAirlineScenario(Scenario):
    """A passenger phones the airline; the agent keeps to its policy.

    Attributes:
        source: the scenario of the dataset.
    """

    source: ClassVar[EvaTask]

    domain = DOMAIN
    max_duration = 900
    success_signals = (SuccessSignal.DB_STATE_MATCH, SuccessSignal.CLEAN_EXIT)
    agent_persona = Persona(role=f"agent {UNUSED}")
    agent_task = Task(goal=UNUSED)
    agent_actions = Actions()
    agent_resources = Resources(
        tools={name: {} for name in (*(tool.__name__ for tool in eva_airline.TOOLS), "EndConversationTool")}
    )
    user_resources = Resources()

    @property
    def user_persona(self) -> Persona:
        return caller.persona(self.source)

    @property
    def user_task(self) -> Task:
        return caller.goal(self.source)

    @property
    def user_actions(self) -> Actions:
        return caller.actions(self.source)

    def get_agent_prompt(self) -> str:
        """Return the airline's policy as it stands, and how to keep it on the phone."""
        today = f"Today is {self.source.date}."
        return with_notes(_policy(), today, self.general_prompt, SPELLING, JOURNEY_IDS, ENDING, HONESTY)

    def setup_shared_state(self, state: dict[str, Any], side: str) -> None:
        """Give the agent's bot the scenario's own database, which is small."""
        if side == "agent":
            state["db"] = self._db()

    @cached_property
    def rehearsal(self) -> Rehearsal | None:  # type: ignore[override]  # computed, as it may be
        """The caller tells who they are and what they want; the agent does what leads to the expected end."""
        return rehearse(self.source, self._db())

    def _db(self) -> dict[str, Any]:
        return load_db_artifact(f"{DOMAIN}/{self.source.id}.json")


def _policy() -> str:
    """Return what the airline tells its agents.

    Raises:
        ValueError: if the file that has it is not as it must be.
    """
    path = data_path(DOMAIN, "airline_agent.yaml")
    try:
        return _read_policy(path.read_text(encoding="utf-8"))
    except (yaml.YAMLError, ValueError, TypeError, LookupError, AttributeError) as exc:
        why = " ".join(f"{type(exc).__name__}: {exc}".split())
        raise ValueError(
            f"{path}: texts 'role' and 'instructions' are expected ({why}); pull it again"
        ) from exc


@cache
def _read_policy(text: str) -> str:
    config = yaml.safe_load(text)
    return f"{config['role'].strip()}\n\n{config['instructions'].rstrip()}"


def scenarios(module: str) -> Iterator[type[EvaAirlineScenario]]:
    """Yield one class for each scenario of the dataset, as one of ``module``; those with names first."""
    tasks = {task.id: task for task in read_tasks()}
    ids = [task_id for task_id in NAMES if task_id in tasks]
    for task_id in [*ids, *(other for other in tasks if other not in NAMES)]:
        task = tasks[task_id]
        fields = {
            "__module__": module,
            "__doc__": f"Scenario {task_id}.",
            "name": NAMES.get(task_id, f"eva_airline__{task_id.replace('.', '_')}"),
            "task_id": task_id,
            "description": caller.description(task),
            "source": task,
            "expected_scenario_db": task.expected_db,
        }
        yield type(f"EvaAirline_{task_id.replace('.', '_')}", (EvaAirlineScenario,), fields)
