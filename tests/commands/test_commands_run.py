"""Scenarios held by ``run``, between scripted bots on sockets, and what ``resume`` tells of a run."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest
from websockets.asyncio.server import ServerConnection, serve

from pytest_voiceeval.__main__ import main
from pytest_voiceeval.model.turns import Side
from pytest_voiceeval.testing import BotConnection, FakeBot, ServerSide, Utterance, exit_message
from pytest_voiceeval.wire.limits import MAX_MESSAGE_BYTES

Run = Callable[..., int]


TALK = [Utterance("Welcome.", 0.2, 300), Utterance("Bye.", 0.2, 350, late_sends=(exit_message(),))]


class Terminating(FakeBot):
    """Has this process asked to end when it begins to speak."""

    async def _say(self, connection: BotConnection, line: Utterance) -> None:
        os.kill(os.getpid(), signal.SIGTERM)
        await super()._say(connection, line)


@contextmanager
def listening(side: Side, lines: Sequence[Utterance], *, kind: type[FakeBot] = FakeBot) -> Iterator[str]:
    """Yield the URL of a bot that begins its lines anew in each call."""
    ready = threading.Event()
    found: list[str] = []
    stop: list[tuple[asyncio.AbstractEventLoop, asyncio.Event]] = []

    async def session(socket: ServerConnection) -> None:
        await kind(side, lines, answer_after=0.1).play(ServerSide(socket))

    async def main_loop() -> None:
        done = asyncio.Event()
        async with serve(session, "127.0.0.1", 0, max_size=MAX_MESSAGE_BYTES, compression=None) as server:
            found.append(f"ws://127.0.0.1:{next(iter(server.sockets)).getsockname()[1]}")
            stop.append((asyncio.get_running_loop(), done))
            ready.set()
            await done.wait()

    thread = threading.Thread(target=asyncio.run, args=(main_loop(),))
    thread.start()
    assert ready.wait(10)
    try:
        yield found[0]
    finally:
        loop, done = stop[0]
        loop.call_soon_threadsafe(done.set)
        thread.join(10)


def only_run(place: Path) -> Path:
    (folder,) = (place / "eval_results").iterdir()
    return folder


def test_scenarios_are_held_and_the_run_is_gone_on_with(
    place: Path, run: Run, capsys: pytest.CaptureFixture[str]
) -> None:
    with listening("agent", TALK) as agent, listening("user", [Utterance("Tea.", 0.2, 500)]) as user:
        bots = ("--agent", agent, "--user-url", user)
        assert run(*bots, "--domain", "kiosk", "--min-agent-turns", "2") == 0
        folder = only_run(place)
        lines = capsys.readouterr().out.splitlines()
        assert lines[:2] == [
            "Starting Scenario 1/2: kiosk__tea",
            "Finished Scenario: kiosk__tea: passed",
        ]
        assert lines[-2:] == [
            "2 passed, 0 failed, 0 skipped, 0 error",
            f"run folder: eval_results/{folder.name}",
        ]
        assert "Overall Success Rate: 100.00% (2/2 scenarios" in (folder / "all_summary.txt").read_text()

        (folder / "kiosk__tea" / "metrics.json").unlink()
        assert main(["resume", folder.name.removeprefix("eval_")]) == 0
        assert capsys.readouterr().out.splitlines() == [
            f"directory: {folder}",
            "minimum agent turns: 2",
            "completed: 1, rerun: 1, fresh: 0",
            "rerun:",
            "  kiosk__tea: no metrics.json (in-flight)",
        ]
        assert run(*bots, "--resume", folder.name, "--min-agent-turns", "2") == 0
        out = capsys.readouterr().out
        assert "Finished Scenario: kiosk__coffee: passed (from before)\n" in out
        assert "Finished Scenario: kiosk__tea: passed\n" in out
        assert only_run(place) == folder
        assert main(["resume", str(folder)]) == 0
        assert capsys.readouterr().out.endswith("rerun: 0, fresh: 0\nall scenarios are complete\n")

        assert run(*bots, "--resume", folder.name, "--scenarios", "stand__juice") == 0
        out = capsys.readouterr().out
        assert "Finished Scenario: stand__juice: failed\n" in out  # two answers, three are asked for
        records = json.loads((folder / "all_metrics.json").read_text())
        assert [record["is_successful"] for record in records] == [False, False, False]


def test_sigterm_ends_it_as_ctrl_c_does(place: Path, run: Run, capsys: pytest.CaptureFixture[str]) -> None:
    lines = [Utterance("Welcome.", 30, 300)]
    with (
        listening("agent", lines, kind=Terminating) as agent,
        listening("user", [Utterance("Tea.", 0.2, 500)]) as user,
    ):
        assert run("--agent", agent, "--user", user, "--domain", "kiosk") == 1
    folder = only_run(place)
    assert f"interrupted; go on with --resume eval_results/{folder.name}" in capsys.readouterr().err
    assert "1 broken off" in (folder / "all_summary.txt").read_text()
    assert (folder / "kiosk__tea" / "conversation_log.wav").exists()
    assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL


def test_what_was_begun_and_what_was_not_is_told(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = place / "eval_results" / "eval_20260102_030405"
    done = {"total_turns": 3, "stop_reason": "[EXIT]", "token_usage": {"agent": {"n_calls": 2}}}
    for name, metrics in (("kiosk__tea", done), ("kiosk__coffee", None)):
        (folder / name).mkdir(parents=True)
        if metrics:
            (folder / name / "metrics.json").write_text(json.dumps(metrics))
    start = {"resolved_scenario_names": ["kiosk__tea", "kiosk__coffee", "stand__juice"]}
    (folder / "run_args.json").write_text(json.dumps({"invocations": [start]}))
    assert main(["resume", "20260102_030405", "--min-agent-turns", "3"]) == 0
    assert capsys.readouterr().out.splitlines()[1:] == [
        "minimum agent turns: 3",
        "completed: 0, rerun: 2, fresh: 1",
        "rerun:",
        "  kiosk__coffee: no metrics.json (in-flight)",
        "  kiosk__tea: 2 agent LLM response(s) < 3 ([EXIT])",
        "fresh:",
        "  stand__juice",
    ]
    assert main(["resume", "20260102_030405"]) == 0
    assert "completed: 1, rerun: 1, fresh: 1" in capsys.readouterr().out
    assert not list(folder.glob("*.killed.*"))


def test_a_scenario_that_comes_to_an_error_is_told_by_the_exit_code(
    place: Path, run: Run, capsys: pytest.CaptureFixture[str]
) -> None:
    bots = ("--agent", "ws://127.0.0.1:9", "--user", "ws://127.0.0.1:9", "--connect-timeout", "0.1")
    assert run(*bots, "--scenarios", "kiosk__tea", "stand") == 1
    out = capsys.readouterr().out
    assert "0 passed, 0 failed, 0 skipped, 2 error\n" in out
    assert "ws://127.0.0.1:9" in out
    assert "or correct --voice-user (of `run`: --user)" in out
    assert (only_run(place) / "all_summary.txt").exists()


@pytest.mark.parametrize("password", ["canary", "can/canary", "c@canary"])
def test_the_password_of_a_bot_is_shown_nowhere(
    place: Path, run: Run, capsys: pytest.CaptureFixture[str], password: str
) -> None:
    bot = f"ws://u:{password}@127.0.0.1:9"
    assert run("--scenarios", "kiosk__tea", "--agent", bot, "--user", bot, "--connect-timeout", "0.1") == 1
    captured = capsys.readouterr()
    texts = [path.read_text() for path in place.rglob("*") if path.is_file()]
    assert not [text for text in [captured.out, captured.err, *texts] if "canary" in text]
    assert "ws://<redacted>@127.0.0.1:9" in captured.out + captured.err
