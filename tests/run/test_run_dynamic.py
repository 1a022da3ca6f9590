"""A run as a call of the library, between scripted bots over real sockets."""

from __future__ import annotations

import asyncio
import csv
import json
import shutil
import wave
from pathlib import Path
from typing import Any

import pytest
from calls_of_fakes import HANGS_UP, Calls, Tea, goodbye

from pytest_voiceeval import run_dynamic_evaluation
from pytest_voiceeval.errors import BotUnreachableError, DefinitionError, UnknownNameError
from pytest_voiceeval.model.judgement import Judgement
from pytest_voiceeval.model.signals import SuccessSignal
from pytest_voiceeval.model.turns import AGENT, USER
from pytest_voiceeval.run.lock import RunBusyError, RunLock
from pytest_voiceeval.run.resume import classify_scenario_resume_state
from pytest_voiceeval.testing import Utterance, exit_message

FINAL = {"text": '<final_response>{"drink": "tea"}</final_response>'}
GOOD = [
    Utterance("Welcome.", 0.2, 300),
    Utterance("Bye.", 0.2, 350, sends=(FINAL,), late_sends=(exit_message(),)),
]


class Coffee(Tea):
    name = "other__coffee"
    reference_answer = {"drink": "coffee"}  # noqa: RUF012 - as scenarios are written


class Broken(Tea):
    name = "run__broken"

    @property
    def agent_task(self) -> Any:
        raise ZeroDivisionError("by the author")


def caller() -> Calls:
    return Calls(USER, [Utterance("Tea please.", 0.2, 500)])


def run(folder: Path, *scenarios: Any, agent: Any = None, **options: Any) -> list[dict[str, Any]]:
    bot = agent or Calls(AGENT, GOOD)
    return run_dynamic_evaluation(
        caller(), bot, folder, scenarios, **{"pause": 0, "auto_retry_backoff_secs": 0} | options
    )


def files(folder: Path) -> dict[str, str]:
    names = ("all_metrics.json", "all_latencies.csv", "all_summary.txt")
    return {name: (folder / name).read_text(encoding="utf-8") for name in names}


def test_every_scenario_is_held_and_a_broken_one_does_not_stop_the_others(tmp_path: Path) -> None:
    told: list[str] = []
    records = run(tmp_path / "run", Tea, Broken(), Coffee(), tell=told.append)
    assert [record["scenario_name"] for record in records] == ["run__tea", "run__broken", "other__coffee"]
    assert [record["is_successful"] for record in records] == [True, "N/A", False]
    assert records[1] == {
        "scenario_name": "run__broken",
        "scenario_directory": str(tmp_path / "run" / "run__broken"),
        "is_successful": "N/A",
        "verdict": "error",
        "error": "ZeroDivisionError: by the author",
    }
    assert json.loads(files(tmp_path / "run")["all_metrics.json"]) == [records[2], records[0]]
    summary = files(tmp_path / "run")["all_summary.txt"]
    assert "Total Scenarios: 3\n" in summary
    assert "Without a verdict, in no rate: 1 error(s)\n" in summary
    assert "Overall Success Rate: 50.00% (1/2 scenarios" in summary
    assert "Per-Domain Success Rate:" in summary
    with (tmp_path / "run" / "all_latencies.csv").open(encoding="utf-8", newline="") as stream:
        assert [row[0] for row in csv.reader(stream)] == ["Scenario", "other__coffee", "run__tea"]
    assert told[:3] == [
        "Starting Scenario 1/3: run__tea",
        "Finished Scenario: run__tea: passed",
        "Starting Scenario 2/3: run__broken",
    ]
    log = (tmp_path / "run" / "evaluation_log.txt").read_text()
    assert "calls_of_fakes.py:run__tea:" in log
    assert "[ERROR]: ZeroDivisionError: by the author\n" in log
    with wave.open(str(tmp_path / "run" / "run__tea" / "conversation_log.wav")) as wav:
        assert wav.getframerate() == 24_000
        seconds = wav.getnframes() / 24_000
    assert seconds == pytest.approx(records[0]["duration_seconds"], abs=0.001)


