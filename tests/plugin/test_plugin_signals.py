"""What ends a run, a worker or a test from outside: what there is of its calls is kept, and nothing stays."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from canned_project import OTHER_PLUGINS, run_folder

Write = Callable[[str, str], Path]

BOTS = '''
"""Bots that talk until somebody ends it; with one of the scenarios the agent hangs up at once."""
import os
import pathlib
import pytest
from pytest_voiceeval.testing import FakeBot, Utterance, exit_message


class Telling(FakeBot):
    """Leaves a file when it has spoken, which tells that its call goes on, and in which process."""

    place = pathlib.Path(__file__).parent / "spoken"

    async def _say(self, connection, line):
        await super()._say(connection, line)
        self.place.mkdir(exist_ok=True)
        (self.place / f"{self.name}-{os.getpid()}").touch()


class Listening:
    clocks = ("real",)
    concurrent_calls = 2

    def __init__(self, side, line):
        self.side = side
        self.label = f"fake {side}"
        self.line = line

    def open(self, scenario):
        bot = Telling(self.side, [self.line] * 500, answer_after=0.1)
        if self.side == "agent" and scenario.name == "shop__wrong_tea" and "QUICK" in os.environ:
            bot = Telling(self.side, [Utterance("Bye.", 0.1, late_sends=(exit_message(),))])
        bot.name = scenario.name
        return bot.serve()

    def close(self):
        pass


@pytest.fixture(scope="session")
def voice_agent():
    return Listening("agent", Utterance("Welcome.", 0.1, 300))


@pytest.fixture(scope="session")
def voice_user():
    return Listening("user", Utterance("Hello.", 0.1, 500))
'''

STUCK = """
import time
import pytest

@pytest.fixture
def voice_conversation(voice_folder):
    time.sleep(600)
