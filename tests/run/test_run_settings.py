from __future__ import annotations

from typing import Any

import pytest

from pytest_voiceeval import run_dynamic_evaluation
from pytest_voiceeval.errors import DefinitionError
from pytest_voiceeval.run.settings import RunSettings

NAN = float("nan")


@pytest.mark.parametrize(
    ("name", "value", "wanted"),
    [
        ("max_duration", -1, "seconds above 0, or None"),
        ("max_duration", NAN, "seconds above 0, or None"),
        ("inactivity_timeout", 0, "seconds above 0, or None"),
        ("inactivity_timeout", float("inf"), "seconds above 0, or None"),
        ("connect_timeout", 0, "seconds above 0"),
        ("connect_timeout", None, "seconds above 0"),
        ("judge_threshold", 7, "a number from 0 to 1, or None"),
        ("min_agent_turns", -1, "a whole number, 0 or more"),
        ("min_agent_turns", True, "a whole number, 0 or more"),
        ("max_auto_retries", 1.5, "a whole number, 0 or more"),
        ("auto_retry_backoff_secs", NAN, "seconds, 0 or more"),
        ("output_sample_rate", 7, "a whole number of hertz from 4000 to 192000"),
        ("output_sample_rate", "16000", "a whole number of hertz from 4000 to 192000"),
    ],
)
def test_a_number_that_cannot_be_meant_is_told(name: str, value: Any, wanted: str) -> None:
    with pytest.raises(DefinitionError) as told:
        RunSettings(**{name: value})
    assert str(told.value) == f"{name} is {value!r}; write {wanted}"


def test_what_may_be_none_is_none() -> None:
    settings = RunSettings(max_duration=None, inactivity_timeout=None, judge_threshold=None)
    assert settings.inactivity_timeout is None


@pytest.mark.parametrize("bot", [None, 8765])
def test_what_is_no_bot_is_told_before_any_call(bot: Any, tmp_path: Any) -> None:
    with pytest.raises(DefinitionError, match="is no user bot; give the URL of a WebSocket, or an endpoint"):
        run_dynamic_evaluation(bot, "ws://127.0.0.1:9", tmp_path / "run", ["restaurant__pizza_pepperoni"])
    assert not (tmp_path / "run").exists()
