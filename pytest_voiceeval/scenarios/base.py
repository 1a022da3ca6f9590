"""Scenario: what a test case is."""

from __future__ import annotations

import inspect
import json
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, Literal

from pytest_voiceeval.errors import DefinitionError
from pytest_voiceeval.model.parts import Actions, NoiseConfig, Persona, Resources, Task
from pytest_voiceeval.model.signals import SuccessSignal
from pytest_voiceeval.model.turns import AGENT, USER, Side
from pytest_voiceeval.scenarios.prompts import CALLER_RULES, VOICE_RULES, render_caller_prompt, render_prompt
from pytest_voiceeval.scenarios.rehearsal import Rehearsal
from pytest_voiceeval.tools.origin import location
from pytest_voiceeval.world.hashing import get_dict_hash

ARGUMENTS = (
    "name",
    "description",
    "max_duration",
    "reference_answer",
    "ignore_capitalization",
    "ignore_punctuation",
    "clean_text",
    "disallow_extra_items",
    "noise_config",
    "expected_scenario_db",
    "expected_user_db",
    "nl_assertions",
    "db_state_assertions",
    "initialization_actions",
)
"""Fields that the constructor takes; one that a class declares wins over its argument."""


class Scenario:
    """One test case: who calls whom, about what, with which tools, and what must come of it.

    A concrete scenario is a subclass that declares ``name`` (by convention ``domain__id``) and has
    ``success_signals``, its own or a base's. Each of the eight properties ``user_persona`` to
    ``agent_resources`` must come from the class or a base; a constant serves as well as a property.
    A field that has to be computed is a ``cached_property``.

    Attributes:
        name: unique id.
        description: one sentence for a person.
        domain: namespace of its tools and folder of its data.
        max_duration: limit of the call in seconds; without one, the run must give it.
        success_signals: the signals that decide, as members of ``SuccessSignal`` or their texts.
        reference_answer: what the agent's actions must match: an object, a list of them, or a text.
        reference_file: name of the file that the reference is saved under.
        ignore_capitalization, ignore_punctuation, disallow_extra_items: how it is matched.
        clean_text: kept in the metadata; as in the reference, it changes nothing about the match.
        noise_config: noise on the way from the user to the agent.
        expected_scenario_db, expected_user_db: databases as they must be after the call.
        nl_assertions: sentences that a judge must find true.
        db_state_assertions: predicates that must hold on the databases.
        initialization_actions: ``{"side", "func_name", "arguments"}``, run before the call.
        general_prompt: rules for speaking, part of both prompts.
        caller_prompt: rules that keep a model in the caller's part, below the user's prompt; may be empty.
        rehearsal: the script that passes; ``None`` if there is none.
        task_id: id of the benchmark task that the scenario is made from; ``None`` if there is none.
        splits: names of the benchmark's splits that it is part of; ``None`` if there are none.
        gold_actions: that task's own tool calls, each ``{"name", "arguments", "requestor"}``; ``None`` if it
            lists none.
    """

    domain: str = "default"
    success_signals: Any = None
    reference_file: str = "reference_answer.json"
    general_prompt: str = VOICE_RULES
    caller_prompt: str = CALLER_RULES
    rehearsal: Rehearsal | None = None
    task_id: str | None = None
    splits: frozenset[str] | None = None
    gold_actions: Sequence[Mapping[str, Any]] | None = None

    name: str | None = None
    description: str | None = None
    max_duration: float | None = None
    reference_answer: Any = None
    ignore_capitalization: bool = False
    ignore_punctuation: bool = False
    clean_text: bool = False
    disallow_extra_items: bool = False
    noise_config: NoiseConfig | None = None
    expected_scenario_db: dict[str, Any] | None = None
    expected_user_db: dict[str, Any] | None = None
    nl_assertions: list[str] | None = None
    db_state_assertions: list[dict[str, Any]] | None = None
    initialization_actions: list[dict[str, Any]] | None = None

    _own_fields: ClassVar[frozenset[str]] = frozenset()

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        cls._own_fields = frozenset(
            field for base in cls.__mro__ if base not in Scenario.__mro__ for field in vars(base)
        )
        if vars(cls).get("name") is not None:
            _check_success_signals(cls)

    def __init__(self, **fields: Any) -> None:
        """Take values for fields that the class leaves open; see ``ARGUMENTS``.

        Raises:
            TypeError: for a keyword that is no such field.
        """
        for field, value in fields.items():
            if field not in ARGUMENTS:
                known = ", ".join(ARGUMENTS)
                raise TypeError(f"{type(self).__name__}() takes no argument '{field}'; it takes: {known}")
            if field not in self._own_fields:
                setattr(self, field, value)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.name}>"

    @property
    def user_persona(self) -> Persona:
        """Who calls."""
        raise self._lacks("user_persona")

    @property
    def user_task(self) -> Task:
        """What the caller wants."""
        raise self._lacks("user_task")

    @property
    def user_actions(self) -> Actions:
        """How the caller goes about it."""
        raise self._lacks("user_actions")

    @property
    def user_resources(self) -> Resources:
        """What the caller has."""
        raise self._lacks("user_resources")

    @property
    def agent_persona(self) -> Persona:
        """Who answers."""
        raise self._lacks("agent_persona")

    @property
    def agent_task(self) -> Task:
        """What the agent is there for."""
        raise self._lacks("agent_task")

    @property
    def agent_actions(self) -> Actions:
        """How the agent goes about it."""
        raise self._lacks("agent_actions")

    @property
    def agent_resources(self) -> Resources:
        """What the agent has."""
        raise self._lacks("agent_resources")

    def _lacks(self, part: str) -> DefinitionError:
        return DefinitionError(
            f"{location(type(self))}: scenario class {type(self).__qualname__} has no {part}; declare it on "
            "the class or on a base"
        )

    def get_user_prompt(self) -> str:
        """Return the system prompt of the simulated caller."""
        prompt = render_prompt(
            self.user_persona, self.user_task, self.user_actions, self.user_resources, self.general_prompt
        )
        return render_caller_prompt(prompt, self.caller_prompt)

    def get_agent_prompt(self) -> str:
        """Return the system prompt of the agent."""
        return render_prompt(
            self.agent_persona, self.agent_task, self.agent_actions, self.agent_resources, self.general_prompt
        )

    def get_user_tools(self) -> str:
        """Return the caller's tools, name to constructor arguments, as JSON."""
        return json.dumps(self.user_resources.tools)

    def get_agent_tools(self) -> str:
        """Return the agent's tools, name to constructor arguments, as JSON."""
        return json.dumps(self.agent_resources.tools)

    def prompt(self, side: Side) -> str:
        """Return the system prompt of ``side``.

        Raises:
            DefinitionError: if it has characters that cannot be sent.
        """
        text = self.get_user_prompt() if side == USER else self.get_agent_prompt()
        try:
            text.encode()
        except UnicodeEncodeError as exc:
            raise DefinitionError(
                f"{location(type(self))}: the {side}'s prompt of scenario {self.name} cannot be sent: its "
                f"character {exc.start} is {text[exc.start]!r}, half of a pair; write the whole character"
            ) from None
        return text

    def tools(self, side: Side) -> str:
        """Return the tools of ``side`` as JSON."""
        return self.get_user_tools() if side == USER else self.get_agent_tools()

    def resources(self, side: Side) -> Resources:
        """Return the resources of ``side``."""
        return self.user_resources if side == USER else self.agent_resources

    def setup_shared_state(self, state: dict[str, Any], side: Side) -> None:
        """Fill ``state``, which seeds the world of ``side``: here, with nothing.

        It travels as JSON. A relative ``db_path`` is resolved under the data root.
        """

    def sync_state(
        self, agent_db: dict[str, Any], user_db: dict[str, Any]
    ) -> dict[Literal["agent", "user"], dict[str, Any]]:
        """Return what must change on each side for the two databases to agree: here, nothing."""
        return {AGENT: {}, USER: {}}

    @property
    def syncs_state(self) -> bool:
        """Whether the class overrides ``sync_state``."""
        return type(self).sync_state is not Scenario.sync_state

    @cached_property
    def whitelist(self) -> tuple[SuccessSignal, ...]:
        """The success signals as members, each once, in the order of ``SuccessSignal``.

        Raises:
            DefinitionError: (a ``ValueError``) if there are none, or one is unknown.
        """
        given = set()
        for signal in self.success_signals or ():
            try:
                given.add(SuccessSignal(signal))
            except ValueError:
                known = ", ".join(SuccessSignal)
                raise DefinitionError(
                    f"{location(type(self))}: {self!r}: no success signal {signal!r}; choose from: {known}"
                ) from None
        if not given:
            raise DefinitionError(
                f"{location(type(self))}: {self!r}: success_signals is empty; name at least one signal"
            )
        return tuple(signal for signal in SuccessSignal if signal in given)

    @cached_property
    def expected_db_hash(self) -> str | None:
        """Canonical hash of ``expected_scenario_db``; ``None`` if none is expected."""
        return None if self.expected_scenario_db is None else get_dict_hash(self.expected_scenario_db)

    def compute_is_successful(self, signals: Mapping[str, bool | float | None]) -> bool | Literal["N/A"]:
        """Return whether every whitelisted signal that applies holds; ``"N/A"`` if none applies.

        ``signals`` maps keys of ``metrics.json`` to values; ``None`` or absence means "does not apply", and
        a rate holds at 1.0.
        """
        values = [signals.get(signal.value) for signal in self.whitelist]
        applicable = [value for value in values if value is not None]
        return all(value >= 1.0 for value in applicable) if applicable else "N/A"

    def save(self, directory: Path | str) -> None:
        """Write prompts, tools, metadata and reference into ``directory`` (``scenario_config``)."""
        from pytest_voiceeval.scenarios.saving import save_scenario  # noqa: PLC0415 - it imports this module

        save_scenario(self, Path(directory))


def _check_success_signals(cls: type[Scenario]) -> None:
    """Raise ``TypeError`` if ``cls`` names no success signal; a computed one is taken on trust."""
    signals = inspect.getattr_static(cls, "success_signals")
    if hasattr(signals, "__get__"):
        return
    if isinstance(signals, str) or not isinstance(signals, Iterable) or not list(signals):
        raise TypeError(
            f"scenario class {cls.__qualname__} (name = {vars(cls)['name']!r}) needs success_signals: "
            f"a tuple with at least one SuccessSignal, not {signals!r}"
        )
