"""Scenarios that ``-m``, ``-k``, ``--lf`` and their like ask for where nothing else does."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from pytest_voiceeval.errors import DefinitionError
from pytest_voiceeval.plugin import lacking
from pytest_voiceeval.plugin.arguments import spellings
from pytest_voiceeval.plugin.catalogue import Catalogue, Entry
from pytest_voiceeval.plugin.chosen import Names, by_file, either
from pytest_voiceeval.plugin.marks import VOICE_MARK, Marks, marks_on

if TYPE_CHECKING:
    from pytest_voiceeval.plugin.expressions import Expression


def by_marks(config: pytest.Config, catalogue: Catalogue, marks: Marks) -> dict[Path, Names]:
    """Return the scenarios for which ``-m`` holds, if it asks for their marks at all.

    Of packs that are lent, only those whose domain it names; with ``voice`` too, unless somebody else
    has a marker of that name.
    """
    expression = _expression(config, "markexpr")
    if expression is None:
        return {}
    domains = marks.may_be_domains(expression.asked)
    asks_for_all = VOICE_MARK in expression.asked
    takes_lent = asks_for_all and marks.voice_is_ours
    texts = _spellings(domains)

    def may_hold(entry: Entry) -> bool:
        if entry.is_own:
            return asks_for_all or bool(domains)
        return takes_lent or entry.path.stem in domains or entry.mentions(texts)

    scenarios = _loaded(catalogue, may_hold, texts, is_certain=asks_for_all)
    if not asks_for_all and not domains & {marks.of_scenario(name) for name in scenarios}:
        return {}
    carried = {name: {VOICE_MARK, marks.of_scenario(name), *_own_marks(name)} for name in scenarios}
    held = [
        name
        for name, entry in scenarios.items()
        if expression.holds(carried[name].__contains__)
        and (entry.is_own or takes_lent or marks.of_scenario(name) in domains)
    ]
    return by_file((name, scenarios[name]) for name in catalogue.of_split(held))


def by_keywords(config: pytest.Config, catalogue: Catalogue) -> dict[Path, Names]:
    """Return the scenarios that a word of ``-k`` spells out: the name, or its domain with ``__``."""
    expression = _expression(config, "keyword")
    if expression is None:
        return {}
    words = [word.lower() for word in expression.asked]
    texts = _spellings(filter(_has_domain, words)) | {f'"{word}"' for word in words if not _has_domain(word)}
    has_domain = any(map(_has_domain, words))
    scenarios = _loaded(catalogue, lambda e: (e.is_own and has_domain) or e.mentions(texts), texts)
    if not scenarios:
        return {}
    spelt = [
        name
        for name in scenarios
        if any(
            name.lower() in word or (_has_domain(name) and name.lower().partition("__")[0] + "__" in word)
            for word in words
        )
    ]
    return by_file((name, scenarios[name]) for name in catalogue.of_split(spelt))


def by_failure(config: pytest.Config, catalogue: Catalogue) -> dict[Path, Names]:
    """Return the scenarios that failed last time, if this run is about those."""
    if not any(config.getoption(option, default=False) for option in ("lf", "failedfirst", "stepwise")):
        return {}
    cache = getattr(config, "cache", None)
    found: dict[Path, Names] = {}
    for node_id in cache.get("cache/lastfailed", {}) if cache else ():
        node_path, _, rest = node_id.partition("::")
        if entry := catalogue.find_node(node_path):
            # With --dist=loadgroup, xdist appends the group of a test.
            names = spellings(rest) | spellings(rest.rpartition("@")[0] or rest) if rest else None
            found[entry.path] = either(found.get(entry.path, frozenset()), names)
    return found


def _expression(config: pytest.Config, option: str) -> Expression | None:
    text = config.getoption(option, default="")
    if not text:
        return None
    from pytest_voiceeval.plugin.expressions import parse  # noqa: PLC0415 - light start

    return parse(text)


def _loaded(
    catalogue: Catalogue,
    wanted: Callable[[Entry], bool],
    spellings: Collection[str],
    *,
    is_certain: bool = False,
) -> dict[str, Entry]:
    """Return the scenarios of the files that are wanted, which are loaded only now.

    An error in one counts if it is certain that scenarios are asked for, or some file looks like it: words
    of ``-m`` and ``-k`` are mostly about tests.
    """
    entries = [entry for entry in catalogue if wanted(entry)]
    if not entries:
        return {}
    try:
        catalogue.load(entries.__contains__)
    except DefinitionError:
        if is_certain or any(entry.mentions(spellings) for entry in entries):
            raise
        return {}
    lacking.demand_mentioned_data(catalogue, spellings)
    scenarios = catalogue.scenarios()
    return {name: entry for name, entry in scenarios.items() if entry in entries}


def _own_marks(scenario_name: str) -> set[str]:
    from pytest_voiceeval.scenarios.registry import scenario_class  # noqa: PLC0415 - heavy

    return {mark.name for mark in marks_on(scenario_class(scenario_name))}


def _has_domain(name: str) -> bool:
    return name.find("__") > 0


def _spellings(words: Iterable[str]) -> set[str]:
    """Return how source files spell the domain or the name that each word is, most of the time."""
    domains = {word.partition("__")[0] for word in words}
    return {spelling for domain in domains for spelling in (f"{domain}__", f'"{domain}"', f"'{domain}'")}
