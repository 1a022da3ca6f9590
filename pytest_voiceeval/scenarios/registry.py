"""Scenarios by name, and the selection of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any, TypeVar

from pytest_voiceeval.errors import DataMissingError, DefinitionError, DuplicateNameError, UnknownNameError
from pytest_voiceeval.model.nearest import nearest
from pytest_voiceeval.model.safe_text import visible_line
from pytest_voiceeval.scenarios.base import Scenario
from pytest_voiceeval.tools.origin import Origin
from pytest_voiceeval.world.task_sets import split_sizes

T = TypeVar("T", bound=type)

DEFAULT_SPLIT = "base"
"""The split of a benchmark that is held unless another one is asked for."""


@dataclass(frozen=True)
class _Entry:
    cls: type[Scenario]
    origin: Origin


_scenarios: dict[str, _Entry] = {}
_missing: dict[str, str] = {}


def register_eval_scenario(cls: T) -> T:
    """Register a scenario class (decorator) by its ``name``, own or inherited, else by its class name.

    Raises:
        DefinitionError: (a ``ValueError``) if it is no scenario class, or its name no text that can be shown.
        DuplicateNameError: if another class has that name. Importing one file again is no other class.
    """
    if not (isinstance(cls, type) and issubclass(cls, Scenario)):
        raise DefinitionError(f"{cls!r} is no scenario: derive the class from Scenario")
    name = cls.__name__ if cls.name is None else cls.name
    if not isinstance(name, str) or not name:
        raise DefinitionError(f"scenario class {cls.__qualname__}: write its name as a text on the class")
    origin = Origin.of(cls)
    if visible_line(name) != name:
        raise DefinitionError(
            f"{origin}: the name '{visible_line(name)}' has characters that no report can show, here written "
            "as escapes; leave them out"
        )
    present = _scenarios.get(name)
    if present and present.origin.is_loaded and not origin.is_the_same_definition(present.origin):
        raise DuplicateNameError(
            f"scenario '{name}' is defined twice: {origin}, and before that {present.origin}; "
            f"give one of them another name"
        )
    _scenarios[name] = _Entry(cls, origin)
    return cls


def scenario_class(name: str) -> type[Scenario] | None:
    """Return the class registered as ``name``; ``None`` if there is none."""
    entry = _scenarios.get(name)
    return entry.cls if entry and entry.origin.is_loaded else None


def named_scenario_class(name: str) -> type[Scenario]:
    """Return the class registered as exactly ``name``.

    Raises:
        UnknownNameError: if there is none; the message has the nearest names.
    """
    cls = scenario_class(name)
    if cls is None:
        raise UnknownNameError(_no_scenario(name, list_eval_scenarios()))
    return cls


def get_eval_scenario(name: str, **kwargs: Any) -> Scenario | None:
    """Return a new instance of the scenario ``name``; ``None`` if there is none."""
    cls = scenario_class(name)
    return cls(**kwargs) if cls else None


def list_eval_scenarios() -> list[str]:
    """Return the names of all scenarios in order of registration."""
    return [name for name, entry in _scenarios.items() if entry.origin.is_loaded]


def note_missing_data(missing: DataMissingError) -> None:
    """Have it told, where a scenario of that domain is asked for, that its data are missing."""
    _missing[missing.domain] = str(missing)


def _missing_data(selector: str) -> str | None:
    """Return what is missing of the domain that a selector begins with, if no scenario of it is there."""
    domain = scenario_domain(selector)
    return None if domain in scenario_domains() else _missing.get(domain)


def scenario_domain(name: str) -> str:
    """Return the domain that a scenario is selected by: what stands before ``__`` in its name.

    Without ``__`` it is the name of the pack's file that defines it; outside of packs, the whole name.
    """
    domain, separator, _ = name.partition("__")
    if separator or (entry := _scenarios.get(name)) is None:
        return domain
    package, _, stem = entry.origin.module_name.rpartition(".")
    return stem if package.endswith(".scenarios") else name


def scenario_domains() -> list[str]:
    """Return the domains of all scenarios, each once, in order of registration."""
    return list(dict.fromkeys(map(scenario_domain, list_eval_scenarios())))


def select(selectors: Sequence[str], split: str = DEFAULT_SPLIT) -> list[str]:
    """Return the names that a selector stands for, each once, in order of registration.

    A selector is ``all``, a domain, a name, or a glob over names. One that is no name stands for no scenario
    of a benchmark outside of ``split``.

    Raises:
        UnknownNameError: if one stands for nothing; the message has the nearest names.
    """
    names = list_eval_scenarios()
    chosen: set[str] = set()
    for selector in selectors:
        matches = [name for name in names if _stands_for(selector, name)]
        if not matches:
            raise UnknownNameError(_nothing_matches(selector, names))
        chosen.update(matches if selector in matches else of_split(matches, split))
    return [name for name in names if name in chosen]


def of_split(names: Iterable[str], split: str, *, demanded: bool = True) -> list[str]:
    """Return those of ``names`` that are part of a split, and those of benchmarks without any.

    A benchmark that does not have the default split is not narrowed by it.

    Args:
        names: of scenarios.
        split: a benchmark's, or the default.
        demanded: a split is no good where all of ``names`` are of domains without any; but the default is.

    Raises:
        UnknownNameError: if a benchmark that one of ``names`` is of has splits, and this is none of them, or
            if there are none and one is demanded.
    """
    names = list(names)
    here = _tasks_of_splits()
    if split != DEFAULT_SPLIT:
        _check_split(list(dict.fromkeys(map(scenario_domain, names))), split, here, demanded=demanded)
    found = []
    for name in names:
        splits = _splits(name)
        if splits is None or split in splits or split not in here[scenario_domain(name)]:
            found.append(name)
    return found


def absent_tasks(names: Iterable[str], split: str) -> Iterator[str]:
    """Yield, for each benchmark that one of ``names`` is of, that a split has tasks that are not here.

    Nothing of the default split: whoever holds less of that has other data, which is told elsewhere.
    """
    here = _tasks_of_splits()
    for domain in dict.fromkeys(map(scenario_domain, names)) if split != DEFAULT_SPLIT else ():
        size, present = split_sizes(domain).get(split, 0), here.get(domain, Counter())[split]
        if 0 < present < size:
            yield f"the split '{split}' of {domain} has {size} tasks, of which {present} are in the data here"


def _tasks_of_splits() -> dict[str, Counter[str]]:
    """Return how many tasks of each split there are, by domain."""
    found: dict[str, Counter[str]] = {}
    for name in list_eval_scenarios():
        found.setdefault(scenario_domain(name), Counter()).update(_splits(name) or ())
    return found


def _check_split(
    domains: Sequence[str], split: str, here: Mapping[str, Counter[str]], *, demanded: bool
) -> None:
    benchmarks = [domain for domain in domains if here[domain]]
    if domains and not benchmarks and demanded:
        have = "has" if len(domains) == 1 else "have"
        raise UnknownNameError(f"no split '{split}': {', '.join(domains)} {have} no splits; leave it out")
    for domain in benchmarks:
        if split in here[domain]:
            continue
        listed = ", ".join(sorted(here[domain]))
        if size := split_sizes(domain).get(split):
            raise UnknownNameError(
                f"the split '{split}' of {domain} has {size} tasks, none of which is in the data here; those "
                f"have tasks of: {listed}"
            )
        raise UnknownNameError(f"{domain} has no split '{split}'; it has: {listed}")


def _splits(name: str) -> frozenset[str] | None:
    cls = scenario_class(name)
    return cls.splits if cls else None


def _stands_for(selector: str, name: str) -> bool:
    return selector in ("all", name, scenario_domain(name)) or fnmatchcase(name, selector)


def _no_scenario(name: str, names: list[str]) -> str:
    if missing := _missing_data(name):
        return missing
    several = [known for known in names if _stands_for(name, known)]
    if several:
        shown = ", ".join(repr(known) for known in several[:3]) + (", …" if len(several) > 3 else "")
        return f"'{name}' is no scenario but stands for {len(several)}: name one, such as {shown}"
    near = nearest(name, names, cutoff=0.5)
    hint = f"did you mean {' or '.join(map(repr, near))}?" if near else "pytest --voice-list prints all names"
    return f"no scenario '{name}'; {hint}"


def _nothing_matches(selector: str, names: list[str]) -> str:
    if missing := _missing_data(selector):
        return missing
    if not names:
        return f"nothing matches '{selector}': no scenario is registered"
    domains = scenario_domains()
    near = nearest(selector, [*domains, *names], cutoff=0.5)
    if near:
        return f"no scenario or domain '{selector}'; did you mean {' or '.join(repr(n) for n in near)}?"
    return f"no scenario or domain '{selector}'; the domains are: {', '.join(domains)}"
