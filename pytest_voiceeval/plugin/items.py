"""Nodes: a scenario file, and one item for each scenario in it."""

from __future__ import annotations

import inspect
import os
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import pytest

from pytest_voiceeval.errors import DefinitionError
from pytest_voiceeval.plugin.catalogue import Entry
from pytest_voiceeval.plugin.selection import VOICE_MARK, Names, mark_of, marks_on
from pytest_voiceeval.report.failure import failure_text, skip_reason

if TYPE_CHECKING:
    from pytest_voiceeval.model.metrics import Metrics
    from pytest_voiceeval.scenarios.base import Scenario


class ChecksFailed(AssertionError):  # noqa: N818 - a verdict, not an error
    """A scenario was not passed: the agent's fault. The text says what was expected and found."""

    __module__ = "builtins"  # reports show the bare name

    def __init__(self, text: str) -> None:
        super().__init__(text)


def assert_successful(voice_metrics: Metrics) -> None:
    """The body of every scenario item: fixtures held the call, here the verdict is asserted."""
    from pytest_voiceeval.model.metrics import Verdict  # noqa: PLC0415 - light start

    __tracebackhide__ = True
    if voice_metrics.verdict is Verdict.NOT_APPLICABLE:
        pytest.skip(skip_reason(voice_metrics))
    if voice_metrics.verdict is Verdict.FAILED:
        raise ChecksFailed(failure_text(voice_metrics))


class VoiceItem(pytest.Function):
    """One scenario."""

    scenario: type[Scenario]

    @classmethod
    def of_scenario(cls, parent: pytest.Module, name: str, scenario: type[Scenario]) -> VoiceItem:
        """Return the item of a scenario class, with its marks."""
        item = cls.from_parent(parent, name=name, callobj=assert_successful)
        item.scenario = scenario
        item.user_properties.append(("voice_scenario", name))
        item.add_marker(VOICE_MARK)
        if mark := mark_of(name):
            item.config.addinivalue_line("markers", f"{mark}: voice scenarios of this domain")
            item.add_marker(mark)
        for own in marks_on(scenario):
            item.add_marker(own if isinstance(own, pytest.MarkDecorator) else _decorator(own))
        return item

    def reportinfo(self) -> tuple[os.PathLike[str] | str, int | None, str]:
        """Return the file and the line of the scenario class."""
        return self.path, _line_of(self.scenario), self.name

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException]) -> Any:  # type: ignore[override]  # as Function's
        """Return the message alone where the message is all there is to say."""
        if isinstance(excinfo.value, ChecksFailed):
            return excinfo.getrepr(style="value", chain=False)
        return super().repr_failure(excinfo)


class ScenarioFile(pytest.Module):
    """A file of a pack. Its module is the one that the pack imports, so that it is imported once."""

    entry: Entry
    names: Names

    @classmethod
    def of_entry(cls, parent: pytest.Collector, entry: Entry, names: Names) -> ScenarioFile:
        """Return the node of a scenario file, of which ``names`` are wanted."""
        node = cls.from_parent(parent, path=entry.path, nodeid=entry.node_path)
        node.entry = entry
        node.names = names
        return node

    def collect(self) -> Iterable[pytest.Item | pytest.Collector]:
        """Return one item for each wanted scenario, in order of registration.

        The registry is asked, not the module's namespace: a benchmark makes its classes in a loop.
        """
        from pytest_voiceeval.scenarios import packs, registry  # noqa: PLC0415 - heavy

        try:
            self.obj = packs.load_scenario_file(self.entry.pack, self.entry.path)
        except DefinitionError as exc:
            raise self.CollectError(str(exc)) from exc
        for mark in marks_on(self.obj):
            self.add_marker(mark if isinstance(mark, pytest.MarkDecorator) else _decorator(mark))
        yield from super().collect()
        for name in registry.list_eval_scenarios():
            scenario = registry.scenario_class(name)
            if scenario is None or scenario.__module__ != self.obj.__name__:
                continue
            if self.names is None or name in self.names:
                yield VoiceItem.of_scenario(self, name, scenario)


def _decorator(mark: pytest.Mark) -> pytest.MarkDecorator:
    decorator: pytest.MarkDecorator = getattr(pytest.mark, mark.name)
    return decorator.with_args(*mark.args, **mark.kwargs)


def _line_of(cls: type) -> int:
    """Return the line, from 0, that a class begins at; 0 for one that no source shows."""
    try:
        return inspect.getsourcelines(cls)[1] - 1
    except (OSError, TypeError):
        return 0
