"""When a call is held again, and what becomes of the ones that do not count."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from calls_of_fakes import HANGS_UP, Calls, Tea, caller, goodbye

from pytest_voiceeval.errors import BotUnreachableError
from pytest_voiceeval.model.conversation import RetriedAttempt
from pytest_voiceeval.model.turns import AGENT
from pytest_voiceeval.report.failure import failure_text
from pytest_voiceeval.run import retries
from pytest_voiceeval.run.earlier import ItemNote, read_note, write_note
from pytest_voiceeval.run.evaluate import evaluate_conversation
from pytest_voiceeval.run.files import read_json
from pytest_voiceeval.run.retries import hold_until_it_counts
from pytest_voiceeval.run.settings import RunSettings
from pytest_voiceeval.testing import Utterance

GREETS = [Utterance("Welcome.", 0.3, 300), goodbye()]
SETTINGS = RunSettings(auto_retry_backoff_secs=0)


def test_a_stale_call_is_held_again_and_both_leave_their_files(tmp_path: Path) -> None:
    agent = Calls(AGENT, [HANGS_UP], GREETS)
    folder = tmp_path / "run__tea"
    folder.mkdir()
    write_note(folder, ItemNote("run__tea", "now"))
    told: list[RetriedAttempt] = []
    conversation = hold_until_it_counts(
        Tea(), user=caller(), agent=agent, settings=SETTINGS, folder=folder, on_retry=told.append
    )
    assert agent.opened == 2
    assert [turn.text for turn in conversation.turns] == ["Welcome.", "Tea please.", "Here it is, bye."]
    assert tuple(told) == conversation.retried
    assert {path.name for path in tmp_path.iterdir()} == {"run__tea", "run__tea.attempt1"}
    assert "Welcome." not in (tmp_path / "run__tea.attempt1" / "conversation_log.txt").read_text()
    assert "Welcome." in (folder / "conversation_log.txt").read_text()
    assert (tmp_path / "run__tea.attempt1" / "scenario_config" / "metadata.json").exists()
    assert [getattr(read_note(path), "item", None) for path in (folder, tmp_path / "run__tea.attempt1")] == [
        "run__tea",
        None,
    ]
    metrics = evaluate_conversation(Tea(), conversation, settings=SETTINGS, folder=folder)
    assert metrics.json["attempts"] == [
        {
            "attempt": 1,
            "retry_reason": "stale: no turns were exchanged",
            "stop_reason": "[EXIT]",
            "total_turns": 0,
            "directory": "run__tea.attempt1",
        },
        {
            "attempt": 2,
            "retry_reason": None,
            "stop_reason": "[EXIT]",
            "total_turns": 3,
            "directory": "run__tea",
        },
    ]
    assert (
        "  attempt 1 does not count (stale: no turns were exchanged); its files: run__tea.attempt1"
        in failure_text(metrics)
    )


@pytest.mark.parametrize(("most", "held"), [(0, 1), (1, 2), (3, 4)])
def test_the_last_attempt_counts_whatever_it_is(tmp_path: Path, most: int, held: int) -> None:
    agent = Calls(AGENT, [HANGS_UP])
    settings = replace(SETTINGS, max_auto_retries=most)
    conversation = hold_until_it_counts(
        Tea(), user=caller(), agent=agent, settings=settings, folder=tmp_path / "tea"
    )
    assert agent.opened == held
    assert len(conversation.retried) == held - 1
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "tea",
        *(f"tea.attempt{number}" for number in range(1, held)),
    ]


@pytest.mark.parametrize(
    ("switches", "held"),
    [
        ({"auto_resume_on_stale": False}, 1),
        ({"auto_resume_on_stale": False, "auto_resume_on_insufficient_turns": True}, 1),
    ],
)
def test_a_stale_call_is_not_held_again_where_that_is_off(
    tmp_path: Path, switches: dict[str, Any], held: int
) -> None:
    agent = Calls(AGENT, [HANGS_UP])
    settings = replace(SETTINGS, min_agent_turns=3, **switches)
    hold_until_it_counts(Tea(), user=caller(), agent=agent, settings=settings, folder=tmp_path / "tea")
    assert agent.opened == held


@pytest.mark.parametrize(("on_insufficient", "held"), [(False, 1), (True, 2)])
def test_a_call_with_too_few_answers_is_held_again_only_if_that_is_on(
    tmp_path: Path, on_insufficient: bool, held: int
) -> None:
    agent = Calls(AGENT, [goodbye("Bye.")], GREETS)
    settings = replace(
        SETTINGS, min_agent_turns=2, auto_resume_on_insufficient_turns=on_insufficient, max_auto_retries=5
    )
    conversation = hold_until_it_counts(
        Tea(), user=caller(), agent=agent, settings=settings, folder=tmp_path / "tea"
    )
    assert agent.opened == held
    assert [attempt.reason for attempt in conversation.retried] == [
        "insufficient turns: the agent answered 1 time(s), fewer than 2"
    ] * (held - 1)


def test_a_call_that_breaks_off_is_no_reason_and_what_came_before_it_stays(tmp_path: Path) -> None:
    agent = Calls(AGENT, [HANGS_UP], BotUnreachableError("gone"))
    settings = replace(SETTINGS, max_auto_retries=5)
    with pytest.raises(BotUnreachableError, match="gone"):
        hold_until_it_counts(Tea(), user=caller(), agent=agent, settings=settings, folder=tmp_path / "tea")
    assert agent.opened == 2
    assert (tmp_path / "tea.attempt1" / "conversation_log.txt").exists()


@pytest.mark.parametrize(("clock", "waited"), [("real", [7.0]), ("measured", [7.0]), ("charged", [])])
def test_servers_get_time_to_recover_where_there_may_be_any(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, clock: str, waited: list[float]
) -> None:
    pauses: list[float] = []
    monkeypatch.setattr("time.sleep", pauses.append)
    first = retries.hold

    def on_clock(*args: Any, **options: Any) -> Any:
        return replace(first(*args, **options), clock=clock)

    monkeypatch.setattr(retries, "hold", on_clock)
    settings = replace(SETTINGS, auto_retry_backoff_secs=7.0)
    agent = Calls(AGENT, [HANGS_UP], GREETS)
    hold_until_it_counts(Tea(), user=caller(), agent=agent, settings=settings, folder=tmp_path / "tea")
    assert pauses == waited


def test_what_an_earlier_run_moved_aside_is_not_touched(tmp_path: Path) -> None:
    (tmp_path / "tea.attempt1").mkdir()
    (tmp_path / "tea.attempt1" / "mark").write_text("old")
    agent = Calls(AGENT, [HANGS_UP], GREETS)
    conversation = hold_until_it_counts(
        Tea(), user=caller(), agent=agent, settings=SETTINGS, folder=tmp_path / "tea"
    )
    assert [attempt.directory for attempt in conversation.retried] == ["tea.attempt1.2"]
    assert [path.name for path in (tmp_path / "tea.attempt1").iterdir()] == ["mark"]
    assert read_json(tmp_path / "tea.attempt1.2" / "scenario_config" / "metadata.json")["name"] == "run__tea"
