"""Which scenarios a run is to hold, which were begun, and what became of each."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

from pytest_voiceeval.plugin.catalogue import Catalogue
from pytest_voiceeval.plugin.items import VoiceItem
from pytest_voiceeval.plugin.reading import was_skipped, without_group
from pytest_voiceeval.plugin.resuming import earlier_key, invocation_key
from pytest_voiceeval.plugin.settings import settings_key
from pytest_voiceeval.report.outcomes import Outcome, Word, counts
from pytest_voiceeval.report.properties import ARTIFACTS, Property, look_up
from pytest_voiceeval.run.attempts import retried_attempts
from pytest_voiceeval.run.earlier import begun_items, own_content, read_note
from pytest_voiceeval.run.files import file_name
from pytest_voiceeval.run.item_outcomes import ItemOutcome
from pytest_voiceeval.run.session import RunFolder, Tally
from pytest_voiceeval.run.words import BROKEN_OFF, ERROR, NOT_RUN, NOT_SCORED


class Ledger:
    """What the recorder learns of a run, and what follows from it.

    Attributes:
        outcomes: what reports told, by node id.
        begun: node ids of scenarios whose turn came, in that order.
    """

    def __init__(self, config: pytest.Config, folder: RunFolder, catalogue: Catalogue) -> None:
        self._invocation = config.stash[invocation_key]
        self._earlier = config.stash.get(earlier_key, None)
        self._folder = folder
        self._catalogue = catalogue
        self._is_grouped = config.getoption("dist", default="no") == "loadgroup"
        self._holds_ahead = config.stash[settings_key].concurrency > 1
        self._selected: dict[str, str] = {}
        self._notes: dict[str, list[Property]] = {}
        self.outcomes: dict[str, Outcome] = {}
        self.begun: list[str] = []

    def select(self, items: Iterable[pytest.Item]) -> None:
        """Take in the items that this process collected."""
        found = [item for item in items if isinstance(item, VoiceItem)]
        self._selected.update((item.nodeid, item.name) for item in found)
        self._notes.update((item.nodeid, item.user_properties) for item in found)

    def select_ids(self, node_ids: Iterable[str]) -> None:
        """Take in the node ids that a worker of xdist collected."""
        self._selected.update((node_id, name) for node_id in node_ids if (name := self.scenario_of(node_id)))

    def scenario_of(self, node_id: str) -> str | None:
        """Return the scenario that a node id names; ``None`` if it names something else."""
        node_path, _, name = node_id.partition("::")
        if self._catalogue.find_node(node_path) is None:
            return None
        return without_group(name) if self._is_grouped else name

    def begin(self, node_id: str) -> str | None:
        """Note that the turn of a scenario has come, and return which of how many it is, for a person.

        ``None`` for a test that is no scenario's item.
        """
        if (name := self._selected.get(node_id)) is None:
            return None
        if node_id not in self.begun:
            self.begun.append(node_id)
        return f"{self.begun.index(node_id) + 1}/{len(self._selected)}: {name}"

    def names(self) -> list[str]:
        """Return the scenarios of this start, sorted, those of tests by hand among them."""
        by_hand = {outcome.scenario for outcome in self.outcomes.values()}
        return sorted({*self._selected.values(), *by_hand})

    def ordered(self) -> list[Outcome]:
        """Return the outcomes in an order that does not depend on which worker was faster."""
        return sorted(self.outcomes.values(), key=lambda outcome: (outcome.scenario, outcome.node_id))

    def unfinished(self) -> list[Outcome]:
        """Return the scenarios that were begun and have no report, with their files as far as they got.

        The call of one may be over: it was held ahead of the turn of its item, which never came.
        """
        in_turn = [node_id for node_id in self.begun if node_id not in self.outcomes]
        found = [
            Outcome(node_id, self._selected[node_id], BROKEN_OFF, folder=self.folder_of(node_id))
            for node_id in in_turn
        ]
        for node_id, folder in sorted(self._begun_ahead().items()):
            note = read_note(folder)
            word: Word = NOT_SCORED if note and note.call_is_over else BROKEN_OFF
            found.append(Outcome(node_id, self._selected[node_id], word, folder=folder))
        return found

    def _begun_ahead(self) -> dict[str, Path]:
        """Return the folders of calls that were begun before their items' turn, which never came."""
        run = self._folder.find()
        left = self._selected.keys() - self.outcomes.keys() - set(self.begun)
        if run is None or not left or not self._holds_ahead:
            return {}
        found = begun_items(run, self._invocation)
        return {node_id: found[name] for node_id in left if (name := self._selected[node_id]) in found}

    def folder_of(self, node_id: str) -> Path | None:
        """Return the folder of a scenario without a report: as its item notes it, else by its name."""
        if isinstance(noted := look_up(self._notes.get(node_id, []), ARTIFACTS), str):
            return Path(noted)
        run = self._folder.find()
        named = run / file_name(self._selected[node_id]) if run else None
        return named if named and named.is_dir() else None

    def result_folders(self) -> list[Path]:
        """Return the folders of all results of the run, by scenario, whoever was faster."""
        own = [(o.scenario, o.node_id, o.folder) for o in self.outcomes.values() if o.folder]
        others = [(name, item, folder) for item, (name, folder) in self._others().items()]
        return [folder for *_, folder in sorted([*own, *others])]

    def _others(self) -> dict[str, tuple[str, Path]]:
        """Return name and folder of scenarios that have a result from before and none from now."""
        if self._earlier is None:
            return {}
        seen = {self._selected.get(node_id, node_id) for node_id in self.outcomes}
        return {
            item: (str(own_content(folder).get("scenario_name") or item), folder)
            for item, folder in self._earlier.others(seen).items()
        }

    def tally(self) -> Tally:
        """Return how many scenarios the run was to hold, and what became of those that are in no rate."""
        unscored = counts(outcome for outcome in self.outcomes.values() if not outcome.is_scored)
        unfinished = self.unfinished()
        words = [outcome.word for outcome in unfinished]
        others = self._others()
        results = [own_content(folder) for _, folder in others.values()]
        left = self._selected.keys() - self.outcomes.keys() - {outcome.node_id for outcome in unfinished}
        return Tally(
            total=len(self._selected.keys() | self.outcomes.keys())
            + len(others.keys() - set(self._selected.values())),
            errors=unscored["error"] + sum(result.get("verdict") == ERROR for result in results),
            skipped=unscored["skipped"] + sum(was_skipped(result) for result in results),
            broken_off=words.count(BROKEN_OFF),
            not_scored=words.count(NOT_SCORED),
            not_run=sum(self._selected[node_id] not in others for node_id in left),
            retried=sum(outcome.attempts > 1 for outcome in self.outcomes.values())
            + sum(bool(retried_attempts(result)) for result in results),
            from_before=sum(outcome.is_from_before for outcome in self.outcomes.values()) + len(others),
        )

    def item_outcomes(self) -> Iterator[ItemOutcome]:
        """Yield what became of each item of this start."""
        outcomes = [*self.outcomes.values(), *self.unfinished()]
        for outcome in outcomes:
            yield ItemOutcome(
                self.scenario_of(outcome.node_id) or outcome.node_id,
                outcome.scenario,
                outcome.word,
                outcome.verdict,
                outcome.folder.name if outcome.folder else None,
                outcome.attempts,
            )
        for node_id in self._selected.keys() - {outcome.node_id for outcome in outcomes}:
            yield ItemOutcome(self._selected[node_id], self._selected[node_id], NOT_RUN)
