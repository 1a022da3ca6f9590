"""Whole spoken calls, as a user has them: embedded bots, real speech, the built-in pack."""

from __future__ import annotations

import csv
import importlib.util
import json
import re
import wave
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("piper", reason="the extra 'local' is not installed")
pytest.importorskip("faster_whisper", reason="the extra 'local' is not installed")

PEPPERONI = "restaurant__pizza_pepperoni"


@pytest.fixture
def project(pytester: pytest.Pytester) -> pytest.Pytester:
    pytester.makeini("[pytest]\nasyncio_default_fixture_loop_scope = function\nfilterwarnings = error\n")
    return pytester


def hold(project: pytest.Pytester, *arguments: str) -> tuple[pytest.RunResult, Path]:
    result = project.runpytest_inprocess("-p", "no:cacheprovider", *arguments)
    (folder,) = project.path.glob("eval_results/eval_*")
    return result, folder


def word_error_rate(call: Path, side: str) -> float:
    """Return how far a recogniser is from the transcript of one channel, over the lines without digits."""
    from pytest_voiceeval.bots.profile import load_profile  # noqa: PLC0415 - only where it is installed
    from pytest_voiceeval.bots.recogniser import heard, shared_recogniser  # noqa: PLC0415 - heavy

    stt = load_profile("local").stt
    model = shared_recogniser(stt.model_path, stt.device, stt.compute_type)
    with wave.open(str(call / "conversation_log.wav")) as file:
        assert (file.getnchannels(), file.getsampwidth(), file.getframerate()) == (2, 2, 16_000)
        stereo = np.frombuffer(file.readframes(file.getnframes()), "<i2").reshape(-1, 2)
    wrong = spoken = 0
    for segment in strict(call / "conversation_log.seglst.json"):
        if segment["speaker"] == side and not re.search(r"\d", segment["words"]):
            start, end = (round(segment[key] * 16_000) for key in ("start_time", "end_time"))
            sound = stereo[max(start - 1600, 0) : end + 1600, ("user", "agent").index(side)]
            said = words(segment["words"])
            wrong += errors(said, words(heard(model, sound.tobytes(), "en")))
            spoken += len(said)
    assert spoken > 10
    return wrong / spoken


def words(text: str) -> list[str]:
    return re.sub(r"[^a-z' ]", " ", text.lower().replace("-", " ")).split()


def errors(said: list[str], heard: list[str]) -> int:
    """Return the edit distance between two lists of words."""
    row = list(range(len(heard) + 1))
    for i, word in enumerate(said, 1):
        row = _next_row(row, i, word, heard)
    return row[-1]


def _next_row(row: list[int], i: int, word: str, heard: list[str]) -> list[int]:
    new = [i]
    for j, other in enumerate(heard, 1):
        new.append(min(row[j] + 1, new[-1] + 1, row[j - 1] + (word != other)))
    return new


def strict(path: Path) -> Any:
    def refuse(constant: str) -> Any:
        raise ValueError(f"{path}: {constant} is no JSON")

    return json.loads(path.read_text(encoding="utf-8"), parse_constant=refuse)


