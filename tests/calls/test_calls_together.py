"""Two spoken calls at once, on the clock on which embedded bots with hosted models are held."""

from __future__ import annotations

import re
from functools import partial
from pathlib import Path

import pytest

pytest.importorskip("piper", reason="the extra 'local' is not installed")
pytest.importorskip("faster_whisper", reason="the extra 'local' is not installed")

from test_calls_clocks import Calling, QuickOrder, local

from pytest_voiceeval import Rehearsal, Say, SuccessSignal, Use
from pytest_voiceeval.bridge.clock import MeasuredClock
from pytest_voiceeval.model.metrics import Verdict
from pytest_voiceeval.model.turns import AGENT, USER, Side
from pytest_voiceeval.run.evaluate import evaluate_conversation
from pytest_voiceeval.run.retries import hold_beside_others_until_it_counts
from pytest_voiceeval.run.settings import RunSettings
from pytest_voiceeval.run.together import CallThread
from pytest_voiceeval.scenarios.base import Scenario


class TableOnSunday(Calling):
    """Of other words than an order, so that a call that heard the other one would be found out."""

    name = "together__table"
    success_signals = (SuccessSignal.CLEAN_EXIT,)
    rehearsal = Rehearsal(
        user=(Say("Is there a table on Sunday evening?"), Say("Wonderful, see you then.")),
        agent=(
            Say("Good afternoon, this is the reservation desk."),
            Say("Yes, there is a table at seven."),
            Use("EndConversationTool"),
        ),
    )


def said(scenario: Scenario, side: Side) -> set[str]:
    assert scenario.rehearsal is not None
    lines = (line.text for line in scenario.rehearsal.lines(side) if isinstance(line, Say))
    return {word for text in lines for word in re.findall(r"\w+", text.casefold())}


def test_two_spoken_calls_at_once_are_what_each_would_be_alone(tmp_path: Path) -> None:
    settings = RunSettings(clock="measured", max_duration=60.0)
    thread = CallThread(MeasuredClock(), 2)
    bots = {"user": local(USER), "agent": local(AGENT)}
    scenarios: list[Scenario] = [QuickOrder(), TableOnSunday()]
    try:
        calls = []
        for scenario in scenarios:
            folder = tmp_path / str(scenario.name)
            folder.mkdir()
            hold = partial(hold_beside_others_until_it_counts, scenario, settings=settings, folder=folder)
            calls.append(thread.submit(partial(hold, user=bots["user"], agent=bots["agent"])))
        conversations = [call.outcome.result(120) for call in calls]
    finally:
        assert thread.close()
    for scenario, conversation in zip(scenarios, conversations, strict=True):
        folder = tmp_path / str(scenario.name)
        metrics = evaluate_conversation(scenario, conversation, settings=settings, folder=folder)
        assert metrics.verdict is Verdict.PASSED, metrics.json
        assert conversation.clock == "measured"
        assert len(conversation.latencies) == 1
        for side in (USER, AGENT):
            texts = " ".join(turn.text for turn in conversation.turns if turn.speaker == side)
            assert set(re.findall(r"\w+", texts.casefold())) <= said(scenario, side)
        log = (folder / "bot_log.txt").read_text(encoding="utf-8")
        spoken = " ".join(re.findall(r"Generating TTS \[(.*)\]", log))
        assert set(re.findall(r"\w+", spoken.casefold())) == said(scenario, USER) | said(scenario, AGENT)
    starts = [conversation.started_at for conversation in conversations]
    ends = [conversation.ended_at for conversation in conversations]
    assert max(starts) < min(ends)  # they overlap on the clock that they share
