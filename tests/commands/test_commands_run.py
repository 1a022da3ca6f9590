"""Scenarios held by ``run``, between scripted bots on sockets, and what ``resume`` tells of a run."""

from __future__ import annotations

import argparse
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
from pytest_voiceeval.commands.judge_arguments import add_judge_arguments, judge_settings
from pytest_voiceeval.model.turns import Side
from pytest_voiceeval.testing import BotConnection, FakeBot, ServerSide, Utterance, exit_message
from pytest_voiceeval.wire.limits import MAX_MESSAGE_BYTES

PACK = """
from pytest_voiceeval import Actions, Persona, Resources, Scenario, SuccessSignal, Task
from pytest_voiceeval import register_eval_scenario


class Kiosk(Scenario):
    success_signals = (SuccessSignal.CLEAN_EXIT,)
    max_duration = 20.0
    user_persona = agent_persona = Persona(role="person")
    user_task = agent_task = Task(goal="tea")
    user_actions = agent_actions = Actions()
    user_resources = agent_resources = Resources()


for _name in ("kiosk__tea", "kiosk__coffee", "stand__juice"):
    register_eval_scenario(type(_name, (Kiosk,), {"name": _name}))
for _name, _split in (("bench__one", "base"), ("bench__two", "test")):
    register_eval_scenario(type(_name, (Kiosk,), {"name": _name, "splits": frozenset({_split})}))
"""

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


@pytest.fixture(scope="module")
def pack(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A pack that lies in one place, for scenarios are registered once."""
    folder = tmp_path_factory.mktemp("kiosk")
    (folder / "scenarios").mkdir()
    (folder / "scenarios" / "kiosk.py").write_text(PACK)
    return folder


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


Run = Callable[..., int]


@pytest.fixture
def run(place: Path, pack: Path) -> Run:
    fast = ("--pack", str(pack), "--pause", "0", "--auto-retry-backoff-secs", "0")
    return lambda *arguments: main(["run", *fast, *arguments])


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


def test_scenarios_and_domains_are_listed(place: Path, run: Run, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("--list", "--scenarios", "kiosk", "stand__*") == 0
    assert capsys.readouterr().out.split() == ["kiosk__tea", "kiosk__coffee", "stand__juice"]
    assert run("--list-domains", "--scenarios", "kiosk", "stand") == 0
    assert capsys.readouterr().out.split() == ["kiosk", "stand"]
    assert not (place / "eval_results").exists()


@pytest.mark.parametrize("chosen", [("--domain", "bench"), ("--scenarios", "bench"), ()])
def test_a_domain_stands_for_the_tasks_of_a_split(
    run: Run, capsys: pytest.CaptureFixture[str], chosen: tuple[str, ...]
) -> None:
    for split, expected in (((), "bench__one"), (("--split", "test"), "bench__two")):
        assert run("--list", *chosen, *split) == 0
        listed = capsys.readouterr().out.split()
        assert [name for name in listed if name.startswith("bench__")] == [expected]


def test_a_run_of_scenarios_that_are_gone_is_not_gone_on_with_by_all(
    place: Path, run: Run, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = place / "eval_results" / "eval_20260102_030405"
    folder.mkdir(parents=True)
    start = {"resolved_scenario_names": ["kiosk__closed"]}
    (folder / "run_args.json").write_text(json.dumps({"invocations": [start]}))
    assert run("--resume", folder.name) == 1
    assert capsys.readouterr().err == (
        "error: --resume eval_20260102_030405: its run_args.json names no scenario that there is; say which "
        "to hold with --scenarios\n"
    )
    assert [path.name for path in folder.iterdir()] == ["run_args.json"]


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (
            ["--scenarios", "kiosk__te"],
            "error: no scenario or domain 'kiosk__te'; did you mean 'kiosk__tea'",
        ),
        (["--domain", "bench", "--split", "tset"], "error: bench has no split 'tset'; it has: base, test"),
        (["--domain", "kiosk", "--split", "test"], "error: no split 'test': kiosk has no splits; leave it "),
        (["--domain", "kiosk", "--output-dir", "afile"], "error: --output-dir afile: no folder can be made "),
        (["--domain", "kios"], "error: no scenario or domain 'kios'; did you mean 'kiosk'"),
        (["--resume", "20200101_000000"], "error: --resume 20200101_000000: no such run; there is none in"),
        (["--domain", "kiosk", "--agent", "lokal"], "error: no profile 'lokal'"),
        (["--domain", "kiosk", "--agent", "ws://"], "error: 'ws://' is no WebSocket URL"),
        (
            ["--domain", "kiosk", "--agent", "ws://127.0.0.1:9", "--clock", "charged"],
            "error: the clock 'charged' cannot be had with the agent ws://127.0.0.1:9",
        ),
        (
            ["--domain", "kiosk", "--judge-url", "http://127.0.0.1:9/v1"],
            "error: --judge-url http://127.0.0.1:9/v1: name its model too, with --judge-model",
        ),
        (["--domain", "kiosk", "--judge-model", "m"], "error: --judge-model m: say where it is too"),
        (
            ["--domain", "kiosk", "--judge-url", "ftp://x", "--judge-model", "m"],
            "error: write an http:// or https:// URL",
        ),
    ],
)
def test_what_cannot_be_done_is_one_line_and_leaves_nothing(
    place: Path, run: Run, capsys: pytest.CaptureFixture[str], arguments: list[str], complaint: str
) -> None:
    (place / "afile").touch()
    assert run(*arguments) == 1
    err = capsys.readouterr().err
    assert complaint in err
    assert len(err.splitlines()) == 1
    assert not list((place / "eval_results").glob("*"))


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["--judge-threshold", "2"], "'2' is not from 0 to 1"),
        (["--judge-top-p", "nan"], "'nan' is no number"),
        (["--judge-seed", "few"], "'few' is no whole number; write one, such as 42, or none"),
        (["--judge-timeout", "0"], "'0' is no time"),
        (["--judge-max-tokens", "0"], "'0' is too small"),
        (["--judge-api-key", "X"], "unrecognized arguments: --judge-api-key X"),
        (["--min-agent-turns", "few"], "'few' is no whole number"),
        (["--duration", "-1"], "'-1' is no time"),
    ],
)
def test_a_wrong_number_is_wrong_usage(
    place: Path, run: Run, capsys: pytest.CaptureFixture[str], arguments: list[str], complaint: str
) -> None:
    with pytest.raises(SystemExit) as caught:
        run(*arguments)
    assert caught.value.code == 2
    assert complaint in capsys.readouterr().err


def test_fields_of_the_judges_request_can_be_left_out() -> None:
    parser = argparse.ArgumentParser()
    add_judge_arguments(parser)
    names = ("temperature", "top_p", "seed", "max_tokens", "thinking_token_budget")
    words = [word for name in names for word in (f"--judge-{name.replace('_', '-')}", "none")]
    address = ["--judge-url", "http://127.0.0.1:9/v1", "--judge-model", "m"]
    settings = judge_settings(parser.parse_args([*address, *words]))
    assert settings is not None
    assert [getattr(settings, name) for name in names] == [None] * 5
    negative = judge_settings(parser.parse_args([*address, "--judge-seed", "-7"]))
    assert negative is not None
    assert negative.seed == -7


def test_a_run_that_is_none_cannot_be_looked_at(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["resume", "nowhere"]) == 1
    assert capsys.readouterr().err.startswith("error: nowhere: no such run; there is none in eval_results")
