from __future__ import annotations

import shlex
import socket
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from canned_project import SHOP

from pytest_voiceeval.plugin.bot_options import endpoint, environment, too_few_urls, url_of

HOST = socket.gethostname()


@pytest.mark.parametrize(
    ("text", "place", "url"),
    [
        ("ws://a:1,ws://b:2", 1, "ws://b:2"),
        ("ws://127.0.0.1:876{worker}", 0, "ws://127.0.0.1:8760"),
        ("ws://127.0.0.1:{8765+worker}/ws", 11, "ws://127.0.0.1:8776/ws"),
        ("wss://bot-{worker}.example", 3, "wss://bot-3.example"),
        ("ws://{host}:8765", 2, f"ws://{HOST}:8765"),
        ("ws://{host}:{8765+worker}", 2, f"ws://{HOST}:8767"),
        ("ws://a:{1+worker},ws://b:{1+worker}", 1, "ws://b:2"),
    ],
)
def test_a_worker_has_an_url_of_its_own(text: str, place: int, url: str) -> None:
    assert endpoint(text) == text
    assert url_of(text, place) == url


def test_a_list_that_is_too_short_has_no_url_for_the_next() -> None:
    with pytest.raises(LookupError, match="no URL for place 2, only 2"):
        url_of("ws://a,ws://b", 2)


@pytest.mark.parametrize(
    ("text", "hosts", "told"),
    [
        ("ws://a,ws://b", ["", ""], ""),
        ("ws://a,ws://b,ws://c", ["", ""], ""),
        ("ws://a:{1+worker}", [""] * 8, ""),
        ("ws://a:{65535+worker}", [""], ""),
        (
            "ws://a:{65535+worker}",
            ["", ""],
            "for call 2 of 2 that are held at once it stands for what is none: '",
        ),
        ("ws://{host}:1", ["one", "two"], ""),
        ("ws://{host}:1", ["one", "two", "two"], "1 URL for 2 workers on one machine; put {worker} into it"),
        ("ws://a", ["", ""], "there is 1 URL, and 2 workers hold calls at once; give 2 with commas"),
        ("ws://a,ws://b", [""] * 4, "there are 2 URLs, and 4 workers hold calls at once; give 4 with commas"),
    ],
)
def test_too_few_urls_are_counted(text: str, hosts: list[str], told: str) -> None:
    found = too_few_urls(text, hosts)
    assert found.startswith(told)
    assert bool(found) is bool(told)


def test_an_environment_is_lines_of_names_and_values() -> None:
    assert environment("") == {}
    assert environment("A=1\n\n  B=x=y, z \nA=2") == {"A": "2", "B": "x=y, z"}


@pytest.mark.parametrize(
    ("option", "remedy"),
    [
        ("--voice-agent=ws://a:{wroker}", "{wroker} stands for nothing; write ws://host:port, or several"),
        ("--voice-agent=ws://a:{worker}{worker}x", "'ws://a:00x' is no WebSocket URL; write ws://host:port"),
        (
            "--voice-agent-cwd=nowhere",
            "there is no folder */nowhere; name the one that the command is to run",
        ),
        ("--voice-user-cwd=", "write a folder, or leave it out"),
        ("--voice-agent-path=ws", "write the path at which the bot takes calls, such as /ws"),
    ],
)
def test_what_options_say_of_bots_is_checked(project: pytest.Pytester, option: str, remedy: str) -> None:
    result = project.runpytest("--voice-scenarios=shop__good", option)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([f"ERROR: {option}: {remedy}*"])


@pytest.mark.parametrize("option", ["--voice-agent-env=A=1", "--voice-user-cwd=.", "--voice-agent-path=/ws"])
def test_a_flag_for_commands_is_refused_with_other_bots(project: pytest.Pytester, option: str) -> None:
    result = project.runpytest("--voice-scenarios=shop__good", option)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    bot = "--voice-user" if "user" in option else "--voice-agent"
    told = f"it is for a bot that is a command, and {bot} is local; leave it out, or write {bot}='cmd:*"
    result.stderr.fnmatch_lines([f"ERROR: {option.partition('=')[0]}: {told}"])


@pytest.mark.parametrize(
    ("value", "told"),
    [
        ("sk-canary", "it has no '='; write NAME=VALUE"),
        ("=sk-canary", "it has no name of letters, digits and _ before the '='; write NAME=VALUE"),
        ("A B=sk-canary", "it has no name of letters, digits and _ before the '='; write NAME=VALUE"),
    ],
)
def test_a_malformed_variable_is_refused_without_showing_it(
    project: pytest.Pytester, value: str, told: str
) -> None:
    result = project.runpytest("--voice-scenarios=shop__good", f"--voice-agent-env={value}")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([f"ERROR: --voice-agent-env: {told}"])
    assert "canary" not in result.stderr.str()
    result = project.runpytest("--voice-agent-env=A=1", "--voice-agent-env", value, "--voice-scenarios=shop")
    result.stderr.fnmatch_lines([f"ERROR: --voice-agent-env: entry 2 of 2 {told.removeprefix('it ')}"])


