"""Loading packs to look at them: one fault for each file that can't be imported, and what they forgot."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from types import ModuleType

from pytest_voiceeval.errors import DataMissingError, DefinitionError, FileSkippedError
from pytest_voiceeval.run.findings import Finding
from pytest_voiceeval.scenarios.base import Scenario
from pytest_voiceeval.scenarios.packs import Pack
from pytest_voiceeval.scenarios.registry import list_eval_scenarios, scenario_class
from pytest_voiceeval.tools.origin import location


def load_packs(packs: Iterable[Pack], *, tells_missing_data: bool = True) -> list[Finding]:
    """Import all tools and scenarios of ``packs``, as far as that goes, and return what was found thereby."""
    return [finding for pack in packs for finding in _load(pack, tells_missing_data)]


def _load(pack: Pack, tells_missing_data: bool) -> Iterator[Finding]:
    if not pack.scenario_files():
        yield Finding(
            str(pack.root / "scenarios"),
            "",
            "no file in it registers a scenario",
            "put @register_eval_scenario above the class of each",
        )
    for path in [*pack.tool_files(), *pack.scenario_files()]:
        try:
            module = pack.load_file(path)
        except DataMissingError as exc:
            if tells_missing_data:
                yield Finding(str(path), "", str(exc), is_fault=False)
        except FileSkippedError as exc:
            yield Finding(str(path), "", f"the file skips itself: {exc.__cause__}", is_fault=False)
        except DefinitionError as exc:
            yield Finding.of(str(exc), place=str(path))
        else:
            yield from _forgotten(module)


def _forgotten(module: ModuleType) -> Iterator[Finding]:
    """Yield a fault for each concrete scenario of ``module`` that is not registered."""
    for cls in vars(module).values():
        if not (isinstance(cls, type) and issubclass(cls, Scenario) and cls.__module__ == module.__name__):
            continue
        name = vars(cls).get("name")
        if isinstance(name, str) and scenario_class(name) is not cls:
            yield Finding(
                location(cls), name, "the scenario is not registered", "put @register_eval_scenario above it"
            )


def names_in(packs: Iterable[Pack]) -> list[str]:
    """Return the names of the scenarios that come from ``packs``, in order of registration."""
    prefixes = tuple(f"{pack.package}." for pack in packs)
    return [
        name
        for name in list_eval_scenarios()
        if (cls := scenario_class(name)) is not None and cls.__module__.startswith(prefixes)
    ]