def test_a_run_goes_on_where_it_was_left_and_comes_to_the_same_end(tmp_path: Path) -> None:
    whole = run(tmp_path, Tea, Coffee)
    before = files(tmp_path)
    for path in tmp_path.glob("all_*"):
        path.unlink()
    told: list[str] = []
    agent = Calls(AGENT, AssertionError("a call was held"))
    assert run(tmp_path, Tea, Coffee, agent=agent, tell=told.append) == whole
    assert files(tmp_path) == before
    assert "Finished Scenario: other__coffee: failed (from before)" in told
    (tmp_path / "run__tea" / "metrics.json").unlink()
    again = run(tmp_path, Tea)
    assert again[0]["is_successful"] is True
    assert len(list(tmp_path.glob("run__tea.killed.*/__KILLED__"))) == 1
    assert "Overall Success Rate: 50.00% (1/2 scenarios" in files(tmp_path)["all_summary.txt"]
    starts = json.loads((tmp_path / "run_args.json").read_text())["invocations"]
    assert [start.get("resumed_from_invocation") for start in starts] == [None, 0, 1]
    assert starts[0]["parsed_args"]["agent_url"] == "fake agent"


def test_what_is_other_than_before_is_warned_of(tmp_path: Path) -> None:
    run(tmp_path, Tea)

    class Changed(Tea):
        description = "Other."

    told: list[str] = []
    run(tmp_path, Changed, tell=told.append, strict_match=True)
    warnings = [line for line in told if line.startswith("WARNING: ")]
    assert warnings[0].startswith("WARNING: strict_match is True now and was False in the start of ")
    assert warnings[1].startswith("WARNING: run__tea is not what it was when it was held (metadata.json)")
    assert all(f"{line}\n" in files(tmp_path)["all_summary.txt"] for line in warnings)


def test_a_start_whose_results_are_gone_is_not_warned_of(tmp_path: Path) -> None:
    run(tmp_path, Tea, strict_match=True)
    shutil.rmtree(tmp_path / "run__tea")
    told: list[str] = []
    run(tmp_path, Tea, tell=told.append)
    assert not [line for line in told if line.startswith("WARNING: ")]


def test_the_files_of_a_run_that_is_interrupted_are_written(tmp_path: Path) -> None:
    agent = Calls(AGENT, GOOD, KeyboardInterrupt())
    with pytest.raises(KeyboardInterrupt):
        run(tmp_path, Tea, Coffee, Broken, agent=agent)
    summary = files(tmp_path)["all_summary.txt"]
    assert "Without a verdict, in no rate: 1 broken off, 1 not run\n" in summary
    assert classify_scenario_resume_state(tmp_path / "other__coffee")[0] == "in_flight"


def test_the_defaults_are_those_of_the_library_and_retries_are_told(tmp_path: Path) -> None:
    agent = Calls(AGENT, [HANGS_UP], [goodbye()])
    told: list[str] = []
    (record,) = run(tmp_path, Tea, agent=agent, tell=told.append)
    assert record["agent_turns"] == 1
    assert "insufficient_agent_turns" not in record
    assert "run__tea is held again: stale: no turns were exchanged" in told
    (record,) = run(tmp_path / "other", Tea, min_agent_turns=2, auto_resume_on_stale=False)
    assert record["is_successful"] is True


class ScriptedJudge:
    def __init__(self, score: float | None) -> None:
        self.score = score

    def judge(self, scenario: Any, conversation: Any, *, strict_match: bool = False) -> Judgement:
        return Judgement(score=self.score) if self.score is not None else Judgement(error="gone")


class Judged(Tea):
    name = "run__judged"
    success_signals = (SuccessSignal.JUDGE_PASSED,)


