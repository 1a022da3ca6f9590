from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from calls_of_fakes import Tea, canned

from pytest_voiceeval.model.metrics import SignalResult, Verdict
from pytest_voiceeval.model.signals import SuccessSignal
from pytest_voiceeval.report.failure import failure_text
from pytest_voiceeval.report.properties import properties
from pytest_voiceeval.run.earlier import EarlierRun, ItemNote, read_note, write_note
from pytest_voiceeval.run.evaluate import evaluate_conversation
from pytest_voiceeval.run.evidence import transcript_lines
from pytest_voiceeval.run.files import file_name
from pytest_voiceeval.run.restored import restored_metrics, restored_transcript
from pytest_voiceeval.run.resume import classify_scenario_resume_state, find_run, scenario_folders
from pytest_voiceeval.run.scenario_changes import scenario_changes
from pytest_voiceeval.run.settings import RunSettings

DONE = {
    "scenario_name": "a__b",
    "total_turns": 3,
    "stop_reason": "[EXIT]",
    "token_usage": {"agent": {"n_calls": 4}},
}


def folder(run: Path, name: str, item: str = "", metrics: Any = DONE, invocation: str = "old") -> Path:
    path = run / name
    path.mkdir(parents=True)
    if item:
        write_note(path, ItemNote(item, invocation))
    if metrics is not None:
        (path / "metrics.json").write_text(json.dumps(metrics))
    return path


@pytest.mark.parametrize(
    ("content", "state"),
    [
        ("[1]", ("in_flight", "metrics.json unreadable (it holds no object but list)")),
        ('{"total_turns": 3', ("in_flight", "metrics.json unreadable (Expecting ',' delimiter: *")),
        (
            json.dumps(DONE | {"verdict": "error", "judge_error": "no answer within 120 s"}),
            ("in_flight", "judge error (no answer within 120 s)"),
        ),
        (json.dumps(DONE | {"agent_turns": 2}), ("in_flight", "2 agent LLM response(s) < 3 ([EXIT])")),
        (
            json.dumps(DONE | {"agent_turns": 3, "token_usage": {"agent": {"n_calls": 0}}}),
            ("completed", "[EXIT]"),
        ),
    ],
)
def test_states_beyond_those_of_the_reference(tmp_path: Path, content: str, state: tuple[str, str]) -> None:
    (tmp_path / "metrics.json").write_text(content)
    found = classify_scenario_resume_state(tmp_path, 3)
    assert found[0] == state[0]
    assert found[1].startswith(state[1].rstrip("*"))


def test_what_is_no_folder_is_fresh(tmp_path: Path) -> None:
    assert classify_scenario_resume_state(str(tmp_path / "x")) == ("fresh", "no subdir")


def test_the_folders_of_a_run_are_those_that_were_not_moved_aside(tmp_path: Path) -> None:
    wanted = [folder(tmp_path, name, name) for name in ("a", "a.2", "b")]
    for name in ("a.killed.20260102_030405", "a.replaced.20260102_030405", "a.attempt1", "a.attempt1.2"):
        folder(tmp_path, name, name)
    (folder(tmp_path, "c", "c") / "__KILLED__").touch()
    folder(tmp_path, "notes", metrics=None).joinpath("mine.txt").touch()
    (tmp_path / "run_args.json").touch()
    empty = folder(tmp_path, "d", metrics=None)
    (empty / ".item.json.x.part").touch()
    assert scenario_folders(tmp_path) == [*wanted, empty]


def test_the_last_folder_of_an_item_counts_and_those_of_others_do_not(tmp_path: Path) -> None:
    folder(tmp_path, "tea", "tea")
    again = folder(tmp_path, "tea.2", "tea")
    by_hand = folder(tmp_path, "tea.3", "tests/test_x.py::test_tea")
    folder(tmp_path, "tea.10", "tea", invocation="now")
    trial = folder(tmp_path, "tea_2_", "tea[2]")
    noteless = folder(tmp_path, file_name("a/b"))
    folder(tmp_path, "of_somebody_else", metrics={"accuracy": 0.9})
    earlier = EarlierRun(tmp_path, "now", 3)
    assert earlier.completed("tea") == again
    assert earlier.completed("tests/test_x.py::test_tea") == by_hand
    assert earlier.completed("tea[2]") == trial
    assert earlier.completed("a/b") == noteless
    assert earlier.completed("coffee") is None
    assert earlier.others({"tea", "a/b"}) == {"tests/test_x.py::test_tea": by_hand, "tea[2]": trial}


def test_what_is_not_complete_is_moved_aside_once(tmp_path: Path) -> None:
    folder(tmp_path, "tea", "tea", metrics=None)
    folder(tmp_path, "done", "done")
    earlier = EarlierRun(tmp_path, "20260102_030405_abc", 3)
    assert earlier.completed("tea") is None
    aside = earlier.move_aside("tea")
    assert aside == tmp_path / "tea.killed.20260102_030405"
    assert (aside / "__KILLED__").exists()
    assert read_note(aside) is not None
    assert not (tmp_path / "tea").exists()
    assert earlier.move_aside("tea") is None
    assert earlier.move_aside("done") is None
    assert (tmp_path / "done").exists()


def start(invocation: str, item: str, outcome: str, verdict: str | None = None) -> dict[str, Any]:
    entry = {"item": item, "scenario": item, "outcome": outcome, "verdict": verdict, "folder": item}
    return {"invocation": invocation, "outcomes": [entry]}


