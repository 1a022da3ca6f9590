"""Which scenarios a run collects: what the command line names, and what its options ask for."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from pytest_voiceeval.errors import DefinitionError, UnknownNameError
from pytest_voiceeval.plugin import lacking
from pytest_voiceeval.plugin.arguments import Argument, spellings
from pytest_voiceeval.plugin.asked import by_failure, by_keywords, by_marks
from pytest_voiceeval.plugin.catalogue import Catalogue, Entry
from pytest_voiceeval.plugin.chosen import Names, by_file, combined, either, union
from pytest_voiceeval.plugin.marks import Marks
from pytest_voiceeval.plugin.settings import Settings


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
        by_words = by_marks(config, catalogue, marks), by_keywords(config, catalogue)
        asked = union(*by_words, by_failure(config, catalogue))
    else:
        asked = {}
    chosen.update(combined(chosen, asked))
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
            found[entry.path] = either(found.get(entry.path, frozenset()), names)
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
        found = union(found, by_file((name, scenarios[name]) for name in here))
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