@pytest.mark.parametrize(
    ("options", "outcome"),
    [
        ({}, "N/A"),
        ({"judge": ScriptedJudge(0.8)}, "N/A"),
        ({"judge": ScriptedJudge(0.8), "judge_threshold": 0.7}, True),
        ({"judge": ScriptedJudge(0.8), "judge_threshold": 0.9}, False),
    ],
)
def test_a_judge_passes_by_the_threshold_that_is_given(
    tmp_path: Path, options: dict[str, Any], outcome: Any
) -> None:
    told: list[str] = []
    (record,) = run(tmp_path, Judged, tell=told.append, **options)
    assert record["is_successful"] == outcome
    warning = "WARNING: 1 scenario(s), such as run__judged, ask for a judge and none is configured"
    assert (warning in told) is (not options)


def test_a_scenario_whose_judge_broke_is_an_error_and_held_again(tmp_path: Path) -> None:
    options = {"judge": ScriptedJudge(None), "judge_threshold": 0.9}
    (record,) = run(tmp_path, Judged, **options)
    assert record["verdict"] == "error"
    assert "Without a verdict, in no rate: 1 error(s)\n" in files(tmp_path)["all_summary.txt"]
    assert "Clean exit:" not in files(tmp_path)["all_summary.txt"]
    options["judge"] = ScriptedJudge(1.0)
    (record,) = run(tmp_path, Judged, **options)
    assert record["is_successful"] is True


def test_a_bot_that_is_not_there_is_an_error_of_each_scenario(tmp_path: Path) -> None:
    records = run(tmp_path, Tea, Coffee, agent="ws://127.0.0.1:9", connect_timeout=0.1)
    assert [record["verdict"] for record in records] == ["error", "error"]
    assert "ws://127.0.0.1:9" in records[0]["error"]
    assert "BotUnreachableError" not in records[0]["error"]


def test_a_folder_in_which_another_run_works_is_refused(tmp_path: Path) -> None:
    lock = RunLock(tmp_path)
    with pytest.raises(RunBusyError, match="this run still goes on in another process"):
        run(tmp_path, Tea)
    lock.release()
    assert run(tmp_path, Tea)[0]["is_successful"] is True


def test_one_scenario_twice_has_two_results(tmp_path: Path) -> None:
    records = run(tmp_path, Tea, Tea())
    assert len({record["scenario_directory"] for record in records}) == 2
    assert run(tmp_path, Tea, Tea, agent=Calls(AGENT, BotUnreachableError("held"))) == records


@pytest.mark.parametrize(
    ("arguments", "error", "complaint"),
    [
        ({"scenarios": []}, DefinitionError, "no scenario is given"),
        ({"scenarios": "restaurant__piza"}, UnknownNameError, "did you mean"),
        ({"scenarios": [3]}, DefinitionError, "3 is no scenario; give its name, its class or an instance"),
        ({"agent_url": "http://x"}, DefinitionError, "'http://x' is no WebSocket URL"),
        ({"conversation_end_policy": "any"}, DefinitionError, "no conversation-end policy 'any'"),
        ({"pause": -1}, DefinitionError, "pause is -1; write seconds, 0 or more"),
        ({"judge": "gpt"}, DefinitionError, "'gpt' is no judge: it has no method judge"),
        ({"output_dir": ""}, DefinitionError, "output_dir is empty; name the folder of the run"),
    ],
)
def test_what_is_wrong_is_told_before_any_call(
    tmp_path: Path, arguments: dict[str, Any], error: type[Exception], complaint: str
) -> None:
    given = {
        "user_url": "ws://h:1",
        "agent_url": "ws://h:2",
        "output_dir": tmp_path / "run",
        "scenarios": Tea,
    }
    with pytest.raises(error, match=complaint):
        run_dynamic_evaluation(**given | arguments)
    assert not (tmp_path / "run").exists()


def test_in_a_coroutine_it_says_how_to_call_it(tmp_path: Path) -> None:
    async def wrong() -> None:
        run(tmp_path, Tea)

    with pytest.raises(RuntimeError, match=r"await asyncio\.to_thread"):
        asyncio.run(wrong())

    async def right() -> list[dict[str, Any]]:
        return await asyncio.to_thread(run, tmp_path, Tea)

    assert asyncio.run(right())[0]["is_successful"] is True
