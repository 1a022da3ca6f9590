"""Ctrl-C while a call goes on."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

BOTS = '''
"""Bots that talk for a long time."""
import pytest
from pytest_voiceeval.testing import FakeBot, Utterance


class Listening:
    clocks = ("real",)

    def __init__(self, side, line):
        self.side = side
        self.label = f"fake {side}"
        self.line = line

    def open(self, scenario):
        return FakeBot(self.side, [self.line] * 50).serve()

    def close(self):
        pass


@pytest.fixture(scope="session")
def voice_agent():
    return Listening("agent", Utterance("Welcome.", 0.4, 300))


@pytest.fixture(scope="session")
def voice_user():
    return Listening("user", Utterance("Hello.", 0.4, 500))
'''


def wait_for(path: Path, pattern: str, seconds: float) -> Path:
    limit = time.monotonic() + seconds
    while time.monotonic() < limit:
        if found := next(path.glob(pattern), None):
            return found
        time.sleep(0.05)
    raise AssertionError(f"no {pattern} in {path} after {seconds} s")


def test_the_results_so_far_and_the_evidence_of_the_call_are_on_disk(
    project: pytest.Pytester, write: Callable[[str, str], Path]
) -> None:
    write("conftest.py", BOTS)
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "--voice-scenarios=shop__good"]
    process = project.popen(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    )
    wait_for(project.path, "eval_results/*/shop__good/scenario_config/metadata.json", 30)
    time.sleep(3)  # the call is to have begun; nothing outside of it tells
    process.send_signal(signal.SIGINT)
    output, _ = process.communicate(timeout=90)
    shown = output.decode()
    assert process.returncode == pytest.ExitCode.INTERRUPTED, shown
    lines = [" ".join(line.split()) for line in shown.splitlines()]
    assert "shop__good broken off" in lines
    assert any(line.startswith("recording: eval_results/") for line in lines)
    assert any(line.startswith("transcript: eval_results/") for line in lines)
    assert any(line.startswith("run folder: eval_results/") for line in lines)
    assert "voice scenarios: 0 passed, 0 failed, 0 skipped, 0 errors, 1 broken off" in lines
    (run,) = (project.path / "eval_results").iterdir()
    transcript = (run / "shop__good" / "conversation_log.txt").read_text(encoding="utf-8")
    assert "AGENT: Welcome." in transcript
    assert "Stop reason: [CANCELLED]" in transcript
    assert (run / "shop__good" / "conversation_log.wav").exists()
    assert not (run / "shop__good" / "metrics.json").exists()
    assert json.loads((run / "all_metrics.json").read_text()) == []
    assert json.loads((run / "run_args.json").read_text())["invocations"][0]["resolved_scenario_count"] == 1
