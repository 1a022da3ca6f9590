"""What becomes of calls that are held at once when something ends them: Ctrl-C, a time limit, a process."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from canned_project import run_folder
from concurrent_project import BOTS, SHOP

Write = Callable[[str, str], Path]
FOUR = "--voice-concurrency=4"
CHATTER = (
    '{name: [Utterance("Let me tell you.", 0.3, 300)] * 50 for name in ("shop__a", "shop__b", "shop__c")}'
)


@pytest.fixture
def shop(project: pytest.Pytester, write: Write) -> pytest.Pytester:
    """A shop whose bots talk on and on in all calls but the last."""
    write("scenarios/shop.py", SHOP)
    (project.path / "scenarios" / "bank.py").unlink()
    write("conftest.py", BOTS.replace("SCRIPTS = {}", f"SCRIPTS = {CHATTER}"))
    return project


@pytest.fixture
def started(shop: pytest.Pytester) -> Iterator[Callable[..., subprocess.Popen[bytes]]]:
    """Starts pytest in a process of its own, and returns when its calls have begun."""
    processes: list[subprocess.Popen[bytes]] = []

    def start(*flags: str) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-W", "error", "-m", "pytest", "-p", "no:cacheprovider"]
        command += ["--voice-scenarios=shop", FOUR, "--voice-min-agent-turns=0", *flags]
        process = shop.popen(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
        )
        processes.append(process)
        notes = shop.path / "notes.txt"
        while process.poll() is None and not (notes.exists() and "shop__d ends" in notes.read_text()):
            time.sleep(0.05)
        return process

    yield start
    for process in processes:
        if process.poll() is None:
            process.kill()
        process.communicate()


def test_ctrl_c_breaks_off_all_calls_and_keeps_what_there_is_of_them(
    shop: pytest.Pytester, started: Callable[..., subprocess.Popen[bytes]]
) -> None:
    process = started()
    process.send_signal(signal.SIGINT)
    shown = process.communicate(timeout=60)[0].decode()
    assert process.returncode == pytest.ExitCode.INTERRUPTED, shown
    assert "3 broken off, 1 held and not scored" in shown
    run = run_folder(shop.path)
    for name in "abc":
        transcript = (run / f"shop__{name}" / "conversation_log.txt").read_text(encoding="utf-8")
        assert "Stop reason: [CANCELLED]" in transcript
        assert f"shop__{name} broken off" in " ".join(shown.split())
    assert "Stop reason: [EXIT]" in (run / "shop__d" / "conversation_log.txt").read_text(encoding="utf-8")
    assert "Traceback" not in shown.partition("KeyboardInterrupt")[0]


def test_an_item_that_runs_out_of_time_fails_and_the_others_go_on(
    shop: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("pytest_timeout")
    monkeypatch.setenv("PYTEST_ADDOPTS", "-p no:asyncio -p no:anyio -p no:hypothesispytest")
    conftest = shop.path / "conftest.py"
    conftest.write_text(conftest.read_text().replace(', "shop__b", "shop__c")', ",)"), encoding="utf-8")
    result = shop.runpytest_subprocess(
        *("--voice-scenarios=shop", FOUR, "--timeout=8", "--timeout-method=signal", "-W", "error"),
        "--voice-min-agent-turns=0",
    )
    result.assert_outcomes(passed=3, errors=1)
    result.stdout.fnmatch_lines(["ERROR scenarios/shop.py::shop__a - Failed: Timeout*"])
    transcript = run_folder(shop.path) / "shop__a" / "conversation_log.txt"
    assert "Stop reason: [CANCELLED]" in transcript.read_text(encoding="utf-8")


COMMAND = """
import asyncio, sys
from pytest_voiceeval.testing import FakeBot, Utterance, exit_message

async def main():
    lines = [Utterance("Here it is, bye.", 0.1, 300, late_sends=(exit_message(),))] * 9
    async with FakeBot("agent", lines, answer_after=0.1).serve(int(sys.argv[1])):
        print("ready", flush=True)
        await asyncio.Event().wait()

asyncio.run(main())
"""


def test_a_command_runs_once_for_each_call_that_is_held_at_once(shop: pytest.Pytester, write: Write) -> None:
    write("bot.py", COMMAND)
    write("conftest.py", BOTS.partition('@pytest.fixture(scope="session")\ndef voice_agent')[0] + USER)
    command = f"--voice-agent=cmd:{sys.executable} bot.py {{port}}"
    result = shop.runpytest_subprocess(
        *("--voice-scenarios=shop", "--voice-concurrency=2", command, "--voice-min-agent-turns=0"),
        *("-W", "error", "--voice-connect-timeout=30"),
    )
    result.assert_outcomes(passed=4)
    logs = sorted(run_folder(shop.path).glob("bot_agent_*.log"))
    assert [log.name for log in logs] == ["bot_agent_0.log", "bot_agent_1.log"]
    assert [log.read_text(encoding="utf-8").count("ready") for log in logs] == [1, 1]


USER = """
@pytest.fixture(scope="session")
def voice_user():
    return Bot("user")
"""
