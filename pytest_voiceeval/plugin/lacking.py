"""Scenarios that are asked for and cannot be had: files that skip themselves, and those that lack data."""

from __future__ import annotations

import contextlib
from collections.abc import Collection, Iterable
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

import pytest

from pytest_voiceeval.errors import DataMissingError, DefinitionError

if TYPE_CHECKING:
    from pytest_voiceeval.plugin.arguments import Argument
    from pytest_voiceeval.plugin.catalogue import Catalogue, Entry


def silent_files(selector: str, catalogue: Catalogue) -> list[Entry]:
    """Return the files that skipped themselves and look as if ``selector`` stood for scenarios in them."""
    skipped = [entry for entry in catalogue if entry.path in catalogue.skipped]
    return [entry for entry in skipped if selector == "all" or _may_define(entry, selector, catalogue)]


def _may_define(entry: Entry, selector: str, catalogue: Catalogue) -> bool:
    domain = selector.partition("__")[0]
    if missing := catalogue.lacking.get(entry.path):
        return _may_be_of(missing.domain, selector)
    return any(sign in domain for sign in "*?[") or entry.mentions([domain])


def _may_be_of(domain: str, selector: str) -> bool:
    """Return whether a selector may stand for scenarios made of the data of ``domain``."""
    words = selector.partition("__")[0]
    return fnmatchcase(domain, words) or words.startswith(f"{domain}_")


def demand_data_of_selectors(selectors: Iterable[str], catalogue: Catalogue) -> None:
    """Refuse selectors that stand for nothing, and may stand for scenarios whose data are missing.

    Raises:
        pytest.UsageError: if there is one.
    """
    missing = catalogue.lacking.values()
    _demand(error for selector in selectors for error in missing if _may_be_of(error.domain, selector))


def demand_data_of_files(arguments: Iterable[Argument], catalogue: Catalogue) -> None:
    """Load the files that arguments name, and refuse those that lack data.

    Other errors of theirs come when they are collected.

    Raises:
        pytest.UsageError: if one lacks data.
    """
    named = [entry for argument in arguments if (entry := catalogue.find(argument.path))]
    for entry in named:
        with contextlib.suppress(DefinitionError):
            catalogue.load([entry].__contains__)
    _demand(catalogue.lacking[entry.path] for entry in named if entry.path in catalogue.lacking)


def demand_mentioned_data(catalogue: Catalogue, spellings: Collection[str]) -> None:
    """Refuse data that are missing for scenarios that words of ``-m`` or ``-k`` name.

    Args:
        catalogue: whose files were loaded.
        spellings: how files spell the names, among them ``domain__``.

    Raises:
        pytest.UsageError: if there are any.
    """
    missing = catalogue.lacking.values()
    _demand(error for error in missing if any(text.startswith(f"{error.domain}_") for text in spellings))


def _demand(missing: Iterable[DataMissingError]) -> None:
    """Tell what is missing, if anything.

    Raises:
        pytest.UsageError: with a line for each remedy.
    """
    absences: dict[str, dict[str, None]] = {}
    for error in missing:
        absences.setdefault(error.remedy, {})[error.absence] = None
    if absences:
        raise pytest.UsageError(
            "\n".join(f"{'; '.join(texts)}; {remedy}" for remedy, texts in absences.items())
        )
