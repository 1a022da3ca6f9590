"""A run without pytest, between embedded bots."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_voiceeval import LocalBot, load_profile, run_dynamic_evaluation

pytest.importorskip("piper", reason="the extra 'local' is not installed")


def test_embedded_bots_hold_a_scenario_without_pytest(tmp_path: Path) -> None:
    bots = [LocalBot(side, load_profile("local")) for side in ("user", "agent")]
    (record,) = run_dynamic_evaluation(*bots, tmp_path / "results", ["restaurant__pizza_pepperoni"])
    assert record["is_successful"] is True
    assert record["clock"] == "charged"
    assert record["agent_turns"] == record["token_usage"]["agent"]["n_calls"] >= 3
    assert (tmp_path / "results" / "all_summary.txt").exists()
    assert run_dynamic_evaluation(*bots, tmp_path / "results", "restaurant__pizza_pepperoni") == [record]
