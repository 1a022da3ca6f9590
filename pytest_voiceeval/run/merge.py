"""Several runs as one: what each of them holds, and whether they can be one."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from pytest_voiceeval.errors import DefinitionError
from pytest_voiceeval.run.agent_turns import settled
from pytest_voiceeval.run.aggregate import domain_of
from pytest_voiceeval.run.attempts import retried_attempts
from pytest_voiceeval.run.earlier import own_content, read_note
from pytest_voiceeval.run.history import (
    RUN_ARGS,
    differing_options,
    last_minimum,
    read_invocations,
    scenario_names,
)
from pytest_voiceeval.run.item_outcomes import ItemOutcome, read_outcomes
from pytest_voiceeval.run.resume import scenario_folders
from pytest_voiceeval.run.words import BROKEN_OFF, ERROR, NOT_RUN, NOT_SCORED, SKIPPED

UNFINISHED = (BROKEN_OFF, NOT_SCORED, NOT_RUN)
SHOWN = 5
"""How many names of scenarios a message has."""


class MergeError(DefinitionError):
    """Runs cannot be folded into one."""


@dataclass(frozen=True)
class Source:
    """A run that is to be part of another one.

    Attributes:
        folder: of the run.
        label: what messages call it.
        starts: the records of its starts, the last one last.
        outcomes: what became of each of its items.
    """

    folder: Path
    label: str
    starts: list[dict[str, Any]]
    outcomes: dict[str, ItemOutcome]

    @property
    def fingerprint(self) -> str:
        """Tells this state of the run from another one, wherever it lies."""
        return hashlib.sha256((self.folder / RUN_ARGS).read_bytes()).hexdigest()

    @property
    def begun(self) -> tuple[str, str, str]:
        """By what runs are sorted: when they were begun, to the second, then by name and what they held."""
        return str(self.starts[0].get("started_at", "")), self.folder.name, self.fingerprint


def check_folders(folders: Sequence[Path], output: Path) -> None:
    """See whether the folders of runs and of the merged one are all others.

    Raises:
        MergeError: if not.
    """
    twice = [folder for number, folder in enumerate(folders) if folder in folders[:number]]
    if twice:
        raise MergeError(f"{twice[0]} is given twice; name each run once")
    inside = [folder for folder in folders if output.resolve().is_relative_to(folder.resolve())]
    if inside:
        raise MergeError(f"{output} lies in the run {inside[0]}; name a folder outside of it")


def read_sources(folders: Sequence[Path]) -> list[Source]:
    """Return the runs, sorted by when they were begun.

    Raises:
        MergeError: if one is none of ours.
    """
    names = [folder.name for folder in folders]
    labels = [
        name if names.count(name) == 1 else str(path) for name, path in zip(names, folders, strict=True)
    ]
    return sorted(map(_read, folders, labels), key=lambda source: source.begun)


def _read(folder: Path, label: str) -> Source:
    starts = read_invocations(folder)
    if not starts:
        raise MergeError(
            f"{label}: {RUN_ARGS} is missing or can't be read, so nothing tells what the run was to hold; "
            "copy the whole folder, or resume the run"
        )
    outcomes = read_outcomes(starts)
    folders = _folders_of_items(folder)
    minimum = last_minimum(starts)
    for item, place in folders.items():
        known = outcomes.get(item)
        if known is None or known.verdict is None:
            outcomes[item] = _outcome_of_folder(item, place, minimum) or known or _broken_off(item, place)
    for item, known in outcomes.items():
        is_scored = known.verdict is not None and known.outcome != ERROR  # an error need not have metrics
        if is_scored and not _has_result(folders.get(item)):
            outcomes[item] = replace(known, outcome=BROKEN_OFF, verdict=None)
    held = {outcome.scenario for outcome in outcomes.values()}
    missing = (name for name in scenario_names(starts) if name not in held and name not in outcomes)
    return Source(
        folder, label, starts, outcomes | {name: ItemOutcome(name, name, NOT_RUN) for name in missing}
    )


def _folders_of_items(run: Path) -> dict[str, Path]:
    """Return the last folder of each item; of one that has no note, by the name of the folder."""
    found: dict[str, Path] = {}
    for folder in sorted(scenario_folders(run), key=lambda path: (len(path.name), path.name)):
        if not folder.is_symlink():
            note = read_note(folder)
            found[note.item if note else folder.name] = folder
    return found


def _broken_off(item: str, folder: Path) -> ItemOutcome:
    return ItemOutcome(item, item.rpartition("::")[2], BROKEN_OFF, folder=folder.name)


def _has_result(folder: Path | None) -> bool:
    """Return whether the metrics of a scenario are in a folder, and can be read."""
    return folder is not None and bool(own_content(folder).get("scenario_name"))


def _outcome_of_folder(item: str, folder: Path, minimum: int) -> ItemOutcome | None:
    """Return what the metrics in a folder tell of an item; ``None`` if there are none."""
    content = own_content(folder)
    if not content.get("scenario_name"):
        return None
    content = settled(content, minimum)
    words = {True: "passed", False: "failed"}
    is_error = content.get("verdict") == ERROR
    success = content.get("is_successful")
    word = ERROR if is_error else words.get(success, SKIPPED) if isinstance(success, bool) else SKIPPED
    verdict = str(content.get("verdict") or word)
    attempts = len(retried_attempts(content)) + 1
    return ItemOutcome(item, str(content["scenario_name"]), word, verdict, folder.name, attempts)


def check_complete(sources: Sequence[Source]) -> None:
    """See whether all runs came to their end.

    Raises:
        MergeError: naming the runs, and what they lack.
    """
    lacking = []
    for source in sources:
        unfinished = sorted(o.scenario for o in source.outcomes.values() if o.outcome in UNFINISHED)
        if unfinished:
            lacking.append(f"{source.label} has no result of {_some(unfinished)}")
    if lacking:
        raise MergeError(
            f"{'; '.join(lacking)}: resume it first with --voice-resume, or merge what there is with "
            "--incomplete and resume the merged run"
        )


def merged_outcomes(sources: Sequence[Source]) -> dict[str, tuple[Source, ItemOutcome]]:
    """Return what became of each item, and in which run.

    An item that one run did not come to the end of, and another did, is that of the other.

    Raises:
        MergeError: if two runs came to the end of the same item.
    """
    found: dict[str, tuple[Source, ItemOutcome]] = {}
    twice: dict[str, list[str]] = {}
    for source in sources:
        for item, outcome in source.outcomes.items():
            before = found.get(item)
            if before is None or _says_more(outcome, before[1]):
                found[item] = (source, outcome)
            elif outcome.outcome not in UNFINISHED:
                twice.setdefault(f"{before[0].label} and {source.label}", []).append(item)
    if twice:
        shared = "; ".join(f"{_some(sorted(items))} in {runs}" for runs, items in twice.items())
        raise MergeError(
            f"a run has one result of each scenario, and there are two: {shared}; merge runs that share "
            "none, such as the parts that --voice-shard makes, or leave one of them out"
        )
    return found


def _says_more(outcome: ItemOutcome, before: ItemOutcome) -> bool:
    order = [NOT_RUN, BROKEN_OFF, NOT_SCORED]
    ranks = [order.index(o.outcome) if o.outcome in order else len(order) for o in (outcome, before)]
    return ranks[0] > ranks[1]


def _some(names: Sequence[str]) -> str:
    shown = ", ".join(names[:SHOWN])
    return shown if len(names) <= SHOWN else f"{shown} and {len(names) - SHOWN} more"


def common_minimum(sources: Sequence[Source]) -> int:
    """Return how often an agent had to answer, which all runs agree on.

    Raises:
        MergeError: if they do not.
    """
    minima = {source.label: last_minimum(source.starts) for source in sources}
    if len(set(minima.values())) > 1:
        given = ", ".join(f"{minimum} in {label}" for label, minimum in minima.items())
        raise MergeError(
            f"--voice-min-agent-turns was not the same in all runs ({given}), and results depend on it; say "
            "which minimum holds for all with --min-agent-turns"
        )
    return next(iter(minima.values()))


def differences(
    sources: Sequence[Source], records: Mapping[str, Sequence[Mapping[str, Any]]]
) -> Iterator[str]:
    """Yield what keeps results of the runs from comparing, one text each.

    Args:
        sources: the runs.
        records: the metrics of each, by its label.
    """
    yield from differing_options({source.label: source.starts[-1] for source in sources})
    clocks = {label: _values(found, "clock") for label, found in records.items()}
    if _are_apart(clocks):
        told = (f"{', '.join(sorted(found))} in {label}" for label, found in clocks.items() if found)
        yield f"calls ran on other clocks: {' and '.join(told)}"
    yield from _lost_parts(sources)
    domains = {
        domain_of(str(record.get("scenario_name", ""))) for found in records.values() for record in found
    }
    for domain in sorted(domains):
        own = {
            label: [r for r in found if domain_of(str(r.get("scenario_name", ""))) == domain]
            for label, found in records.items()
        }
        for key, what in (("task_set_sha256", "tasks"), ("data_sha256", "data")):
            sets = {label: _values(found, key) for label, found in own.items()}
            if _are_apart(sets):
                where = " and ".join(label for label, found in sets.items() if found)
                yield f"{what} of {domain} are of other sets in {where}"


def _lost_parts(sources: Sequence[Source]) -> Iterator[str]:
    """Yield which parts that --voice-shard made are not among the runs, if not all are."""
    options = [source.starts[-1].get("parsed_args") for source in sources]
    given = [str(o.get("voice_shard") or "") for o in options if isinstance(o, Mapping)]
    here = {(int(part), int(whole)) for part, _, whole in (text.partition("/") for text in given) if whole}
    for whole in sorted({whole for _, whole in here}):
        lost = [f"{part}/{whole}" for part in range(1, whole + 1) if (part, whole) not in here]
        if lost:
            yield f"parts {', '.join(lost)} of --voice-shard are not among the runs: empty, or lost"


def _are_apart(values: Mapping[str, set[str]]) -> bool:
    return len({frozenset(found) for found in values.values() if found}) > 1


def _values(records: Iterable[Mapping[str, Any]], key: str) -> set[str]:
    return {str(record[key]) for record in records if record.get(key) is not None}
