from __future__ import annotations

import asyncio
import os
import shlex
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from process_bots import SCENARIO, alive, bot_command, call, gone, parent, pids
from wire_client import WireClient

from pytest_voiceeval.bots.launch import CommandBot
from pytest_voiceeval.errors import BotProcessError, DefinitionError
from pytest_voiceeval.scenarios.packs import builtin_pack
from pytest_voiceeval.scenarios.registry import get_eval_scenario
from pytest_voiceeval.scenarios.rehearsal import Say
from pytest_voiceeval.world import roots


@pytest.mark.asyncio
async def test_a_command_is_started_once_and_ended_with_its_children(
    started: Callable[..., CommandBot], tmp_path: Path
) -> None:
    bot = started("echo")
    assert bot.label == f"cmd:{bot_command(tmp_path, 'echo')}"
    seen = {await call(bot) for _ in range(2)}
    pid, child = pids(tmp_path)
    assert seen == {str(pid)}
    assert alive(pid)
    assert alive(child)
    bot.close()
    bot.close()
    assert await gone(pid, child)


@pytest.mark.asyncio
async def test_a_command_takes_calls_at_its_path(started: Callable[..., CommandBot]) -> None:
    assert await call(started("plain", path="/ws?key=1"), "where") == "/ws?key=1"


@pytest.mark.asyncio
async def test_a_command_that_dies_in_a_call_says_why_and_is_started_again(
    started: Callable[..., CommandBot], tmp_path: Path
) -> None:
    bot = started("echo")
    for _ in range(2):  # however often: each time it was told
        with pytest.raises(
            BotProcessError, match=r"(?s)in the middle of a call, exit code 9; .*I have to go now\."
        ):
            await call(bot, "die")
        assert await call(bot)
        assert bot.restarted == ""


@pytest.mark.asyncio
async def test_a_command_that_is_killed_in_a_call_says_by_what(
    started: Callable[..., CommandBot], tmp_path: Path
) -> None:
    bot = started("plain")

    async def broken_call() -> None:
        async with bot.open(SCENARIO) as url:
            await (await bot.connect(url, 5)).close()
            os.kill(pids(tmp_path)[0], signal.SIGKILL)
            raise RuntimeError("the connection broke")

    with pytest.raises(BotProcessError, match=r"in the middle of a call, killed by SIGKILL; expected"):
        await broken_call()


@pytest.mark.asyncio
async def test_a_crash_between_two_calls_is_mended_once(
    started: Callable[..., CommandBot], tmp_path: Path
) -> None:
    bot = started("plain")
    await call(bot)
    await crash(tmp_path)
    await call(bot)
    assert (
        bot.restarted == "its process ended between two scenarios (killed by SIGKILL) and was started again"
    )
    await call(bot)
    assert bot.restarted == ""
    await crash(tmp_path)
    for _ in range(2):
        with pytest.raises(
            BotProcessError,
            match=r"between two scenarios for the second time in this run, killed by SIGKILL; it",
        ):
            await call(bot)


async def crash(folder: Path) -> None:
    pid = pids(folder)[-1]
    tether = parent(pid)
    os.kill(pid, signal.SIGKILL)
    assert await gone(pid, tether)


@pytest.mark.asyncio
async def test_a_bot_for_one_call_is_started_for_each(
    started: Callable[..., CommandBot], tmp_path: Path
) -> None:
    """It serves nobody but its first client: no connection was wasted on finding out whether it listens."""
    bot = started("once")
    for number in range(1, 4):
        await call(bot)
        assert len(pids(tmp_path)) == number
        assert bot.restarted == ""


@pytest.mark.asyncio
@pytest.mark.parametrize(
    ("command", "cwd", "message"),
    [
        (
            "{python} -c 'import sys; print(\"no luck\"); sys.exit(3)' {port}",
            "",
            r"ended before it was ready, exit code 3; .*no luck",
        ),
        (
            "true {port}",
            "",
            r"ended before it was ready, exit code 0; expected it to stay in the foreground.*",
        ),
        ("no-such-program {port}", "", r"there is no program 'no-such-program' on the PATH; install it"),
        ("./no-such-program {port}", "", r"there is no program .*no-such-program; correct the path"),
        ("./readme {port}", "", r"readme is no program that may be run; see its permissions"),
        ("./empty {port}", "", r"ended before it was ready, exit code 127; .*Exec format error"),
        ("true {port}", "gone", r"there is no folder .*gone to run it in; name one that is there"),
        (
            "{python} -c 'import time; time.sleep(60)' {port}",
            "",
            r"not ready 0\.5 s after its start \(--voice-start-timeout\): no WebSocket could be opened at "
            r"ws://localhost:\d+.*does the command listen on the port",
        ),
    ],
)
async def test_a_command_that_does_not_serve_is_told(
    command: str, cwd: str, message: str, tmp_path: Path
) -> None:
    (tmp_path / "readme").write_text("read me", encoding="utf-8")
    (tmp_path / "empty").write_text("", encoding="utf-8")
    (tmp_path / "empty").chmod(0o755)
    command = command.replace("{python}", shlex.quote(sys.executable))
    seconds = 0.5 if "sleep" in command else 20
    bot = CommandBot("agent", command, tmp_path / "bot.log", start_seconds=seconds, cwd=tmp_path / cwd)
    try:
        with pytest.raises(BotProcessError, match=f"(?s)^agent bot cmd:.*{message}"):
            await call(bot)
    finally:
        bot.close()


