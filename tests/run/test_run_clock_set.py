"""The system's clock is set forwards and back by a day while a call goes on: nothing depends on it."""

from __future__ import annotations

import itertools
import time
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from calls_of_fakes import Calls, Tea, caller, goodbye

from pytest_voiceeval.audio.jitter import JitterBuffer
from pytest_voiceeval.bridge import warp
from pytest_voiceeval.bridge.events import Listener
from pytest_voiceeval.bridge.tape import Track
from pytest_voiceeval.model.stop_reason import StopReason
from pytest_voiceeval.model.turns import AGENT
from pytest_voiceeval.run import earlier, session
from pytest_voiceeval.run.earlier import EarlierRun, ItemNote, new_invocation, write_note
from pytest_voiceeval.run.evaluate import evaluate_conversation, hold
from pytest_voiceeval.run.files import claim_folder
from pytest_voiceeval.run.session import RunFolder
from pytest_voiceeval.run.settings import RunSettings
from pytest_voiceeval.testing import Utterance
from pytest_voiceeval.wire.frames import Message
from pytest_voiceeval.wire.rtvi import Envelope

DAY = 86_400.0


class Jumping(datetime):
    """A wall clock that is set by a day whenever it is read, now forwards, now back."""

    shifts = itertools.cycle((DAY, -DAY, 0.0))

    @classmethod
    def now(cls, tz: Any = None) -> datetime:
        return datetime.fromtimestamp(REAL_TIME() + next(cls.shifts), tz)


REAL_TIME = time.time


@pytest.fixture
def clock_is_set(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have whoever reads the system's clock find it set."""
    monkeypatch.setattr(time, "time", lambda: REAL_TIME() + next(Jumping.shifts))
    for module in (warp, earlier, session):
        monkeypatch.setattr(module, "datetime", Jumping)


def test_a_call_takes_as_long_as_it_takes(tmp_path: Path, clock_is_set: None) -> None:
    agent = Calls(AGENT, [Utterance("Hello.", 0.3, 350), goodbye()])
    settings = RunSettings(min_agent_turns=0, connect_timeout=30.0)
    conversation = hold(Tea(), user=caller(), agent=agent, settings=settings, folder=tmp_path)
    assert conversation.stop_reason is StopReason.EXIT
    assert 0 < conversation.duration_seconds < 20
    assert [turn.text for turn in conversation.turns] == ["Hello.", "Tea please.", "Here it is, bye."]
    assert all(0 < latency.seconds < 10 for latency in conversation.latencies)
    length = (conversation.ended_at - conversation.started_at).total_seconds()
    assert length == pytest.approx(conversation.duration_seconds, abs=1.0)
    metrics = evaluate_conversation(Tea(), conversation, settings=settings, folder=tmp_path)
    assert 0 < metrics.json["scenario_duration"] < 20


def test_runs_never_share_a_folder_and_a_result_of_now_is_the_last_one(
    tmp_path: Path, clock_is_set: None
) -> None:
    runs = [RunFolder(tmp_path).open() for _ in range(4)]
    assert len(set(runs)) == 4
    run = runs[0]
    for _ in range(3):  # the later a folder is made, the higher its number, whatever the clock says
        write_note(claim_folder(run / "shop__tea"), ItemNote("shop__tea", new_invocation()))
    found = EarlierRun(run, "another start", 0).folder_of("shop__tea")
    assert found is not None
    assert found.name == "shop__tea.3"


@pytest.mark.parametrize("seconds", [-DAY, -0.1, DAY])
def test_work_that_took_longer_than_the_call_is_the_clocks_and_no_works(seconds: float) -> None:
    track = Track(16_000)
    listener = Listener(AGENT, JitterBuffer(16_000, 320), track, now=lambda: 10.0, note=str)

    def tell(value: float) -> None:
        data = {"ttfb": [{"processor": "OpenAILLMService#0", "value": value}]}
        listener.hear(Message(Envelope(type="metrics", data=data)))

    tell(0.5)
    assert [measure.seconds for measure in track.measures] == [0.5]
    tell(seconds)
    assert [measure.seconds for measure in track.measures] == [0.5]