def test_one_spoken_scenario_passes_and_leaves_all_its_files(project: pytest.Pytester) -> None:
    has_allure = importlib.util.find_spec("allure_pytest") is not None
    allure = ["--alluredir=allure"] if has_allure else []
    result, folder = hold(project, f"--voice-scenarios={PEPPERONI}", "-v", "--junitxml=report.xml", *allure)
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(
        [
            f"scenarios/restaurant.py::{PEPPERONI} PASSED*",
            "*recording:*conversation_log.wav",
            "*transcript:*conversation_log.txt",
            "*metrics:*metrics.json",
            "*clock: charged*",
        ]
    )
    call = folder / PEPPERONI
    metrics = strict(call / "metrics.json")
    assert list(metrics)[:13] == [
        *("total_turns", "duration_seconds", "turns", "latency_stats", "latencies", "scenario_name"),
        *("scenario_directory", "scenario_duration", "stop_reason", "clean_exit", "is_action_match"),
        *("token_usage", "success_breakdown"),
    ]
    assert metrics["is_successful"] is True
    assert metrics["stop_reason"] == "[EXIT]"
    assert metrics["clock"] == "charged"
    assert metrics["token_usage"]["agent"]["n_calls"] >= 5
    roles = [turn["role"] for turn in metrics["turns"]]
    assert roles == ["agent", "user"] * (len(roles) // 2)
    assert all(200 < latency["latency_ms"] < 3000 for latency in metrics["latencies"])
    tools = [
        entry["function"]["name"]
        for message in strict(call / "bot_logs_agent" / "llm_context.json")
        for entry in message.get("tool_calls", ())
    ]
    assert tools == ["GetMenuTool", "PlaceOrderTool", "EndConversationTool"]
    (order,) = strict(call / "final_agent_response.json")
    assert (order["customer_name"], order["total_price"]) == ("Charlie", "11.49")
    assert [record["is_successful"] for record in strict(folder / "all_metrics.json")] == [True]
    rows = list(csv.reader((folder / "all_latencies.csv").read_text(encoding="utf-8").splitlines()))
    assert rows[0] == ["Scenario", "User_Transcript", "Agent_Transcript", "Latency_ms"]
    assert len(rows) == 1 + metrics["latency_stats"]["count"]
    properties = {
        p.get("name"): p.get("value") for p in ET.parse(project.path / "report.xml").iter("property")
    }
    assert (properties["voice_scenario"], properties["voice_verdict"]) == (PEPPERONI, "passed")
    attached = [
        attachment["name"]
        for file in (project.path / "allure").glob("*-result.json")
        for attachment in strict(file)["attachments"]
    ]
    assert any("wav" in name or "recording" in name for name in attached) is has_allure

    assert word_error_rate(call, "user") < 0.15
    assert word_error_rate(call, "agent") < 0.15


@pytest.mark.parametrize(
    ("variant", "lines"),
    [
        (
            "wrong-argument",
            ["*is_action_match*", '*expected "Pepperoni Pizza", found "wrong Pepperoni Pizza"*'],
        ),
        ("no-exit", ["*clean_exit*", "*[[]INACTIVITY[]]*"]),
        ("mute", ["*is_action_match*", "*clean_exit*", "*[[]INACTIVITY[]]*"]),
        ("do-nothing", ["*is_action_match*", "*nothing*"]),
    ],
)
def test_a_sabotaged_rehearsal_fails_and_says_why(
    project: pytest.Pytester, variant: str, lines: list[str]
) -> None:
    result, folder = hold(project, f"--voice-scenarios={PEPPERONI}", f"--voice-rehearsal={variant}")
    result.assert_outcomes(failed=1)
    for line in lines:
        result.stdout.fnmatch_lines([line])
    result.stdout.fnmatch_lines([f"*{folder.name}/{PEPPERONI}*"])
    assert "Traceback" not in result.stdout.str() + result.stderr.str()
    assert strict(folder / PEPPERONI / "metrics.json")["is_successful"] is False


def test_two_workers_hold_the_same_calls_as_one(project: pytest.Pytester) -> None:
    pytest.importorskip("xdist")
    selected = "--voice-scenarios=restaurant__deli_turkey_club,restaurant__burger_classic"
    found = []
    for workers in ("0", "2"):
        result = project.runpytest_inprocess("-p", "no:cacheprovider", selected, f"-n{workers}")
        result.assert_outcomes(passed=2)
    for folder in sorted(project.path.glob("eval_results/eval_*")):
        records = strict(folder / "all_metrics.json")
        found.append([(r["scenario_name"], [t["text"] for t in r["turns"]], r["latencies"]) for r in records])
        recordings = [path.read_bytes() for path in sorted(folder.glob("*/conversation_log.wav"))]
        found[-1].append(hash(tuple(recordings)))
    assert len(found) == 2
    assert found[0] == found[1]