"""

ONE_OF_EACH = "voice scenarios: 0 passed, 1 failed, 0 skipped, 1 error"

LIMIT_SECONDS = 60


def wait_until(claim: Callable[[], bool], what: str) -> None:
    limit = time.monotonic() + LIMIT_SECONDS
    while not claim():
        assert time.monotonic() < limit, what
        time.sleep(0.05)


def is_running(pid: int) -> bool:
    """Return whether a process is there that is more than a zombie."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def group_of(pid: int) -> list[int]:
    """Return the processes of the group that ``pid`` leads."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            fields = (folder / "stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[2]) == pid and fields[0] != "Z":
            found.append(int(folder.name))
    return found


class Run:
    """A run of pytest in a group of processes of its own."""

    def __init__(self, project: pytest.Pytester, *arguments: str) -> None:
        self.root = project.path
        self.process = project.popen(
            [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-W", "error", *arguments],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )

    def spoken(self, *names: str) -> list[int]:
        """Wait until the calls of ``names`` go on; return the processes that hold them."""
        place = self.root / "spoken"
        wait_until(lambda: all(any(place.glob(f"{name}-*")) for name in names), "no call has begun")
        return [int(next(place.glob(f"{name}-*")).name.rpartition("-")[2]) for name in names]

    def end(self) -> list[str]:
        """Wait for the end of all processes; return what was printed, line by line."""
        output, _ = self.process.communicate(timeout=LIMIT_SECONDS)
        wait_until(lambda: group_of(self.process.pid) == [], "processes are left")
        text = output.decode()
        assert "INTERNALERROR" not in text
        return [" ".join(line.split()) for line in text.splitlines()]


@pytest.fixture
def start(
    project: pytest.Pytester, write: Write, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Callable[..., Run]]:
    """Starts runs; kills what is left of them."""
    if not Path("/proc/self/stat").exists():
        pytest.skip("processes are counted in /proc")
    others = [name for name in OTHER_PLUGINS if name != "timeout"]
    monkeypatch.setenv("PYTEST_ADDOPTS", " ".join(f"-p no:{name}" for name in others))
    write("conftest.py", BOTS)
    runs: list[Run] = []

    def begin(*arguments: str) -> Run:
        runs.append(Run(project, *arguments))
        return runs[-1]

    yield begin
    for run in runs:
        for pid in group_of(run.process.pid):
            os.kill(pid, signal.SIGKILL)


def check_evidence(run: Path, name: str) -> None:
    transcript = (run / name / "conversation_log.txt").read_text(encoding="utf-8")
    assert "AGENT: Welcome." in transcript
    assert "Stop reason: [CANCELLED]" in transcript
    assert (run / name / "conversation_log.wav").exists()
    assert not (run / name / "metrics.json").exists()


def test_sigterm_ends_a_run_as_ctrl_c_does(start: Callable[..., Run]) -> None:
    started = start("--voice-scenarios=shop__good,shop__wrong_tea")
    started.spoken("shop__good")
    started.process.send_signal(signal.SIGTERM)
    lines = started.end()
    assert started.process.returncode == pytest.ExitCode.INTERRUPTED
    assert "the run was ended by SIGTERM" in lines
    assert "voice scenarios: 0 passed, 0 failed, 0 skipped, 0 errors, 1 broken off, 1 not run" in lines
    run = run_folder(started.root)
    check_evidence(run, "shop__good")
    assert json.loads((run / "all_metrics.json").read_text()) == []
    assert "1 broken off, 1 not run" in (run / "all_summary.txt").read_text()


@pytest.mark.parametrize("sign", ["SIGTERM", "SIGALRM"])
def test_calls_that_are_held_at_once_leave_theirs_too(start: Callable[..., Run], sign: str) -> None:
    names = ("shop__good", "shop__wrong_tea")
    timeout = () if sign == "SIGTERM" else ("--timeout=500", "--timeout-method=thread")
    started = start("--voice-scenarios=" + ",".join(names), "--voice-concurrency=2", *timeout)
    started.spoken(*names)
    started.process.send_signal(signal.Signals[sign])
    started.end()
    ends = {"SIGTERM": pytest.ExitCode.INTERRUPTED, "SIGALRM": pytest.ExitCode.TESTS_FAILED}
    assert started.process.returncode == ends[sign]
    for name in names:
        check_evidence(run_folder(started.root), name)


@pytest.mark.parametrize(
    "sign", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL], ids=["interrupted", "asked", "killed"]
)
def test_a_controller_that_goes_takes_its_workers_along_and_they_leave_what_there_is(
    start: Callable[..., Run], monkeypatch: pytest.MonkeyPatch, sign: signal.Signals
) -> None:
    pytest.importorskip("xdist")
    names = ("shop__good", "shop__wrong_tea")
    started = start("--voice-scenarios=" + ",".join(names), "-n2")
    started.spoken(*names)
    started.process.send_signal(sign)
    lines = started.end()
    run = run_folder(started.root)
    for name in names:
        check_evidence(run, name)
    if sign != signal.SIGKILL:
        assert started.process.returncode == pytest.ExitCode.INTERRUPTED
        assert "voice scenarios: 0 passed, 0 failed, 0 skipped, 0 errors, 2 broken off" in lines
        assert json.loads((run / "all_metrics.json").read_text()) == []
        return
    assert started.process.returncode == -signal.SIGKILL
    monkeypatch.setenv("QUICK", "1")
    again = start(f"--voice-resume={run}", "--voice-scenarios=shop__wrong_tea", "--voice-min-agent-turns=0")
    assert any(
        line.startswith("voice scenarios: 0 passed, 1 failed, 0 skipped, 0 errors") for line in again.end()
    )
    assert len(list(run.glob("shop__wrong_tea.killed.*"))) == 1


@pytest.mark.parametrize("workers", ["-n1", "-n2"])
def test_a_worker_that_is_asked_to_end_leaves_its_evidence_and_costs_its_scenario_alone(
    start: Callable[..., Run], monkeypatch: pytest.MonkeyPatch, workers: str
) -> None:
    pytest.importorskip("xdist")
    monkeypatch.setenv("QUICK", "1")
    started = start("--voice-scenarios=shop", workers, "--voice-min-agent-turns=0")
    (worker,) = started.spoken("shop__good")
    assert worker != started.process.pid
    os.kill(worker, signal.SIGTERM)
    lines = started.end()
    assert started.process.returncode == pytest.ExitCode.TESTS_FAILED
    assert any("crashed while running 'scenarios/shop.py::shop__good'" in line for line in lines)
    assert any(line.startswith(ONE_OF_EACH) for line in lines)
    check_evidence(run_folder(started.root), "shop__good")
    assert not is_running(worker)


@pytest.mark.parametrize("method", ["signal", "thread"])
def test_a_test_that_takes_too_long_leaves_the_evidence_of_its_call(
    start: Callable[..., Run], monkeypatch: pytest.MonkeyPatch, method: str
) -> None:
    pytest.importorskip("pytest_timeout")
    monkeypatch.setenv("QUICK", "1")
    timeout = ("--timeout=500", f"--timeout-method={method}")
    started = start("--voice-scenarios=shop", "--voice-min-agent-turns=0", *timeout)
    (process,) = started.spoken("shop__good")
    os.kill(process, signal.SIGALRM)  # what a timer of either method does when the time is up
    lines = started.end()
    run = run_folder(started.root)
    check_evidence(run, "shop__good")
    assert started.process.returncode == pytest.ExitCode.TESTS_FAILED
    if method == "signal":
        assert any("Timeout (>500.0s) from pytest-timeout." in line for line in lines)
        assert not any("Traceback" in line or "asyncio" in line for line in lines)
        assert any(line.startswith(ONE_OF_EACH) for line in lines)
        assert (run / "shop__wrong_tea" / "metrics.json").exists()
    else:
        assert any("+ Timeout +" in line for line in lines)
        assert not (run / "shop__wrong_tea").exists()


def test_the_timer_of_the_method_thread_ends_the_process(start: Callable[..., Run], write: Write) -> None:
    pytest.importorskip("pytest_timeout")
    write("conftest.py", STUCK)
    started = start("--voice-scenarios=shop__good", "--timeout=1", "--timeout-method=thread")
    lines = started.end()
    assert started.process.returncode == pytest.ExitCode.TESTS_FAILED
    assert any("+ Timeout +" in line for line in lines)
