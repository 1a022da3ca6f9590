"""Follows the reports of a run, and at its end writes the run's files and tells the terminal."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from pytest_voiceeval.plugin.catalogue import Catalogue
from pytest_voiceeval.plugin.ledger import Ledger
from pytest_voiceeval.plugin.planning import is_only_planned
from pytest_voiceeval.plugin.reading import changes_told, finished, outcome_of
from pytest_voiceeval.plugin.resuming import earlier_key, invocation_key, start_record
from pytest_voiceeval.plugin.selection import selection_key
from pytest_voiceeval.plugin.settings import settings_key
from pytest_voiceeval.plugin.unwritten import Unwritten
from pytest_voiceeval.report.paths import shown_path
from pytest_voiceeval.report.properties import ARTIFACTS, BROKEN, SCENARIO, VERDICT
from pytest_voiceeval.run.earlier import read_note
from pytest_voiceeval.run.evaluation_log import EvaluationLog, Level
from pytest_voiceeval.run.history import RunHistory, changed_options, read_invocations
from pytest_voiceeval.run.item_outcomes import OUTCOMES, outcome_records
from pytest_voiceeval.run.lock import RunLock
from pytest_voiceeval.run.session import RunFolder, read_metrics, write_session_files


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
        self._ledger = Ledger(config, folder, catalogue)
        self._is_only_planned = is_only_planned(config)
        self._log = EvaluationLog(folder)
        self._unwritten = Unwritten()
        self._locations: dict[str, tuple[str, int | None, str]] = {}
        self._started_at = datetime.now()

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Remember which scenarios are to be held."""
        self._ledger.select(session.items)

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_node_collection_finished(self, ids: Iterable[str]) -> None:
        """Remember which scenarios a worker found; all find the same."""
        self._ledger.select_ids(ids)

    def pytest_runtest_logstart(self, nodeid: str, location: tuple[str, int | None, str]) -> None:
        """Log that a scenario begins."""
        is_first = not self._ledger.begun
        if self._is_only_planned or (told := self._ledger.begin(nodeid)) is None:
            return
        self._locations[nodeid] = location
        if folder := self._folder.find():
            self._begin_history(folder)
        if self._earlier and is_first:
            self._log.add(location, f"Resuming {self._earlier.folder.name}")
        self._log.add(location, f"Starting Scenario {told}")

    @pytest.hookimpl(optionalhook=True)
    def pytest_handlecrashitem(self, crashitem: str, report: pytest.TestReport) -> None:
        """Have the scenario at which a worker died reported as an error, with what there is of it."""
        name = self._ledger.scenario_of(crashitem)
        if name is None:
            return
        before = self._ledger.outcomes.get(crashitem)
        folder = before.folder if before else self._ledger.folder_of(crashitem)
        report.location = self._locations.get(crashitem, report.location)
        report.when = "setup"  # pytest calls a failure of any other phase but the teardown no error
        report.user_properties += [(SCENARIO, name), (BROKEN, "worker")]
        report.user_properties += [(VERDICT, before.verdict)] if before and before.verdict else []
        if folder:
            report.user_properties.append((ARTIFACTS, str(folder)))
            report.longrepr = f"{report.longrepr}\n  artefacts: {shown_path(folder)}"

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Keep what a report says about a scenario."""
        outcome = outcome_of(report, self._ledger.scenario_of(report.nodeid), self._is_from_before)
        if outcome is None or self._is_only_planned:
            return
        self._ledger.outcomes[report.nodeid] = outcome
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
            record = start_record(self._config, self._started_at, self._ledger.names())
            self._history = RunHistory(folder, record, is_resumed=self._earlier is not None)
            self._history.write()

    def pytest_report_header(self) -> list[str]:
        """Say which run is gone on with and what is other now, and what has no effect on scenarios."""
        repeated = self._config.getoption("count", default=1)  # of pytest-repeat
        lines = []
        if isinstance(repeated, int) and repeated > 1 and self._config.stash[selection_key].chosen:
            lines += [f"warning: voice scenarios are held once each: --count={repeated} does not repeat them"]
        if self._earlier is not None:
            lines += [f"voice scenarios: resuming {shown_path(self._earlier.folder)}"]
            lines += [f"warning: {warning}" for warning in self._option_warnings()]
        return lines

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Write the run's files if the run has a folder, however it ended."""
        self._folder.drop_if_empty()
        folder = self._folder.find()
        if folder is None and self._ledger.outcomes and self._config.stash[settings_key].shard:
            folder = self._folder.open()  # none of this part held a call: the other parts are to know
        if folder is None or (self._earlier and not (self._ledger.begun or self._ledger.outcomes)):
            return
        self._log.flush()
        self._begin_history(folder)
        if self._history is not None:
            names = self._ledger.names()
            self._history.record |= {
                "resolved_scenario_count": len(names),
                "resolved_scenario_names": names,
                OUTCOMES: outcome_records(self._ledger.item_outcomes()),
            }
            with self._unwritten.told():
                self._history.write()
        if self._log.fault:
            self._unwritten.add(self._log.fault)
        with self._unwritten.told():
            write_session_files(
                folder,
                read_metrics(self._ledger.result_folders(), self._min_agent_turns),
                tally=self._ledger.tally(),
                min_agent_turns=self._min_agent_turns,
                warnings=self._warnings(),
            )
        self._unwritten.settle(session)

    def pytest_terminal_summary(self, terminalreporter: Any, config: pytest.Config) -> None:
        """Tell where everything is."""
        outcomes = [*self._ledger.ordered(), *self._ledger.unfinished()]
        if not outcomes and (self._earlier or self._folder.find() is None):
            return
        from pytest_voiceeval.report.terminal import summary_lines  # noqa: PLC0415 - light start

        folders = [outcome.folder for outcome in outcomes if outcome.folder]
        records = {folder: read_metrics([folder], self._min_agent_turns) for folder in folders}
        metrics = {folder: found[0] for folder, found in records.items() if found}
        full = config.get_verbosity() > 0
        terminalreporter.write_sep("=", "voice scenarios")
        for line in summary_lines(outcomes, metrics, self._folder.find(), self._ledger.tally(), full=full):
            terminalreporter.write_line(line)
        for warning in self._warnings():
            terminalreporter.write_line(f"warning: {warning}")

    def _warnings(self) -> list[str]:
        """Return what is other now than before, data of no known release, and files that are missing."""
        from pytest_voiceeval.scenarios.registry import absent_tasks  # noqa: PLC0415 - light start
        from pytest_voiceeval.world.task_sets import unknown_data  # noqa: PLC0415 - light start

        outcomes, names = self._ledger.ordered(), self._ledger.names()
        of_data = [*unknown_data(names), *absent_tasks(names, self._config.stash[settings_key].split)]
        of_calls = [*changes_told(outcomes), *of_data, *self._unwritten.lines(outcomes)]
        return [*self._option_warnings(), *of_calls]

    def _option_warnings(self) -> list[str]:
        if self._earlier is None:
            return []
        now = start_record(self._config, self._started_at, [])
        before = self._history.earlier if self._history else read_invocations(self._earlier.folder)
        return list(changed_options(before, now, made=self._earlier.makers()))