def test_each_side_has_its_folder_and_its_variables(project: pytest.Pytester) -> None:
    (project.path / "agents").mkdir()
    project.makeini("[pytest]\nvoice_user_env =\n    USER_KEY=a,b\n    MODE=x\nvoice_user_cwd = agents\n")
    project.makepyfile(
        """
        def test_settings(voice_settings, pytestconfig):
            agent, user = voice_settings.agent_process, voice_settings.user_process
            assert agent.env == {"A": "1,2", "B": "3"} and agent.cwd is None
            assert (agent.path, user.path) == ("/ws", "")
            assert user.env == {"USER_KEY": "a,b", "MODE": "x"}
            assert user.cwd == pytestconfig.rootpath / "agents"
            assert "a,b" not in repr(voice_settings) and "1,2" not in repr(voice_settings)
        """
    )
    flags = (
        "--voice-agent=cmd:bot {port}",
        "--voice-agent-path=/ws",
        "--voice-agent-env=A=1,2",
        "--voice-agent-env",
        "B=3",
    )
    project.runpytest(*flags).assert_outcomes(passed=2)
    project.runpytest(*flags, "-n1").assert_outcomes(passed=2)


BOT = "import os, sys; print('I was told', os.environ['TOKEN'], os.environ['OUR_API_KEY']); sys.exit(4)"


def test_a_secret_of_a_command_stands_in_no_file_and_no_message(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The bot prints it: then it is in the bot's own log, and nowhere else."""
    monkeypatch.setenv("OUR_API_KEY", "canary-in-a-pit")
    (pytester.path / "scenarios").mkdir()
    (pytester.path / "scenarios" / "shop.py").write_text(SHOP, encoding="utf-8")
    pytester.makeini("[pytest]\nasyncio_default_fixture_loop_scope = function\n")
    program = f"cmd:env A_TOKEN=canary-in-a-well {shlex.quote(sys.executable)}"
    command = f"{program} -c {shlex.quote(BOT)} {{port}} --api-key canary-in-a-tower"
    result = pytester.runpytest_subprocess(
        *("--voice-scenarios=shop__good", "--voice-user=ws://127.0.0.1:1", f"--voice-agent={command}"),
        *("--voice-agent-env=TOKEN=canary-in-a-mine", "--voice-agent-env", "OTHER=canary-in-a-cage"),
        *("-o", "voice_user_env=PLACE=canary-in-a-shaft"),
        *("--junitxml=junit.xml", "-v"),
    )
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(
        [
            "*agent bot cmd:*: ended before it was ready, exit code 4; expected it to stay in the *",
            "*I was told <redacted> <redacted>*",
        ]
    )
    assert "canary" not in result.stdout.str() + result.stderr.str()
    files = [path for path in pytester.path.rglob("*") if path.is_file()]
    telling = [path for path in files if "canary" in path.read_text(encoding="utf-8", errors="replace")]
    assert [path.name for path in telling] == ["bot_agent_0.log"]
    (run,) = (path for path in files if path.name == "run_args.json")
    assert "TOKEN=<redacted>" in run.read_text(encoding="utf-8")
    log = Path(run.parent / "bot_agent_0.log").read_text(encoding="utf-8")
    assert log == "I was told canary-in-a-mine canary-in-a-pit\n"


WAITS = """
import asyncio
from pathlib import Path

def test_a_bot_is_up(voice_agent):
    async def wait():
        async with voice_agent.open(None) as url:
            await voice_agent.connect(url, 5)
            Path("up").touch()
            await asyncio.sleep(600)
    asyncio.run(wait())
"""
ECHO = """
import asyncio, os, sys
from websockets.asyncio.server import serve
async def main():
    async with serve(lambda socket: socket.wait_closed(), "127.0.0.1", int(sys.argv[1])):
        print(os.getpid(), flush=True)
        await asyncio.Event().wait()
asyncio.run(main())
"""


def until(happens: Callable[[], bool], seconds: float = 30) -> None:
    """Return once something happens; fails if it does not."""
    deadline = time.monotonic() + seconds
    while not happens():
        assert time.monotonic() < deadline, "it did not happen"
        time.sleep(0.02)


@pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
def test_a_bot_of_a_worker_ends_with_the_controller_that_is_killed(pytester: pytest.Pytester) -> None:
    """The worker itself goes on for seconds."""
    pytester.makepyfile(test_up=WAITS, bot=ECHO)
    pytester.makeini("[pytest]\n")
    command = f"cmd:{shlex.quote(sys.executable)} bot.py {{port}}"
    with pytester.popen([sys.executable, "-mpytest", "-n1", f"--voice-agent={command}"]) as process:
        try:
            until((pytester.path / "up").exists)
        finally:
            process.kill()
    (log,) = pytester.path.glob("eval_results/*/bot_agent_0.log")
    pid = int(log.read_text(encoding="utf-8"))
    until(lambda: not Path(f"/proc/{pid}").exists())


@pytest.mark.parametrize("command", ["cmd:bot --api-key canary", "cmd:bot 'A --token=canary {port}"])
def test_a_command_that_cannot_be_shows_no_secret_of_it(command: str, pytester: pytest.Pytester) -> None:
    (pytester.path / "scenarios").mkdir()
    (pytester.path / "scenarios" / "shop.py").write_text(SHOP, encoding="utf-8")
    result = pytester.runpytest("--voice-scenarios=shop__good", f"--voice-agent={command}")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*<redacted>*"])
    assert "canary" not in result.stdout.str() + result.stderr.str()
