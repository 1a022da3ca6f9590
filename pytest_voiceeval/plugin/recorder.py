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
from pytest_voiceeval.report.outcomes import Outcome, Word, counts
from pytest_voiceeval.report.properties import ARTIFACTS, SCENARIO, look_up
from pytest_voiceeval.report.terminal import summary_lines
from pytest_voiceeval.run.session import RunFolder, read_metrics, write_session_files


class Recorder:
    """Lives in the one process that sees all reports: never on a worker of xdist."""

    def __init__(self, folder: RunFolder, catalogue: Catalogue) -> None:
        self._folder = folder
        self._catalogue = catalogue
        self._outcomes: dict[str, Outcome] = {}
        self._selected: list[str] = []
        self._started_at = datetime.now()

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Remember which scenarios are to be held."""
        self._select(item.name for item in session.items if isinstance(item, VoiceItem))

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_node_collection_finished(self, ids: Iterable[str]) -> None:
        """Remember which scenarios a worker found; all find the same."""
        self._select(name for node_id in ids if (name := self._scenario_of(node_id)))

    def _scenario_of(self, node_id: str) -> str | None:
        """Return the scenario that a node id names; ``None`` if it names something else."""
        node_path, _, name = node_id.partition("::")
        return name if self._catalogue.find_node(node_path) else None

    def _select(self, names: Iterable[str]) -> None:
        self._selected = sorted({*self._selected, *names})

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Keep what a report says about a scenario."""
        # The report on a worker that crashed has no properties.
        scenario = look_up(report.user_properties, SCENARIO) or self._scenario_of(report.nodeid)
        word = _word(report)
        if not isinstance(scenario, str) or word is None:
            return
        folder = look_up(report.user_properties, ARTIFACTS)
        self._outcomes[report.nodeid] = Outcome(
            report.nodeid, scenario, word, Path(folder) if isinstance(folder, str) else None
        )

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Write the run's files if the run has a folder, however it ended."""
        folder = self._folder.find()
        if folder is None:
            return
        outcomes = self._ordered()
        write_session_files(
            folder,
            read_metrics([outcome.folder for outcome in outcomes if outcome.folder]),
            run_args=self._run_args(session.config),
            counts=counts(outcomes),
        )

    def pytest_terminal_summary(self, terminalreporter: Any, config: pytest.Config) -> None:
        """Tell where everything is."""
        outcomes = self._ordered()
        if not outcomes:
            return
        folders = [outcome.folder for outcome in outcomes if outcome.folder]
        metrics = {folder: records[0] for folder in folders if (records := read_metrics([folder]))}
        full = config.get_verbosity() > 0
        terminalreporter.write_sep("=", "voice scenarios")
        for line in summary_lines(outcomes, metrics, self._folder.find(), full=full):
            terminalreporter.write_line(line)

    def _ordered(self) -> list[Outcome]:
        """Return the outcomes in an order that does not depend on which worker was faster."""
        return sorted(self._outcomes.values(), key=lambda outcome: (outcome.scenario, outcome.node_id))

    def _run_args(self, config: pytest.Config) -> dict[str, Any]:
        names = self._selected or sorted({outcome.scenario for outcome in self._outcomes.values()})
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
    if report.when == "call":
        return report.outcome
    if report.failed:
        return "error"
    return "skipped" if report.skipped else None