@pytest.mark.parametrize(
    ("command", "message"),
    [("python bot.py", "write {port} where"), ("python 'bot {port}", "quotation"), ("", "write a command")],
)
def test_a_command_that_cannot_be_is_told(command: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(DefinitionError, match=message):
        CommandBot("agent", command, tmp_path / "bot.log")


OWNER = """
import asyncio, sys
sys.path.insert(0, sys.argv[1])
from pathlib import Path
from process_bots import SCENARIO, bot_of
async def main():
    bot = bot_of(Path(sys.argv[2]), "echo")
    async with bot.open(SCENARIO) as url:
        await bot.connect(url, 5)
        print("open", flush=True)
        await asyncio.sleep(600)
asyncio.run(main())
"""


@pytest.fixture
def owner(tmp_path: Path) -> Iterator[subprocess.Popen[str]]:
    process = subprocess.Popen(
        [sys.executable, "-c", OWNER, str(Path(__file__).parent), str(tmp_path)],
        stdout=subprocess.PIPE,
        text=True,
    )
    with process:
        yield process
        process.kill()


@pytest.mark.asyncio
async def test_a_command_dies_with_us_also_when_we_are_killed(
    owner: subprocess.Popen[str], tmp_path: Path
) -> None:
    assert owner.stdout is not None
    assert (await asyncio.to_thread(owner.stdout.readline)).strip() == "open"
    assert len(pids(tmp_path)) == 2
    os.kill(owner.pid, signal.SIGKILL)
    assert await gone(*pids(tmp_path))


@pytest.mark.asyncio
async def test_a_served_bot_knows_the_built_in_scenarios_and_the_packs_of_the_project(
    tmp_path: Path,
) -> None:
    builtin_pack().load()
    scenario = get_eval_scenario("restaurant__pizza_pepperoni")
    assert scenario is not None
    assert scenario.rehearsal is not None
    log = tmp_path / "bot.log"
    command = f"{shlex.quote(sys.executable)} -m pytest_voiceeval bot --port {{port}}"
    coffee = Path(__file__).parent.parent.parent / "examples" / "coffee"
    bot = CommandBot("agent", command, log, packs=[coffee])
    try:
        async with bot.open(scenario) as url:
            await (await bot.connect(url, 5)).close()
            async with WireClient.connected(url) as client:
                of_project = {"tools": '{"CancelOrderTool": {}}', "tool_domain": "coffee"}
                assert await client.ask("update_system_prompt", prompt="Sell coffee.", **of_project)
                assert await client.ask(
                    "update_system_prompt", prompt=scenario.prompt("agent"), tools=scenario.tools("agent")
                )
                await client.kick_off()
                said = (await client.wait_for("bot-tts-text"))["data"]["text"]
    finally:
        bot.close()
    greeting = scenario.rehearsal.agent[0]
    assert isinstance(greeting, Say)
    assert greeting.text.startswith(said)
    assert "Traceback" not in log.read_text(encoding="utf-8")


def printed(bot: CommandBot, log: Path) -> str:
    """Return what a bot prints that ends at once."""
    try:
        with pytest.raises(BotProcessError, match="ended before it was ready, exit code 0"):
            asyncio.run(call(bot))
    finally:
        bot.close()
    return log.read_text(encoding="utf-8")


def printing(expression: str) -> str:
    code = f"import os, sys; print({expression})"
    return f"{shlex.quote(sys.executable)} -c {shlex.quote(code)} {{port}}"


def test_a_command_has_its_side_its_folder_and_its_variables(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KEPT", "kept")
    monkeypatch.setenv("CHANGED", "as it was")
    (tmp_path / "there").mkdir()
    names = ("VOICEEVAL_SIDE", "KEPT", "CHANGED", "GIVEN")
    command = printing(f"os.getcwd(), *(os.environ[name] for name in {names!r}), sep=chr(10)")
    log = tmp_path / "logs" / "bot.log"
    given = {"CHANGED": "as given", "GIVEN": "x=1,2", "VOICEEVAL_SIDE": "nobody"}
    bot = CommandBot("user", command, log, start_seconds=20, cwd=tmp_path / "there", env=given)
    assert "x=1,2" not in repr(vars(bot))
    assert printed(bot, log).splitlines() == [
        str(tmp_path / "there"),
        "user",
        "kept",
        "as given",
        "x=1,2",
    ]


def test_a_command_searches_data_where_we_do(tmp_path: Path) -> None:
    (tmp_path / "given").mkdir()
    kept = roots.kept_roots()
    roots.use_data_root(tmp_path / "given")
    here = roots.data_roots()
    script = "*__import__('pytest_voiceeval.world.roots').world.roots.data_roots(), sep=chr(10)"
    log = tmp_path / "bot.log"
    try:
        lines = printed(CommandBot("agent", printing(script), log), log).splitlines()
    finally:
        roots.restore_roots(kept)
    assert lines == list(map(str, here))
    assert here[0] == (tmp_path / "given").resolve()
