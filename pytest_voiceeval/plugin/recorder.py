"""Follows the reports of a run, and at its end writes the run's files and tells the terminal."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from pytest_voiceeval.plugin.catalogue import Catalogue
from pytest_voiceeval.plugin.items import VoiceItem
from pytest_voiceeval.plugin.options import OPTIONS
from pytest_voiceeval.plugin.settings import settings_key
from pytest_voiceeval.report.outcomes import WORDS, Outcome, Word, counts
from pytest_voiceeval.report.properties import (
    ARTIFACTS,
    ATTEMPTS,
    BROKEN,
    RETRY_REASON,
    SCENARIO,
    VERDICT,
    Property,
    look_up,
)
from pytest_voiceeval.report.terminal import summary_lines
from pytest_voiceeval.run.evaluation_log import EvaluationLog, Level
from pytest_voiceeval.run.files import file_name
from pytest_voiceeval.run.session import RunFolder, Tally, read_metrics, write_session_files


class Recorder:
    """Lives in the one process that sees all reports: never on a worker of xdist."""

    def __init__(self, folder: RunFolder, catalogue: Catalogue) -> None:
        self._folder = folder
        self._catalogue = catalogue
        self._log = EvaluationLog(folder)
        self._outcomes: dict[str, Outcome] = {}
        self._selected: dict[str, str] = {}
        self._begun: list[str] = []
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
        return name if self._catalogue.find_node(node_path) else None

    def pytest_runtest_logstart(self, nodeid: str, location: tuple[str, int | None, str]) -> None:
        """Log that a scenario begins."""
        if (name := self._selected.get(nodeid)) is None:
            return
        if nodeid not in self._begun:
            self._begun.append(nodeid)
        place = f"{self._begun.index(nodeid) + 1}/{len(self._selected)}"
        self._log.add(location, f"Starting Scenario {place}: {name}")

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Keep what a report says about a scenario."""
        word = _word(report)
        outcome = self._outcome(report, word) if word else None
        if outcome is None:
            return
        self._outcomes[report.nodeid] = outcome
        level: Level = "ERROR" if outcome.word == "error" else "INFO"
        self._log.add(report.location, f"Finished Scenario: {outcome.scenario}: {outcome.word}", level)

    def _outcome(self, report: pytest.TestReport, word: Word) -> Outcome | None:
        """Return what a report says about a scenario; ``None`` if it is about something else.

        A test by hand is about a scenario if the call was scored, or one of our fixtures failed.
        """
        # The report on a worker that crashed has no properties.
        item = self._scenario_of(report.nodeid)
        scenario = look_up(report.user_properties, SCENARIO) or item
        verdict = look_up(report.user_properties, VERDICT)
        is_broken = look_up(report.user_properties, BROKEN) is not None
        if not isinstance(scenario, str) or not (item or verdict or is_broken):
            return None
        if item and verdict is None and word in ("passed", "failed"):
            verdict = word  # of metrics that somebody else's fixture made
        folder = look_up(report.user_properties, ARTIFACTS)
        return Outcome(
            report.nodeid,
            scenario,
            word,
            verdict if isinstance(verdict, str) else None,
            Path(folder) if isinstance(folder, str) else None,
            number if isinstance(number := look_up(report.user_properties, ATTEMPTS), int) else 1,
            str(look_up(report.user_properties, RETRY_REASON) or ""),
        )

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Write the run's files if the run has a folder, however it ended."""
        self._folder.drop_if_empty()
        folder = self._folder.find()
        if folder is None:
            return
        self._log.flush()
        folders = [outcome.folder for outcome in self._ordered() if outcome.folder]
        min_agent_turns = session.config.stash[settings_key].min_agent_turns
        write_session_files(
            folder,
            read_metrics(folders, min_agent_turns),
            run_args=self._run_args(session.config),
            tally=self._tally(),
            min_agent_turns=min_agent_turns,
        )

    def pytest_terminal_summary(self, terminalreporter: Any, config: pytest.Config) -> None:
        """Tell where everything is."""
        outcomes = [*self._ordered(), *self._broken_off()]
        if not outcomes and self._folder.find() is None:
            return
        folders = [outcome.folder for outcome in outcomes if outcome.folder]
        minimum = config.stash[settings_key].min_agent_turns
        metrics = {folder: records[0] for folder in folders if (records := read_metrics([folder], minimum))}
        full = config.get_verbosity() > 0
        terminalreporter.write_sep("=", "voice scenarios")
        for line in summary_lines(outcomes, metrics, self._folder.find(), self._tally(), full=full):
            terminalreporter.write_line(line)

    def _tally(self) -> Tally:
        unscored = counts(outcome for outcome in self._outcomes.values() if not outcome.is_scored)
        begun = [outcome.node_id for outcome in self._broken_off()]
        return Tally(
            total=len(self._selected.keys() | self._outcomes.keys()),
            errors=unscored["error"],
            skipped=unscored["skipped"],
            broken_off=len(begun),
            not_run=len(self._selected.keys() - self._outcomes.keys() - set(begun)),
            retried=sum(outcome.attempts > 1 for outcome in self._outcomes.values()),
        )

    def _broken_off(self) -> list[Outcome]:
        """Return the scenarios that were begun and never ended, with their files as far as they got."""
        return [
            Outcome(node_id, self._selected[node_id], "broken off", folder=self._folder_of(node_id))
            for node_id in self._begun
            if node_id not in self._outcomes
        ]

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

    def _run_args(self, config: pytest.Config) -> dict[str, Any]:
        by_hand = {outcome.scenario for outcome in self._outcomes.values()}
        names = sorted({*self._selected.values(), *by_hand})
        return {
            "started_at": self._started_at.isoformat(timespec="seconds"),
            "argv": [str(arg) for arg in config.invocation_params.args],
            "parsed_args": {
                option.key: config.getini(option.key) if given is None else given
                for option in OPTIONS
                for given in [config.getoption(option.key)]
            },
            "resolved_scenario_count": len(names),
            "resolved_scenario_names": names,
        }


def _word(report: pytest.TestReport) -> Word | None:
    """Return what a report says of its test; ``None`` if it says nothing yet."""
    if report.outcome not in WORDS:  # a plugin that runs tests again has more words
        return None
    if report.when == "call":
        return report.outcome
    if report.failed:
        return "error"
    return "skipped" if report.skipped else None
