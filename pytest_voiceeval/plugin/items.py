"""Nodes: a scenario file, and one item for each scenario in it."""

from __future__ import annotations

import inspect
import os
import sys
import types
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import pytest

from pytest_voiceeval.errors import DefinitionError, FileSkippedError, UnknownNameError
from pytest_voiceeval.model.safe_text import shown_lines
from pytest_voiceeval.plugin.catalogue import Entry
from pytest_voiceeval.plugin.chosen import Names
from pytest_voiceeval.plugin.marks import VOICE_MARK, Marks, marks_on, register
from pytest_voiceeval.plugin.resuming import restored
from pytest_voiceeval.plugin.selection import selection_key

if TYPE_CHECKING:
    from pytest_voiceeval.model.metrics import Metrics
    from pytest_voiceeval.scenarios.base import Scenario


class ChecksFailed(AssertionError):  # noqa: N818 - a verdict, not an error
    """A scenario was not passed: the agent's fault. The text says what was expected and found."""

    def __init__(self, text: str) -> None:
        super().__init__(text)


def assert_successful(voice_metrics: Metrics) -> None:
    """The body of every scenario item: fixtures held the call, here the verdict is asserted."""
    from pytest_voiceeval.model.metrics import Verdict  # noqa: PLC0415 - light start
    from pytest_voiceeval.report.failure import failure_text, skip_reason  # noqa: PLC0415 - as above

    __tracebackhide__ = True
    if voice_metrics.verdict is Verdict.NOT_APPLICABLE:
        pytest.skip(skip_reason(voice_metrics))
    if voice_metrics.verdict is Verdict.FAILED:
        raise ChecksFailed(failure_text(voice_metrics))


def message_alone(excinfo: pytest.ExceptionInfo[BaseException]) -> Any:
    """Return what pytest shows of an exception whose text is all there is to say.

    The line in pytest's summary has the text too, and no class in front of it: its columns are few. Whatever
    a bot or a judge put into the text, it does nothing to the terminal.
    """
    text = shown_lines(str(excinfo.value))
    told = ChecksFailed(text).with_traceback(excinfo.value.__traceback__)
    shown = pytest.ExceptionInfo.from_exception(told).getrepr(style="value", chain=False)
    if shown.reprcrash is not None:
        shown.reprcrash.message = text
    return shown


def _body_of(scenario: type[Scenario]) -> Any:
    """Return the body of an item, described as its scenario is: ``--collect-only -v`` shows that."""
    name, description = assert_successful.__name__, scenario.description
    body = types.FunctionType(assert_successful.__code__, assert_successful.__globals__, name)
    body.__doc__ = description if isinstance(description, str) else inspect.getdoc(scenario)
    return body


class VoiceItem(pytest.Function):
    """One scenario.

    Attributes:
        scenario: its class.
        restored: its result from before, if it has one and this run goes on with an earlier one.
    """

    scenario: type[Scenario]
    restored: Metrics | None

    @classmethod
    def of_scenario(
        cls, parent: ScenarioFile, name: str, scenario: type[Scenario], marks: Marks
    ) -> VoiceItem:
        """Return the item of a scenario class, with its marks; they must be registered."""
        item = cls.from_parent(parent, name=name, callobj=_body_of(scenario))
        item.scenario = scenario
        item.user_properties.append(("voice_scenario", name))
        item.add_marker(VOICE_MARK)
        if mark := marks.of_scenario(name):
            item.add_marker(mark)
        for own in marks_on(scenario):
            item.add_marker(own if isinstance(own, pytest.MarkDecorator) else _decorator(own))
        return item

    def setup(self) -> None:
        """Set the fixtures up, unless the scenario has a result from before: then nothing is held."""
        self.restored = restored(self)
        if self.restored is None:
            super().setup()

    def runtest(self) -> None:
        """Assert the verdict, of this call or of the one from before."""
        __tracebackhide__ = True
        if self.restored is None:
            super().runtest()
        else:
            assert_successful(self.restored)

    def reportinfo(self) -> tuple[os.PathLike[str] | str, int | None, str]:
        """Return the file and the line of the scenario class."""
        return self.path, _line_of(self.scenario), self.name

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException]) -> Any:  # type: ignore[override]  # as Function's
        """Return the message alone where the message is all there is to say."""
        if isinstance(excinfo.value, ChecksFailed):
            return message_alone(excinfo)
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
        except FileSkippedError as exc:
            raise _as_pytests(exc) from None
        except DefinitionError as exc:
            raise self.CollectError(str(exc)) from exc
        for mark in marks_on(self.obj):
            self.add_marker(mark if isinstance(mark, pytest.MarkDecorator) else _decorator(mark))
        yield from super().collect()
        selection = self.config.stash[selection_key]
        marks = selection.marks
        found = {
            name: scenario
            for name in registry.list_eval_scenarios()
            if (scenario := registry.scenario_class(name)) is not None
            and scenario.__module__ == self.obj.__name__
        }
        try:
            wanted = self.names
            if wanted is None:  # a file in a folder that was named may be of a domain without splits
                wanted = frozenset(selection.catalogue.of_split(found, demanded=False))
        except UnknownNameError as exc:
            raise self.CollectError(str(exc)) from exc
        found = {name: scenario for name, scenario in found.items() if name in wanted}
        _check_encoding(found)
        register(self.config, filter(None, map(marks.of_scenario, found)))
        for name, scenario in found.items():
            yield VoiceItem.of_scenario(self, name, scenario, marks)


def _check_encoding(names: Iterable[str]) -> None:
    """Refuse names that this process cannot put into its environment, as pytest does with each test's."""
    for name in names:
        try:
            os.fsencode(name)
        except UnicodeEncodeError:
            encoding = sys.getfilesystemencoding()
            raise pytest.Collector.CollectError(
                f"the name of scenario {name!a} does not exist in the encoding of this process, {encoding}, "
                "and pytest needs it there; set PYTHONUTF8=1, or another locale, such as LC_ALL=C.UTF-8"
            ) from None


def _as_pytests(skipped: FileSkippedError) -> BaseException:
    """Return the exception with which a file skipped itself, as pytest knows it."""
    cause = skipped.__cause__
    return cause if isinstance(cause, pytest.skip.Exception) else pytest.skip.Exception(str(skipped))


def _decorator(mark: pytest.Mark) -> pytest.MarkDecorator:
    decorator: pytest.MarkDecorator = getattr(pytest.mark, mark.name)
    return decorator.with_args(*mark.args, **mark.kwargs)


def _line_of(cls: type) -> int:
    """Return the line, from 0, that a class begins at; 0 for one that no source shows."""
    try:
        return inspect.getsourcelines(cls)[1] - 1
    except (OSError, TypeError):
        return 0
