"""Holding scenarios one after another, each for itself, and the files of such a run."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_voiceeval.bridge.clock import choose_clock
from pytest_voiceeval.bridge.endpoint import Endpoint, Fingerprinted
from pytest_voiceeval.errors import VoiceEvalError
from pytest_voiceeval.model.conversation import RetriedAttempt
from pytest_voiceeval.model.signals import SuccessSignal
from pytest_voiceeval.model.turns import AGENT, USER, Side
from pytest_voiceeval.run.agent_turns import settled
from pytest_voiceeval.run.attempts import retried_attempts
from pytest_voiceeval.run.earlier import EarlierRun, ItemNote, new_invocation, own_content, write_note
from pytest_voiceeval.run.evaluate import SCENARIO_CONFIG, evaluate_conversation
from pytest_voiceeval.run.evaluation_log import EvaluationLog, Level
from pytest_voiceeval.run.files import claim_folder, file_name
from pytest_voiceeval.run.history import RunHistory, changed_options
from pytest_voiceeval.run.item_outcomes import OUTCOMES, ItemOutcome, outcome_records
from pytest_voiceeval.run.lock import RunLock
from pytest_voiceeval.run.redaction import redacted, without_environment
from pytest_voiceeval.run.retries import hold_until_it_counts
from pytest_voiceeval.run.scenario_changes import scenario_changes
from pytest_voiceeval.run.session import RunFolder, Tally, read_metrics, write_session_files
from pytest_voiceeval.run.settings import RunSettings
from pytest_voiceeval.run.words import BROKEN_OFF, ERROR, NOT_RUN, SKIPPED
from pytest_voiceeval.scenarios.base import Scenario
from pytest_voiceeval.scoring.judge_settings import JudgeSettings
from pytest_voiceeval.tools.origin import location
from pytest_voiceeval.world.files import plain
from pytest_voiceeval.world.task_sets import unknown_data

if TYPE_CHECKING:
    from pytest_voiceeval.scoring.judging import Judge

JUDGED = {SuccessSignal.JUDGE_PASSED, SuccessSignal.NL_ASSERTION}

Tell = Callable[[str], object]


@dataclass(frozen=True)
class Result:
    """What a scenario came to.

    Attributes:
        record: its metrics, or the record of an error.
        is_from_before: it was held by an earlier start.
    """

    record: dict[str, Any]
    is_from_before: bool = False

    @property
    def word(self) -> str:
        """What became of it."""
        if self.record.get("verdict") == ERROR:
            return ERROR
        return {True: "passed", False: "failed"}.get(self.record.get("is_successful", ""), SKIPPED)


class DynamicRun:
    """One run.

    Args:
        folder: of the run; what is complete in it is not held again.
        bots: by side.
        settings: how calls are held and scored.
        judge: judges conversations.
        pause: seconds between two calls.
        tell: is told what happens.
    """

    def __init__(
        self,
        folder: Path,
        bots: Mapping[Side, Endpoint],
        settings: RunSettings,
        *,
        judge: Judge | None,
        pause: float,
        tell: Tell,
    ) -> None:
        self._folder = folder
        self._bots = bots
        self._settings = settings
        self._judge = judge
        self._tell = tell
        clock = choose_clock(settings.clock, bots[USER], bots[AGENT])
        self._pause = 0.0 if clock.name == "charged" else pause
        self._invocation = new_invocation()
        self._earlier = EarlierRun(folder, self._invocation, settings.min_agent_turns)
        self._log = EvaluationLog(RunFolder(folder, folder))
        self._results: dict[str, Result] = {}
        self._warnings: list[str] = []
        self._history: RunHistory | None = None

    def hold(self, scenarios: Sequence[Scenario]) -> list[dict[str, Any]]:
        """Hold the scenarios, write the files of the run however it ends, and return their records.

        Raises:
            RunBusyError: if another process works in the folder.
        """
        self._folder.mkdir(parents=True, exist_ok=True)
        queue = _items(scenarios)
        lock = RunLock(self._folder)
        try:
            self._begin(queue)
            self._hold_all(queue)
        finally:
            lock.release()
        return [self._results[item].record for item in queue]

    def _hold_all(self, queue: Mapping[str, Scenario]) -> None:
        begun: list[str] = []
        try:
            for item, scenario in queue.items():
                begun.append(item)
                self._say(scenario, f"Starting Scenario {len(begun)}/{len(queue)}: {scenario.name}")
                result = self._results[item] = self._result(item, scenario)
                origin = " (from before)" if result.is_from_before else ""
                level: Level = "ERROR" if result.word == ERROR else "INFO"
                self._say(scenario, f"Finished Scenario: {scenario.name}: {result.word}{origin}", level)
        finally:
            self._write(queue, len(begun))

    def _begin(self, queue: Mapping[str, Scenario]) -> None:
        """Write down that the run is begun, and tell what is to be known of it before."""
        names = sorted({str(scenario.name) for scenario in queue.values()})
        bots = {f"{side}_url": bot.label for side, bot in self._bots.items()}
        record = {
            "invocation": self._invocation,
            "started_at": datetime.now().isoformat(timespec="seconds"),
            "argv": without_environment(sys.argv[1:]),
            "parsed_args": bots
            | _recorded(self._settings)
            | {"pause": self._pause}
            | _judge_args(self._judge),
            "profiles": {side: _fingerprint(bot) for side, bot in self._bots.items()},
            "resolved_scenario_count": len(names),
            "resolved_scenario_names": names,
        }
        history = self._history = RunHistory(
            self._folder, redacted(plain(record), os.environ), is_resumed=True
        )
        history.write()
        for change in changed_options(history.earlier, history.record, made=self._earlier.makers()):
            self._warn(change)
        for told in unknown_data(names):
            self._warn(told)
        judged = [s for s in queue.values() if self._judge is None and JUDGED & set(s.whitelist)]
        if judged:
            self._warn(
                f"{len(judged)} scenario(s), such as {judged[0].name}, ask for a judge and none is configured"
            )

    def _result(self, item: str, scenario: Scenario) -> Result:
        """Return the result of a scenario: from before, or of a call that is held now."""
        if (folder := self._earlier.completed(item)) is not None:
            if changes := scenario_changes(scenario, folder / SCENARIO_CONFIG):
                self._warn(
                    f"{scenario.name} is not what it was when it was held ({', '.join(changes)}): its result "
                    f"stands; remove {folder} to have it held again"
                )
            content = settled(own_content(folder), self._settings.min_agent_turns)
            return Result(content, is_from_before=True)
        if self._pause and any(not result.is_from_before for result in self._results.values()):
            time.sleep(self._pause)
        self._earlier.move_aside(item)
        folder = claim_folder(self._folder / file_name(item))
        write_note(folder, ItemNote(item, self._invocation))
        try:
            return Result(self._hold(scenario, folder))
        except Exception as exc:  # whatever it is, it is this scenario's, and the others go on
            text = str(exc) if isinstance(exc, VoiceEvalError) else f"{type(exc).__name__}: {exc}"
            self._say(scenario, text, "ERROR")
            return Result(
                {
                    "scenario_name": str(scenario.name),
                    "scenario_directory": str(folder),
                    "is_successful": "N/A",
                    "verdict": ERROR,
                    "error": text,
                }
            )

    def _hold(self, scenario: Scenario, folder: Path) -> dict[str, Any]:
        def tell_retry(attempt: RetriedAttempt) -> None:
            self._say(scenario, f"{scenario.name} is held again: {attempt.reason}")

        conversation = hold_until_it_counts(
            scenario,
            user=self._bots[USER],
            agent=self._bots[AGENT],
            settings=self._settings,
            folder=folder,
            on_retry=tell_retry,
        )
        metrics = evaluate_conversation(
            scenario, conversation, settings=self._settings, folder=folder, judge=self._judge
        )
        return dict(metrics.json)

    def _write(self, queue: Mapping[str, Scenario], begun: int) -> None:
        """Write the files that sum up what is in the folder, results of other scenarios too."""
        others = self._earlier.others(self._results)
        held = {item: Path(r.record["scenario_directory"]) for item, r in self._results.items()}
        folders = sorted((held | others).items(), key=lambda pair: _order(*pair))
        results = [*self._results.values(), *(Result(own_content(f), True) for f in others.values())]
        words = [result.word for result in results]
        tally = Tally(
            total=len({*queue, *others}),
            errors=words.count(ERROR),
            skipped=words.count(SKIPPED),
            broken_off=begun - len(self._results),
            not_run=len([item for item in list(queue)[begun:] if item not in others]),
            retried=sum(bool(retried_attempts(result.record)) for result in results),
            from_before=sum(result.is_from_before for result in results),
        )
        minimum = self._settings.min_agent_turns
        records = read_metrics([folder for _, folder in folders], minimum)
        if self._history is not None:
            self._history.record[OUTCOMES] = outcome_records(self._item_outcomes(queue, begun))
            self._history.write()
        write_session_files(
            self._folder, records, tally=tally, min_agent_turns=minimum, warnings=self._warnings
        )

    def _item_outcomes(self, queue: Mapping[str, Scenario], begun: int) -> Iterator[ItemOutcome]:
        """Yield what became of each item of this start."""
        for number, (item, scenario) in enumerate(queue.items(), 1):
            result = self._results.get(item)
            name = str(scenario.name)
            if result is None:
                yield ItemOutcome(item, name, BROKEN_OFF if number <= begun else NOT_RUN)
                continue
            attempts = len(retried_attempts(result.record)) + 1
            folder = Path(result.record["scenario_directory"]).name
            verdict = str(result.record.get("verdict"))
            yield ItemOutcome(item, name, result.word, verdict, folder, attempts)

    def _say(self, scenario: Scenario, text: str, level: Level = "INFO") -> None:
        place = location(type(scenario))
        file, _, line = place.rpartition(":")
        known = (file, int(line) - 1) if line.isdigit() else (place, None)
        self._log.add((*known, str(scenario.name)), text, level)
        self._tell(text)

    def _warn(self, text: str) -> None:
        self._warnings.append(text)
        self._tell(f"WARNING: {text}")


def _recorded(settings: RunSettings) -> dict[str, Any]:
    """Return the settings that results depend on, or may."""
    return {field.name: getattr(settings, field.name) for field in fields(settings) if field.compare}


def _judge_args(judge: Judge | None) -> dict[str, Any]:
    """Return how the judge is asked, as pytest's options name it; nothing of a judge that is not ours."""
    settings = getattr(judge, "settings", None)
    if not isinstance(settings, JudgeSettings):
        return {}
    return {f"judge_{name}": value for name, value in asdict(settings).items()}


def _fingerprint(bot: Endpoint) -> str | None:
    return bot.fingerprint if isinstance(bot, Fingerprinted) else None


def _items(scenarios: Sequence[Scenario]) -> dict[str, Scenario]:
    """Return the scenarios by name; one that is there several times by its name and a number."""
    found: dict[str, Scenario] = {}
    for scenario in scenarios:
        name, number = str(scenario.name), 1
        while (item := name if number == 1 else f"{name}[{number}]") in found:
            number += 1
        found[item] = scenario
    return found


def _order(item: str, folder: Path) -> tuple[str, str]:
    """Return by what results are sorted: the scenario, then whose they are."""
    return str(own_content(folder).get("scenario_name") or item), item
