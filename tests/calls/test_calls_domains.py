"""A sample of the small domains as spoken calls; ``tox -e rehearse`` holds all of them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from pytest_voiceeval.testing_judge import JudgeServer

pytest.importorskip("piper", reason="the extra 'local' is not installed")
pytest.importorskip("faster_whisper", reason="the extra 'local' is not installed")


@pytest.fixture
def hold(pytester: pytest.Pytester) -> Any:
    pytester.makeini("[pytest]\nasyncio_default_fixture_loop_scope = function\nfilterwarnings = error\n")

    def hold(name: str, *arguments: str) -> Path:
        result = pytester.runpytest_inprocess(
            "-p", "no:cacheprovider", f"--voice-scenarios={name}", *arguments
        )
        result.assert_outcomes(passed=1)
        [folder] = pytester.path.glob(f"eval_results/eval_*/{name}")
        return folder

    return hold


def read(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


def test_a_refund_is_spoken_and_leaves_the_account_as_it_must_be(hold: Any) -> None:
    folder = hold("customer_service__billing_dispute")
    [ticket] = read(folder / "final_agent_response.json")
    assert ticket["resolution_type"] == "refund"
    assert ticket["account"]["balance"] == "$92.51"
    assert ticket["account"]["recent_charges"][-1]["description"] == "Refund - Extended warranty"
    heard = [
        message["content"]
        for message in read(folder / "bot_logs_agent" / "llm_context.json")
        if message["role"] == "user"
    ]
    assert "TC4821" in "".join(heard).replace(" ", "").replace("-", "")


def test_a_spoken_answer_is_judged_over_http(hold: Any) -> None:
    with JudgeServer('{"score": 0.95, "reason": "it is sunny, as in the reference"}') as server:
        folder = hold(
            "qa__weather_new_york", f"--voice-judge-url={server.url}", "--voice-judge-model=scripted"
        )
        [request] = server.requests
    asked = request.body["messages"][-1]["content"]
    assert "<reference>" in asked
    assert "sunny, 20 degrees Celsius" in asked
    metrics = read(folder / "metrics.json")
    assert (metrics["judge_passed"], metrics["judge_score"], metrics["is_successful"]) == (True, 0.95, True)
    assert read(folder / "judge_result.json")["reason"] == "it is sunny, as in the reference"
