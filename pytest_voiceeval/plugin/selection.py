"""Which scenarios a run collects: what the command line names, and what its options ask for."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from pytest_voiceeval.errors import DefinitionError, UnknownNameError
from pytest_voiceeval.plugin import lacking
from pytest_voiceeval.plugin.arguments import Argument, spellings
from pytest_voiceeval.plugin.catalogue import Catalogue, Entry
from pytest_voiceeval.plugin.marks import VOICE_MARK, Marks, marks_on
from pytest_voiceeval.plugin.settings import Settings

if TYPE_CHECKING:
    from pytest_voiceeval.plugin.expressions import Expression

Names = frozenset[str] | None
"""Names of scenarios; ``None`` for all of a file."""


@dataclass(frozen=True)
class Selection:
    """The scenario files to collect.

    Attributes:
        catalogue: all scenario files.
        marks: which marks their scenarios carry.
        chosen: the files to collect, and the scenarios of each.
    """

    catalogue: Catalogue
    marks: Marks
    chosen: Mapping[Path, Names] = field(default_factory=dict)


selection_key = pytest.StashKey[Selection]()


def catalogue_of(config: pytest.Config, settings: Settings) -> Catalogue:
    """Return the scenario files of this run."""
    return Catalogue(
        settings.packs(),
        config.rootpath,
        project_roots=settings.pack_roots,
        test_files=config.getini("python_files"),
        split=settings.split,
    )


def select(config: pytest.Config, settings: Settings) -> Selection:
    """Return the scenarios of this run, and make ``config.args`` name their files.

    Raises:
        pytest.UsageError: if a selector stands for nothing, or a pack can't be loaded.
    """
    try:
        return _select(config, settings.scenarios, catalogue_of(config, settings))
    except (DefinitionError, UnknownNameError) as exc:
        raise pytest.UsageError(str(exc)) from exc


def _select(config: pytest.Config, selectors: tuple[str, ...], catalogue: Catalogue) -> Selection:
    marks = Marks.of_config(config)
    folder = config.invocation_params.dir
    paths_given = config.args_source is pytest.Config.ArgsSource.ARGS
    config.args[:] = [_existing(text, folder, catalogue) for text in config.args]
    chosen: dict[Path, Names] = {}
    arguments = [Argument.parse(text, folder) for text in config.args]
    if config.args_source is not pytest.Config.ArgsSource.INVOCATION_DIR:
        chosen.update(_named(arguments, catalogue))
        lacking.demand_data_of_files(arguments, catalogue)
        _demand_split_of_files(arguments, catalogue)
    if selectors:
        asked = by_option(selectors, catalogue)
        if not paths_given:
            config.args.clear()
            chosen.clear()
    elif not paths_given:
        by_words = _by_marks(config, catalogue, marks), _by_keywords(config, catalogue)
        asked = _union(*by_words, _by_failure(config, catalogue))
    else:
        asked = {}
    chosen.update(_combined(chosen, asked))
    arguments = [Argument.parse(text, folder) for text in config.args]
    missing = [e.path for e in catalogue if e.path in asked and not any(a.covers(e.path) for a in arguments)]
    config.args.extend(map(str, missing))
    return Selection(catalogue, marks, chosen)


def _existing(text: str, folder: Path, catalogue: Catalogue) -> str:
    """Return an argument with the file of a pack in place of a path that exists in node ids only."""
    path, separator, rest = text.partition("::")
    if (folder / path).exists():
        return text
    entry = catalogue.find_node(Path(path).as_posix())
    return f"{entry.path}{separator}{rest}" if entry else text


def _named(arguments: Iterable[Argument], catalogue: Catalogue) -> dict[Path, Names]:
    """Return what arguments name: a scenario file, a scenario in it, or a ``scenarios`` folder."""
    found: dict[Path, Names] = {}
    for argument in arguments:
        if entry := catalogue.find(argument.path):
            names = spellings(argument.names[0]) if argument.names else None
            found[entry.path] = _either(found.get(entry.path, frozenset()), names)
        else:
            found.update({entry.path: None for entry in catalogue.in_folder(argument.path)})
    return found


def _demand_split_of_files(arguments: Iterable[Argument], catalogue: Catalogue) -> None:
    """Return if the files that are named as a whole, and loaded, can be narrowed to the split.

    Raises:
        UnknownNameError: if not.
    """
    whole = [catalogue.find(argument.path) for argument in arguments if not argument.names]
    if any(whole):
        catalogue.of_split(name for name, entry in catalogue.scenarios().items() if entry in whole)


def by_option(selectors: tuple[str, ...], catalogue: Catalogue) -> dict[Path, Names]:
    """Return the scenarios that selectors stand for, and files that skipped themselves and may have some.

    Raises:
        DefinitionError: if a file can't be imported.
        pytest.UsageError: if a selector stands for nothing.
    """
    catalogue.load()
    scenarios = catalogue.scenarios()
    found: dict[Path, Names] = {}
    unmatched = [selector for selector in selectors if not _matches(selector, scenarios)]
    lacking.demand_data_of_selectors(unmatched, catalogue)
    for selector in selectors:
        silent = lacking.silent_files(selector, catalogue)
        found.update({entry.path: None for entry in silent})
        is_known = not silent or selector not in unmatched
        names = _selected(selectors, selector, catalogue.split) if is_known else []
        here = [name for name in names if name in scenarios]
        if names and not here:
            raise pytest.UsageError(
                f"--voice-scenarios={','.join(selectors)}: {names[0]} is defined outside of the scenario "
                "files of a pack; move it into a file in scenarios/ that registers it"
            )
        found = _union(found, _by_file((name, scenarios[name]) for name in here))
    return found


def _selected(selectors: tuple[str, ...], selector: str, split: str) -> list[str]:
    from pytest_voiceeval.scenarios.registry import select as select_names  # noqa: PLC0415 - heavy

    try:
        return select_names([selector], split)
    except UnknownNameError as exc:
        raise pytest.UsageError(f"--voice-scenarios={','.join(selectors)}: {exc}") from exc


def _matches(selector: str, scenarios: Mapping[str, Entry]) -> bool:
    from pytest_voiceeval.scenarios.registry import select as select_names  # noqa: PLC0415 - heavy

    try:
        return any(name in scenarios for name in select_names([selector]))
    except UnknownNameError:
        return False


def _expression(config: pytest.Config, option: str) -> Expression | None:
    text = config.getoption(option, default="")
    if not text:
        return None
    from pytest_voiceeval.plugin.expressions import parse  # noqa: PLC0415 - light start

    return parse(text)


def _by_marks(config: pytest.Config, catalogue: Catalogue, marks: Marks) -> dict[Path, Names]:
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
    return _by_file((name, scenarios[name]) for name in catalogue.of_split(held))


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


def _by_keywords(config: pytest.Config, catalogue: Catalogue) -> dict[Path, Names]:
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
    return _by_file((name, scenarios[name]) for name in catalogue.of_split(spelt))


def _has_domain(name: str) -> bool:
    return name.find("__") > 0


def _spellings(words: Iterable[str]) -> set[str]:
    """Return how source files spell the domain or the name that each word is, most of the time."""
    domains = {word.partition("__")[0] for word in words}
    return {spelling for domain in domains for spelling in (f"{domain}__", f'"{domain}"', f"'{domain}'")}


def _by_failure(config: pytest.Config, catalogue: Catalogue) -> dict[Path, Names]:
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
            found[entry.path] = _either(found.get(entry.path, frozenset()), names)
    return found


def _by_file(scenarios: Iterable[tuple[str, Entry]]) -> dict[Path, Names]:
    found: dict[Path, Names] = {}
    for name, entry in scenarios:
        found[entry.path] = _either(found.get(entry.path, frozenset()), frozenset({name}))
    return found


def _either(one: Names, other: Names) -> Names:
    return None if one is None or other is None else one | other


def _union(*parts: Mapping[Path, Names]) -> dict[Path, Names]:
    found: dict[Path, Names] = {}
    for part in parts:
        for path, names in part.items():
            found[path] = _either(found.get(path, frozenset()), names)
    return found


def _combined(named: Mapping[Path, Names], asked: Mapping[Path, Names]) -> dict[Path, Names]:
    """Return the asked-for scenarios with those that node ids name; a file named as a whole is narrowed."""
    return {
        path: names if named.get(path) is None else _either(names, named[path])
        for path, names in asked.items()
    }
