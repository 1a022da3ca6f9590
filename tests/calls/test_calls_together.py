"""Two spoken calls at once, each with the words of its own, at the times of its own."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import pytest

pytest.importorskip("piper", reason="the extra 'local' is not installed")
pytest.importorskip("faster_whisper", reason="the extra 'local' is not installed")

from test_calls_clocks import Calling, QuickOrder

from pytest_voiceeval import Rehearsal, Say, SuccessSignal, Use
from pytest_voiceeval.bots.launch import LocalBot
from pytest_voiceeval.bots.profile import load_profile
from pytest_voiceeval.bots.speech_cache import SpeechCache
from pytest_voiceeval.bridge.clock import ChargedClock, Clock, MeasuredClock
from pytest_voiceeval.model.conversation import Conversation
from pytest_voiceeval.model.stop_reason import StopReason
from pytest_voiceeval.model.turns import AGENT, USER, Side
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
    return words(" ".join(lines))


def words(text: str) -> set[str]:
    return set(re.findall(r"\w+", text.casefold()))


def held(clock: Clock, scenarios: Sequence[Scenario], folder: Path) -> list[Conversation]:
    """Return the calls of all scenarios, held at once, with the same bots."""
    settings = RunSettings(clock=clock.name, max_duration=60.0)
    cache = SpeechCache(folder.parent / "cache")  # of the clock charged, which charges its work all the same
    profile = load_profile("local")
    user, agent = (LocalBot(side, profile, cache=cache) for side in (USER, AGENT))
    thread = CallThread(clock, len(scenarios))
    try:
        calls = []
        for scenario in scenarios:
            own = folder / str(scenario.name)
            own.mkdir(parents=True)
            hold = partial(hold_beside_others_until_it_counts, scenario, settings=settings, folder=own)
            calls.append(thread.submit(partial(hold, user=user, agent=agent)))
        return [call.outcome.result(200) for call in calls]
    finally:
        assert thread.close()


def check_words(scenario: Scenario, conversation: Conversation, folder: Path) -> None:
    """See that all that was said, heard and logged is of this call."""
    log = (folder / str(scenario.name) / "bot_log.txt").read_text(encoding="utf-8")
    spoken = " ".join(re.findall(r"Generating TTS \[(.*)\]", log))
    assert words(spoken) == said(scenario, USER) | said(scenario, AGENT)
    for side in (USER, AGENT):
        texts = " ".join(turn.text for turn in conversation.turns if turn.speaker == side)
        assert words(texts.replace("[INTERRUPTED]", "")) <= said(scenario, side)


def test_spoken_calls_at_once_are_what_each_is_alone(tmp_path: Path) -> None:
    """On a clock that stands still while anything is computed, so that only the calls' own logic is seen."""
    scenarios: list[Scenario] = [QuickOrder(), TableOnSunday()]
    alone = [held(ChargedClock(), [scenario], tmp_path / "alone")[0] for scenario in scenarios]
    together = held(ChargedClock(), scenarios, tmp_path / "together")
    for scenario, one, other in zip(scenarios, alone, together, strict=True):
        check_words(scenario, other, tmp_path / "together")
        assert other.stop_reason is StopReason.EXIT
        assert [(turn.speaker, turn.text) for turn in other.turns] == [
            (turn.speaker, turn.text) for turn in one.turns
        ]
        assert [turn.start for turn in other.turns] == pytest.approx(
            [turn.start for turn in one.turns], abs=0.05
        )
        latencies = [latency.seconds for latency in other.latencies]
        assert latencies == pytest.approx([latency.seconds for latency in one.latencies], abs=0.05)


def test_spoken_calls_at_once_overlap_on_the_measured_clock(tmp_path: Path) -> None:
    """Their latencies are as long as the machine makes them; what is said is each one's own."""
    scenarios: list[Scenario] = [QuickOrder(), TableOnSunday()]
    conversations = held(MeasuredClock(), scenarios, tmp_path / "measured")
    for scenario, conversation in zip(scenarios, conversations, strict=True):
        check_words(scenario, conversation, tmp_path / "measured")
        assert conversation.clock == "measured"
        assert conversation.latencies
    starts = [conversation.started_at for conversation in conversations]
    ends = [conversation.ended_at for conversation in conversations]
    assert max(starts) < min(ends)
