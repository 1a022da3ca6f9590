"""A spoken call with noise on the line, and an agent that consults a document in it."""

from __future__ import annotations

import json
import math
import wave
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from test_calls_clocks import QuickOrder, digest, held

from pytest_voiceeval import NoiseConfig, Rehearsal, Resources, Use
from pytest_voiceeval.scenarios.packs import builtin_pack


class NoisyOrder(QuickOrder):
    """The order of a quick caller in a place that is not quiet."""

    name = "noise__quick_order"
    noise_config = NoiseConfig(random_white_noise=True, snr_db=20.0)
    agent_resources = Resources(
        tools={**QuickOrder.agent_resources.tools, "ReadFileTool": {}},
        documents={"offers": "pizza/offers.txt"},
    )
    rehearsal = Rehearsal(
        user=QuickOrder.rehearsal.user,
        agent=(
            QuickOrder.rehearsal.agent[0],
            Use("ReadFileTool", {"file_path": "pizza/offers.txt"}),
            *QuickOrder.rehearsal.agent[1:],
        ),
    )


def left_channel(folder: Path) -> Any:
    with wave.open(str(folder / "conversation_log.wav")) as file:
        stereo = np.frombuffer(file.readframes(file.getnframes()), "<i2").reshape(-1, 2)
    return stereo[:, 0].astype(float)


def test_a_noisy_call_is_understood_measured_and_the_same_to_the_bit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    builtin_pack().load_tools()
    monkeypatch.setenv("EVAL_DATA_ROOT", str(tmp_path / "data"))
    (tmp_path / "data" / "pizza").mkdir(parents=True)
    (tmp_path / "data" / "pizza" / "offers.txt").write_text("Veggie Pizza: 10.49", encoding="utf-8")
    first, again = (held(tmp_path / name, "charged", NoisyOrder()) for name in ("first", "again"))
    assert first.metrics["is_successful"] is True
    assert digest(again) == digest(first)
    assert first.metrics["noise"]["snr_db"] == pytest.approx(20.0, abs=2.5)
    heard = left_channel(first.folder)
    before = heard[: round(first.conversation.turns[0].start * 16_000)]
    noise_db = 20 * math.log10(math.sqrt(float(np.mean(before**2))) / 32768)
    assert noise_db == pytest.approx(-46.0, abs=0.5)
    # The caller is heard in the noise, and latencies are those of speech.
    used = [name for name, _ in first.tool_calls]
    assert used == ["ReadFileTool", "GetMenuTool", "PlaceOrderTool", "EndConversationTool"]
    (offers, *_) = [m["content"] for m in first.conversation.agent.context or [] if m["role"] == "tool"]
    assert json.loads(offers) == {"file_path": "pizza/offers.txt", "content": "Veggie Pizza: 10.49"}
    assert all(0.2 < seconds < 3.0 for seconds in first.latencies)
