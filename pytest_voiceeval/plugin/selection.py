"""Which scenarios a run collects: what the command line names, and what its options ask for."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from pytest_voiceeval.errors import DefinitionError, UnknownNameError
from pytest_voiceeval.plugin.catalogue import Catalogue, Entry
from pytest_voiceeval.plugin.settings import Settings

if TYPE_CHECKING:
    from pytest_voiceeval.plugin.expressions import Expression

VOICE_MARK = "voice"
RESERVED_MARKS = frozenset({"parametrize", "skip", "skipif", "xfail", "usefixtures", "filterwarnings"})

Names = frozenset[str] | None
"""Names of scenarios; ``None`` for all of a file."""


@dataclass(frozen=True)
class Selection:
    """The scenario files to collect.

    Attributes:
        catalogue: all scenario files.
        chosen: the files to collect, and the scenarios of each.
    """

    catalogue: Catalogue
    chosen: Mapping[Path, Names] = field(default_factory=dict)


selection_key = pytest.StashKey[Selection]()


@dataclass(frozen=True)
class Argument:
    """A collection argument: the path, and the names behind it (``path::name::name``)."""

    path: Path
    names: tuple[str, ...]

    @classmethod
    def parse(cls, text: str, folder: Path) -> Argument:
        """Return what pytest takes ``text`` for when it is started in ``folder``."""
        path, *names = text.partition("[")[0].split("::")
        return cls((folder / path).resolve(), tuple(names))

    def covers(self, path: Path) -> bool:
        """Return whether collecting it comes by all of ``path``."""
        return not self.names and path.is_relative_to(self.path)


def mark_of(scenario_name: str) -> str | None:
    """Return the mark of a scenario's domain; ``None`` if pytest needs that word for itself."""
    mark = re.sub(r"\W", "_", scenario_name.partition("__")[0])
    return None if mark in RESERVED_MARKS else mark


def select(config: pytest.Config, settings: Settings) -> Selection:
    """Return the scenarios of this run, and make ``config.args`` name their files.

    Raises:
        pytest.UsageError: if a selector stands for nothing, or a pack can't be loaded.
    """
    try:
        return _select(config, settings.scenarios, Catalogue(settings.packs(), config.rootpath))
    except DefinitionError as exc:
        raise pytest.UsageError(str(exc)) from exc


def _select(config: pytest.Config, selectors: tuple[str, ...], catalogue: Catalogue) -> Selection:
    folder = config.invocation_params.dir
    paths_given = config.args_source is pytest.Config.ArgsSource.ARGS
    config.args[:] = [_existing(text, folder, catalogue) for text in config.args]
    chosen: dict[Path, Names] = {}
    if config.args_source is not pytest.Config.ArgsSource.INVOCATION_DIR:
        chosen.update(_named([Argument.parse(text, folder) for text in config.args], catalogue))
    if selectors:
        asked = _by_option(selectors, catalogue)
        if not paths_given:
            config.args.clear()
            chosen.clear()
    elif not paths_given:
        asked = _union(
            _by_marks(config, catalogue), _by_keywords(config, catalogue), _by_failure(config, catalogue)
        )
    else:
        asked = {}
    chosen.update(_combined(chosen, asked))
    arguments = [Argument.parse(text, folder) for text in config.args]
    missing = [e.path for e in catalogue if e.path in asked and not any(a.covers(e.path) for a in arguments)]
    config.args.extend(map(str, missing))
    return Selection(catalogue, chosen)


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
            names = frozenset(argument.names[:1]) or None
            found[entry.path] = _either(found.get(entry.path, frozenset()), names)
        else:
            found.update({entry.path: None for entry in catalogue.in_folder(argument.path)})
    return found


def _by_option(selectors: tuple[str, ...], catalogue: Catalogue) -> dict[Path, Names]:
    from pytest_voiceeval.scenarios.registry import select as select_names  # noqa: PLC0415 - heavy

    catalogue.load()
    try:
        names = select_names(selectors)
    except UnknownNameError as exc:
        raise pytest.UsageError(f"--voice-scenarios={','.join(selectors)}: {exc}") from exc
    scenarios = catalogue.scenarios()
    found = [name for name in names if name in scenarios]
    if not found:
        raise pytest.UsageError(
            f"--voice-scenarios={','.join(selectors)}: {names[0]} is defined outside of the scenarios/ "
            "folder of a pack; move it into a file there"
        )
    return _by_file((name, scenarios[name]) for name in found)


def _expression(config: pytest.Config, option: str) -> Expression | None:
    text = config.getoption(option, default="")
    if not text:
        return None
    from pytest_voiceeval.plugin.expressions import parse  # noqa: PLC0415 - light start

    return parse(text)


def _by_marks(config: pytest.Config, catalogue: Catalogue) -> dict[Path, Names]:
    """Return the scenarios for which ``-m`` holds, if it asks for their marks at all."""
    expression = _expression(config, "markexpr")
    asked = expression.asked if expression else frozenset()
    if expression is None or not any(
        word == VOICE_MARK or catalogue.mentions(f"{word}__") or catalogue.mentions(f'"{word}"')
        for word in asked
    ):
        return {}
    catalogue.load()
    scenarios = catalogue.scenarios()
    if not asked & {VOICE_MARK, *map(mark_of, scenarios)}:
        return {}
    marks = {name: {VOICE_MARK, mark_of(name), *_own_marks(name)} for name in scenarios}
    return _by_file(
        (name, entry) for name, entry in scenarios.items() if expression.holds(marks[name].__contains__)
    )


def _own_marks(scenario_name: str) -> set[str]:
    from pytest_voiceeval.scenarios.registry import scenario_class  # noqa: PLC0415 - heavy

    return {mark.name for mark in marks_on(scenario_class(scenario_name))}


def marks_on(target: object) -> list[pytest.MarkDecorator | pytest.Mark]:
    """Return the marks that a class or a module carries as ``pytestmark``."""
    marks = getattr(target, "pytestmark", [])
    return list(marks) if isinstance(marks, list | tuple) else [marks]


def _by_keywords(config: pytest.Config, catalogue: Catalogue) -> dict[Path, Names]:
    """Return the scenarios that a word of ``-k`` spells out: the name, or its domain with ``__``."""
    expression = _expression(config, "keyword")
    words = [word.lower() for word in expression.asked] if expression else []
    if not any(catalogue.mentions(_prefix(word)) for word in words):
        return {}
    catalogue.load()
    return _by_file(
        (name, entry)
        for name, entry in catalogue.scenarios().items()
        if any(
            name.lower() in word or (_has_prefix(name) and _prefix(name.lower()) in word) for word in words
        )
    )


def _has_prefix(name: str) -> bool:
    return "__" in name


def _prefix(name: str) -> str:
    """Return ``domain__``; a name without domain in quotes, as a source file has it."""
    domain, separator, _ = name.partition("__")
    return domain + separator if separator else f'"{name}"'


def _by_failure(config: pytest.Config, catalogue: Catalogue) -> dict[Path, Names]:
    """Return the scenarios that failed last time, if this run is about those."""
    if not any(config.getoption(option, default=False) for option in ("lf", "failedfirst", "stepwise")):
        return {}
    cache = getattr(config, "cache", None)
    found: dict[Path, Names] = {}
    for node_id in cache.get("cache/lastfailed", {}) if cache else ():
        node_path, _, rest = node_id.partition("::")
        if entry := catalogue.find_node(node_path):
            names = frozenset({rest.partition("[")[0]}) if rest else None
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
