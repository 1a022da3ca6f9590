"""Follows the reports of a run, and at its end writes the run's files and tells the terminal."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from pytest_voiceeval.plugin.catalogue import Catalogue
from pytest_voiceeval.plugin.items import VoiceItem
from pytest_voiceeval.plugin.reading import changes_told, finished, outcome_of, was_skipped, without_group
from pytest_voiceeval.plugin.resuming import earlier_key, invocation_key, start_record
from pytest_voiceeval.plugin.settings import settings_key
from pytest_voiceeval.plugin.unwritten import Unwritten
from pytest_voiceeval.report.failure import shown_path
from pytest_voiceeval.report.outcomes import Outcome, counts
from pytest_voiceeval.report.properties import (
    ARTIFACTS,
    BROKEN,
    SCENARIO,
    VERDICT,
    Property,
    look_up,
)
from pytest_voiceeval.report.terminal import summary_lines
from pytest_voiceeval.run.agent_turns import retried_attempts
from pytest_voiceeval.run.aggregate import ERROR
from pytest_voiceeval.run.earlier import begun_items, own_content, read_note
from pytest_voiceeval.run.evaluation_log import EvaluationLog, Level
from pytest_voiceeval.run.files import file_name
from pytest_voiceeval.run.history import RunHistory, changed_options, read_invocations
from pytest_voiceeval.run.item_outcomes import NOT_RUN, OUTCOMES, ItemOutcome, outcome_records
from pytest_voiceeval.run.lock import RunLock
from pytest_voiceeval.run.session import RunFolder, Tally, read_metrics, write_session_files


class Recorder:
    """Lives in the one process that sees all reports: never on a worker of xdist."""

    def __init__(self, config: pytest.Config, folder: RunFolder, catalogue: Catalogue) -> None:
        self._config = config
        self._min_agent_turns = config.stash[settings_key].min_agent_turns
        self._invocation = config.stash[invocation_key]
        self._earlier = config.stash.get(earlier_key, None)
        self._history: RunHistory | None = None
        self._lock: RunLock | None = None
        self._folder = folder
        self._folder.on_made = self._begin_history
        self._catalogue = catalogue
        self._log = EvaluationLog(folder)
        self._unwritten = Unwritten()
        self._outcomes: dict[str, Outcome] = {}
        self._selected: dict[str, str] = {}
        self._begun: list[str] = []
        self._locations: dict[str, tuple[str, int | None, str]] = {}
        self._notes: dict[str, list[Property]] = {}
        self._started_at = datetime.now()

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Remember which scenarios are to be held."""
        items = [item for item in session.items if isinstance(item, VoiceItem)]
        self._selected.update((item.nodeid, item.name) for item in items)
        self._notes.update((item.nodeid, item.user_properties) for item in items)

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_node_collection_finished(self, ids: Iterable[str]) -> None:
        """Remember which scenarios a worker found; all find the same."""
        self._selected.update((node_id, name) for node_id in ids if (name := self._scenario_of(node_id)))

    def _scenario_of(self, node_id: str) -> str | None:
        """Return the scenario that a node id names; ``None`` if it names something else."""
        node_path, _, name = node_id.partition("::")
        if self._catalogue.find_node(node_path) is None:
            return None
        is_grouped = self._config.getoption("dist", default="no") == "loadgroup"
        return without_group(name) if is_grouped else name

    def pytest_runtest_logstart(self, nodeid: str, location: tuple[str, int | None, str]) -> None:
        """Log that a scenario begins."""
        if (name := self._selected.get(nodeid)) is None:
            return
        self._locations[nodeid] = location
        if folder := self._folder.find():
            self._begin_history(folder)
        if self._earlier and not self._begun:
            self._log.add(location, f"Resuming {self._earlier.folder.name}")
        if nodeid not in self._begun:
            self._begun.append(nodeid)
        place = f"{self._begun.index(nodeid) + 1}/{len(self._selected)}"
        self._log.add(location, f"Starting Scenario {place}: {name}")

    @pytest.hookimpl(optionalhook=True)
    def pytest_handlecrashitem(self, crashitem: str, report: pytest.TestReport) -> None:
        """Have the scenario at which a worker died reported as an error, with what there is of it."""
        name = self._scenario_of(crashitem)
        if name is None:
            return
        before = self._outcomes.get(crashitem)
        folder = before.folder if before else self._folder_of(crashitem)
        report.location = self._locations.get(crashitem, report.location)
        report.when = "setup"  # pytest calls a failure of any other phase but the teardown no error
        report.user_properties += [(SCENARIO, name), (BROKEN, "worker")]
        report.user_properties += [(VERDICT, before.verdict)] if before and before.verdict else []
        if folder:
            report.user_properties.append((ARTIFACTS, str(folder)))
            report.longrepr = f"{report.longrepr}\n  artefacts: {shown_path(folder)}"

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Keep what a report says about a scenario."""
        outcome = outcome_of(report, self._scenario_of(report.nodeid), self._is_from_before)
        if outcome is None:
            return
        self._outcomes[report.nodeid] = outcome
        level: Level = "ERROR" if outcome.word == "error" else "INFO"
        self._log.add(report.location, finished(outcome), level)

    def _is_from_before(self, folder: Path) -> bool:
        if self._earlier is None:
            return False
        note = read_note(folder)
        return note is None or note.invocation != self._invocation

    def claim(self) -> None:
        """Keep others out of the run that is gone on with.

        Raises:
            RunBusyError: if another start works there.
        """
        if self._earlier is not None:
            self._lock = RunLock(self._earlier.folder)

    def pytest_unconfigure(self) -> None:
        """Let others in."""
        if self._lock is not None:
            self._lock.release()
            self._lock = None

    def _begin_history(self, folder: Path) -> None:
        """Write down that the run is begun, before anything of it can be lost."""
        if self._history is not None:
            return
        with self._unwritten.told():
            self._lock = self._lock or RunLock(folder)
            record = start_record(self._config, self._started_at, self._names())
            self._history = RunHistory(folder, record, is_resumed=self._earlier is not None)
            self._history.write()

    def pytest_report_header(self) -> list[str]:
        """Say which run is gone on with, and what is other now."""
        if self._earlier is None:
            return []
        warnings = [f"warning: {warning}" for warning in self._option_warnings()]
        return [f"voice scenarios: resuming {shown_path(self._earlier.folder)}", *warnings]

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Write the run's files if the run has a folder, however it ended."""
        self._folder.drop_if_empty()
        folder = self._folder.find()
        if folder is None and self._outcomes and self._config.stash[settings_key].shard:
            folder = self._folder.open()  # none of this part held a call: the other parts are to know
        if folder is None or (self._earlier and not (self._begun or self._outcomes)):
            return
        self._log.flush()
        self._begin_history(folder)
        if self._history is not None:
            names = self._names()
            self._history.record |= {
                "resolved_scenario_count": len(names),
                "resolved_scenario_names": names,
                OUTCOMES: outcome_records(self._item_outcomes()),
            }
            with self._unwritten.told():
                self._history.write()
        if self._log.fault:
            self._unwritten.add(self._log.fault)
        with self._unwritten.told():
            write_session_files(
                folder,
                read_metrics(self._result_folders(), self._min_agent_turns),
                tally=self._tally(),
                min_agent_turns=self._min_agent_turns,
                warnings=self._warnings(),
            )
        self._unwritten.settle(session)

    def pytest_terminal_summary(self, terminalreporter: Any, config: pytest.Config) -> None:
        """Tell where everything is."""
        outcomes = [*self._ordered(), *self._broken_off()]
        if not outcomes and (self._earlier or self._folder.find() is None):
            return
        folders = [outcome.folder for outcome in outcomes if outcome.folder]
        records = {folder: read_metrics([folder], self._min_agent_turns) for folder in folders}
        metrics = {folder: found[0] for folder, found in records.items() if found}
        full = config.get_verbosity() > 0
        terminalreporter.write_sep("=", "voice scenarios")
        for line in summary_lines(outcomes, metrics, self._folder.find(), self._tally(), full=full):
            terminalreporter.write_line(line)
        for warning in self._warnings():
            terminalreporter.write_line(f"warning: {warning}")

    def _warnings(self) -> list[str]:
        """Return what is other now than before, data of no known release, and files that are missing."""
        from pytest_voiceeval.scenarios.registry import absent_tasks  # noqa: PLC0415 - light start
        from pytest_voiceeval.world.task_sets import unknown_data  # noqa: PLC0415 - light start

        outcomes, names = self._ordered(), self._names()
        of_data = [*unknown_data(names), *absent_tasks(names, self._catalogue.split)]
        of_calls = [*changes_told(outcomes), *of_data, *self._unwritten.lines(outcomes)]
        return [*self._option_warnings(), *of_calls]

    def _option_warnings(self) -> list[str]:
        if self._earlier is None:
            return []
        now = start_record(self._config, self._started_at, [])
        before = self._history.earlier if self._history else read_invocations(self._earlier.folder)
        return list(changed_options(before, now, made=self._earlier.makers()))

    def _result_folders(self) -> list[Path]:
        """Return the folders of all results of the run, by scenario, whoever was faster."""
        own = [(o.scenario, o.node_id, o.folder) for o in self._outcomes.values() if o.folder]
        others = [(name, item, folder) for item, (name, folder) in self._others().items()]
        return [folder for *_, folder in sorted([*own, *others])]

    def _others(self) -> dict[str, tuple[str, Path]]:
        """Return name and folder of scenarios that have a result from before and none from now."""
        if self._earlier is None:
            return {}
        seen = {self._selected.get(node_id, node_id) for node_id in self._outcomes}
        return {
            item: (str(own_content(folder).get("scenario_name") or item), folder)
            for item, folder in self._earlier.others(seen).items()
        }

    def _tally(self) -> Tally:
        unscored = counts(outcome for outcome in self._outcomes.values() if not outcome.is_scored)
        begun = [outcome.node_id for outcome in self._broken_off()]
        others = self._others()
        results = [own_content(folder) for _, folder in others.values()]
        left = self._selected.keys() - self._outcomes.keys() - set(begun)
        return Tally(
            total=len(self._selected.keys() | self._outcomes.keys())
            + len(others.keys() - set(self._selected.values())),
            errors=unscored["error"] + sum(result.get("verdict") == ERROR for result in results),
            skipped=unscored["skipped"] + sum(was_skipped(result) for result in results),
            broken_off=len(begun),
            not_run=sum(self._selected[node_id] not in others for node_id in left),
            retried=sum(outcome.attempts > 1 for outcome in self._outcomes.values())
            + sum(bool(retried_attempts(result)) for result in results),
            from_before=sum(outcome.is_from_before for outcome in self._outcomes.values()) + len(others),
        )

    def _item_outcomes(self) -> Iterator[ItemOutcome]:
        """Yield what became of each item of this start."""
        outcomes = [*self._outcomes.values(), *self._broken_off()]
        for outcome in outcomes:
            yield ItemOutcome(
                self._scenario_of(outcome.node_id) or outcome.node_id,
                outcome.scenario,
                outcome.word,
                outcome.verdict,
                outcome.folder.name if outcome.folder else None,
                outcome.attempts,
            )
        for node_id in self._selected.keys() - {outcome.node_id for outcome in outcomes}:
            yield ItemOutcome(self._selected[node_id], self._selected[node_id], NOT_RUN)

    def _broken_off(self) -> list[Outcome]:
        """Return the scenarios that were begun and never ended, with their files as far as they got."""
        ahead = self._begun_ahead()
        return [
            Outcome(node_id, name, "broken off", folder=ahead.get(node_id) or self._folder_of(node_id))
            for node_id, name in (
                (node_id, self._selected[node_id]) for node_id in [*self._begun, *sorted(ahead)]
            )
            if node_id not in self._outcomes
        ]

    def _begun_ahead(self) -> dict[str, Path]:
        """Return the folders of calls that were begun before their items' turn, which never came."""
        run = self._folder.find()
        left = self._selected.keys() - self._outcomes.keys() - set(self._begun)
        if run is None or not left or self._config.stash[settings_key].concurrency == 1:
            return {}
        found = begun_items(run, self._invocation)
        return {node_id: found[name] for node_id in left if (name := self._selected[node_id]) in found}

    def _folder_of(self, node_id: str) -> Path | None:
        """Return the folder of a scenario without a report: as its item notes it, else by its name."""
        if isinstance(noted := look_up(self._notes.get(node_id, []), ARTIFACTS), str):
            return Path(noted)
        run = self._folder.find()
        named = run / file_name(self._selected[node_id]) if run else None
        return named if named and named.is_dir() else None

    def _ordered(self) -> list[Outcome]:
        """Return the outcomes in an order that does not depend on which worker was faster."""
        return sorted(self._outcomes.values(), key=lambda outcome: (outcome.scenario, outcome.node_id))

    def _names(self) -> list[str]:
        by_hand = {outcome.scenario for outcome in self._outcomes.values()}
        return sorted({*self._selected.values(), *by_hand})