@pytest.mark.parametrize(
    ("metrics", "starts", "name"),
    [
        (None, [{"invocation": "then"}], "killed"),  # its process was
        (None, [start("then", "tea", "broken off")], "killed"),
        (None, [start("then", "tea", "passed", "passed")], "killed"),  # what it came to is lost
        (None, [start("then", "tea", "error"), {"invocation": "later"}], "replaced"),
        (None, [start("sooner", "tea", "error"), {"invocation": "then"}], "killed"),
        (None, [start("then", "tea", "not scored")], "replaced"),
        (None, [start("then", "tea", "passed")], "replaced"),  # a test by hand that scores nothing
        ({"total_turns": 0}, [], "replaced"),
        ({"total_turns": 4, "verdict": "error"}, [], "replaced"),
        ({"total_turns": 4, "agent_turns": 1}, [], "replaced"),
    ],
)
def test_only_what_was_broken_off_is_called_killed(
    tmp_path: Path, metrics: dict[str, Any] | None, starts: list[dict[str, Any]], name: str
) -> None:
    folder(tmp_path, "tea", "tea", metrics=metrics, invocation="then")
    (tmp_path / "run_args.json").write_text(json.dumps({"invocations": starts}))
    aside = EarlierRun(tmp_path, "20260102_030405_abc", 3).move_aside("tea")
    assert aside == tmp_path / f"tea.{name}.20260102_030405"
    assert (aside / "__KILLED__").exists() == (name == "killed")
    assert scenario_folders(tmp_path) == []


JUDGED = SignalResult(SuccessSignal.JUDGE_PASSED, None, None, error="the judge did not answer")


@pytest.mark.parametrize(
    "changes",
    [{}, {"pushed": ('{"drink": "coffee"}',)}, {"turns": canned().turns[:1]}],
    ids=["passed", "failed", "hardly answered"],
)
def test_a_result_from_before_tells_what_it_told(tmp_path: Path, changes: dict[str, Any]) -> None:
    conversation = canned(**changes)
    settings = RunSettings(min_agent_turns=3)
    metrics = evaluate_conversation(Tea(), conversation, settings=settings, folder=tmp_path)
    again = restored_metrics(json.loads((tmp_path / "metrics.json").read_text()), tmp_path)
    assert again.verdict is metrics.verdict
    assert again.scores.breakdown == metrics.scores.breakdown
    assert again.json == metrics.json
    assert failure_text(again) == failure_text(metrics)
    assert properties(again) == properties(metrics)
    assert restored_transcript(tmp_path) == "\n".join(transcript_lines(conversation.turns))


def test_a_judge_that_broke_where_it_does_not_count_is_told_again(tmp_path: Path) -> None:
    record = DONE | {"verdict": "passed", "judge_error": "gone", "explanations": {"nl_assertion": "none"}}
    again = restored_metrics(record, tmp_path)
    assert {r.signal: r.error for r in again.scores.results if r.error} == {
        SuccessSignal.JUDGE_PASSED: "gone"
    }
    assert ("voice_judge_passed", "error") in properties(again)


def test_a_file_of_the_reference_is_enough(tmp_path: Path) -> None:
    record = {
        "scenario_name": "a__b",
        "total_turns": 3,
        "is_action_match": "N/A",
        "nl_assertion_pass_rate": 0.5,
        "clean_exit": True,
        "success_breakdown": {"passed": ["clean_exit"], "failed": ["nl_assertion"]},
        "is_successful": False,
    }
    again = restored_metrics(record, tmp_path)
    assert again.verdict is Verdict.FAILED
    assert failure_text(again).startswith("nl_assertion failed in a__b\n")
    assert ("voice_nl_assertion", "failed") in properties(again)
    assert restored_transcript(tmp_path) == ""


def test_what_of_a_scenario_is_other_now_is_named(tmp_path: Path) -> None:
    Tea().save(tmp_path / "config")
    assert scenario_changes(Tea(), tmp_path / "config") == []
    (tmp_path / "config" / "metadata.json").write_text(
        json.dumps(json.loads((tmp_path / "config" / "metadata.json").read_text()))
    )
    assert scenario_changes(Tea(), tmp_path / "config") == []

    class Other(Tea):
        reference_answer = None
        description = "Other."

    assert scenario_changes(Other(), tmp_path / "config") == ["metadata.json", "reference_answer.json"]
    assert scenario_changes(Tea(), tmp_path / "nothing") == []

    class Broken(Tea):
        def get_user_prompt(self) -> str:
            raise OSError("no prompt")

    assert scenario_changes(Broken(), tmp_path / "config") == ["it can't be saved any more: no prompt"]


def test_a_run_is_found_by_time_name_and_path(tmp_path: Path) -> None:
    run = tmp_path / "out" / "eval_20260102_030405"
    run.mkdir(parents=True)
    copied = tmp_path / "copied"
    folder(copied, "tea", "tea").joinpath("scenario_config").mkdir()
    for text in (
        "20260102_030405",
        "eval_20260102_030405",
        str(run),
        "out/eval_20260102_030405",
        "eval_20260102_030405/",
    ):
        assert find_run(text, tmp_path / "out", tmp_path) == run.resolve()
    assert find_run("copied", tmp_path / "out", tmp_path) == copied.resolve()
    with pytest.raises(ValueError, match=r"no such run; the latest in .*: eval_20260102_030405"):
        find_run("20260102_030406", tmp_path / "out", tmp_path)
    with pytest.raises(ValueError, match="there is none in"):
        find_run("x", tmp_path / "nowhere", tmp_path)
    (tmp_path / "other").mkdir()
    with pytest.raises(ValueError, match="this folder holds no run"):
        find_run("other", tmp_path / "out", tmp_path)
