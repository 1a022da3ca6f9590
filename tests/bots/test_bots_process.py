from __future__ import annotations

import asyncio
import os
import shlex
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from websockets.asyncio.client import connect
from wire_client import WireClient

from pytest_voiceeval.bots.launch import CommandBot
from pytest_voiceeval.errors import BotProcessError, DefinitionError
from pytest_voiceeval.scenarios.packs import builtin_pack
from pytest_voiceeval.scenarios.registry import get_eval_scenario
from pytest_voiceeval.scenarios.rehearsal import Say
from pytest_voiceeval.world import roots

SCENARIO: Any = None

ECHO = """
import asyncio, sys, os, subprocess
from websockets.asyncio.server import serve
async def main():
    child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
    print("pid", os.getpid(), "child", child.pid, flush=True)
    async def echo(socket):
        async for message in socket:
            if message == "die":
                os._exit(9)
            await socket.send(str(os.getpid()))
    async with serve(echo, "127.0.0.1", int(sys.argv[1])):
        await asyncio.Event().wait()
asyncio.run(main())
"""


@pytest.fixture
def echo_command(tmp_path: Path) -> str:
    script = tmp_path / "echo.py"
    script.write_text(ECHO, encoding="utf-8")
    return f"{shlex.quote(sys.executable)} {shlex.quote(str(script))} {{port}}"


def alive(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"


async def gone(*pids: int) -> bool:
    for _ in range(100):
        if not any(alive(pid) for pid in pids):
            return True
        await asyncio.sleep(0.1)
    return False


def pids_in(log: Path) -> list[int]:
    words = log.read_text(encoding="utf-8").split()
    return [int(word) for word in words if word.isdigit()]


@pytest.mark.asyncio
async def test_a_command_is_started_once_and_ended_with_its_children(
    echo_command: str, tmp_path: Path
) -> None:
    log = tmp_path / "logs" / "bot.log"
    bot = CommandBot("agent", echo_command, log)
    assert bot.label == f"cmd:{echo_command}"
    seen = set()
    for _ in range(2):
        async with bot.open(SCENARIO) as url:
            seen.add(await ask_pid(url))
    assert len(seen) == 1
    pid, child = pids_in(log)
    assert seen == {pid}
    assert alive(pid)
    assert alive(child)
    bot.close()
    bot.close()
    assert await gone(pid, child)


async def ask_pid(url: str) -> int:
    async with connect(url) as socket:
        await socket.send("who")
        return int(await socket.recv())


@pytest.mark.asyncio
async def test_a_command_that_died_is_started_again(echo_command: str, tmp_path: Path) -> None:
    bot = CommandBot("agent", echo_command, tmp_path / "bot.log")

    async def call(message: str) -> str:
        async with bot.open(SCENARIO) as url, connect(url) as socket:
            await socket.send(message)
            return str(await socket.recv())

    try:
        with pytest.raises(BotProcessError, match=r"(?s)ended in the middle of a call, exit code 9.*pid \d+"):
            await call("die")
        assert int(await call("who")) > 0
    finally:
        bot.close()


@pytest.mark.asyncio
@pytest.mark.parametrize(
    ("command", "message"),
    [
        (
            "{python} -c 'import sys; print(\"no luck\"); sys.exit(3)' {port}",
            r"ended before it listened, exit code 3.*no luck",
        ),
        ("no-such-program {port}", r"exit code 127.*no-such-program: No such file"),
        (
            "{python} -c 'import time; time.sleep(60)' {port}",
            r"nothing listens at ws://localhost:\d+ after 0\.5 s",
        ),
    ],
)
async def test_a_command_that_does_not_serve_is_told(command: str, message: str, tmp_path: Path) -> None:
    command = command.replace("{python}", shlex.quote(sys.executable))
    bot = CommandBot("agent", command, tmp_path / "bot.log", start_seconds=0.5 if "sleep" in command else 20)
    try:
        with pytest.raises(BotProcessError, match=f"(?s){message}"):
            async with bot.open(SCENARIO):
                pass
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
from pathlib import Path
from pytest_voiceeval.bots.launch import CommandBot
async def main():
    async with CommandBot("agent", sys.argv[1], Path(sys.argv[2])).open(None):
        print("open", flush=True)
        await asyncio.sleep(600)
asyncio.run(main())
"""


@pytest.fixture
def owner(echo_command: str, tmp_path: Path) -> Iterator[subprocess.Popen[str]]:
    process = subprocess.Popen(
        [sys.executable, "-c", OWNER, echo_command, str(tmp_path / "bot.log")],
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
    pids = pids_in(tmp_path / "bot.log")
    assert len(pids) == 2
    os.kill(owner.pid, signal.SIGKILL)
    assert await gone(*pids)


SERVE = """
import asyncio, sys
from pytest_voiceeval.bots.profile import load_profile
from pytest_voiceeval.bots.serve import serve_bot
asyncio.run(serve_bot(load_profile("local"), "agent", int(sys.argv[1]), on_ready=print))
"""


@pytest.mark.asyncio
async def test_a_served_bot_is_a_command_that_knows_the_built_in_scenarios(tmp_path: Path) -> None:
    builtin_pack().load()
    scenario = get_eval_scenario("restaurant__pizza_pepperoni")
    assert scenario is not None
    assert scenario.rehearsal is not None
    log = tmp_path / "bot.log"
    bot = CommandBot("agent", f"{shlex.quote(sys.executable)} -c {shlex.quote(SERVE)} {{port}}", log)
    try:
        async with bot.open(scenario) as url, WireClient.connected(url) as client:
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


def test_a_command_is_told_its_side(tmp_path: Path) -> None:
    log = tmp_path / "bot.log"
    command = f"{sys.executable} -c 'import os; print(os.environ[\"VOICEEVAL_SIDE\"])' {{port}}"
    bot = CommandBot("user", command, log, start_seconds=5)

    async def start() -> None:
        async with bot.open(SCENARIO):
            pass

    with pytest.raises(BotProcessError, match="user bot cmd:"):
        asyncio.run(start())
    bot.close()
    assert log.read_text(encoding="utf-8").split() == ["user"]


def test_a_command_searches_data_where_we_do(tmp_path: Path) -> None:
    (tmp_path / "given").mkdir()
    log, script = tmp_path / "bot.log", tmp_path / "bot.py"
    script.write_text(
        "from pytest_voiceeval.world.roots import data_roots\nprint(*data_roots(), sep='\\n')\n"
    )
    kept = roots.kept_roots()
    roots.use_data_root(tmp_path / "given")
    here = roots.data_roots()
    bot = CommandBot("agent", f"{sys.executable} {script} {{port}}", log, start_seconds=30)

    async def start() -> None:
        async with bot.open(SCENARIO):
            pass

    try:
        with pytest.raises(BotProcessError, match="ended before it listened"):
            asyncio.run(start())
    finally:
        bot.close()
        roots.restore_roots(kept)
    assert log.read_text(encoding="utf-8").splitlines() == list(map(str, here))
    assert here[0] == (tmp_path / "given").resolve()
