"""Commands that play a bot well or badly, and what a test asks of their processes."""

from __future__ import annotations

import asyncio
import shlex
import sys
from pathlib import Path
from typing import Any

from pytest_voiceeval.bots.launch import CommandBot
from pytest_voiceeval.wire.connection import Connection

SCENARIO: Any = None

BOT = """
import asyncio, os, signal, socket, subprocess, sys, time
from pathlib import Path

mode, port = sys.argv[1], int(sys.argv[2])
SLEEPER = [sys.executable, "-c", "import time; print('sleeper'); time.sleep(600)"]

def note_pids(*pids):
    with open("pids", "a") as file:
        file.write("".join(f"{pid}\\n" for pid in pids))

async def serve_echo(**place):
    from websockets.asyncio.server import serve
    async def echo(client):
        async for message in client:
            if message == b"where":
                await client.send(client.request.path)
                continue
            if message == b"die":
                print("I have to go now.", flush=True)
                os._exit(9)
            await client.send(str(os.getpid()))
        if mode == "once":
            os._exit(0)
    async with serve(echo, **place):
        await asyncio.Event().wait()

def run(**place):
    asyncio.run(serve_echo(**(place or {"host": "127.0.0.1", "port": port})))

note_pids(os.getpid())
if mode == "echo":
    note_pids(subprocess.Popen(SLEEPER).pid)
    run()
elif mode == "deaf":  # to requests to end
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    print("deaf", flush=True)
    run()
elif mode == "heir":  # leaves a grandchild that holds port and output
    listening = socket.create_server(("127.0.0.1", port))
    note_pids(subprocess.Popen(SLEEPER, pass_fds=[listening.fileno()]).pid)
    print("I leave it to my heir.", flush=True)
    sys.exit(3)
elif mode == "daemon":
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            note_pids(os.getpid())
            time.sleep(600)
    else:
        while len(Path("pids").read_text().split()) < 2:
            time.sleep(0.02)
    os._exit(0)
elif mode == "chatty":
    block = b"\\xff\\x00\\x1b[2J chatter \\xe2\\x82" * 4096
    written = 0
    while written < int(os.environ["BYTES"]):
        written += os.write(1, block)
    print("\\nsecret is", os.environ["TOKEN"])
    print("\\x1b[31mlast \\x07words\\x1b[0m " + "x" * 5000, flush=True)
    sys.exit(1)
elif mode == "closed":
    os.close(0)
    run()
elif mode in ("robbed", "robbed-alive") and not Path("enough").exists():
    with open("asked", "a") as file:
        file.write(f"{port}\\n")
    while f"{port}\\n" not in (Path("taken").read_text() if Path("taken").exists() else ""):
        time.sleep(0.02)
    if mode == "robbed":
        socket.create_server(("127.0.0.1", port))
    time.sleep(600)
else:
    run()
"""


def bot_command(folder: Path, mode: str) -> str:
    """Return a command that plays a bot in ``folder``, in the way that ``mode`` names."""
    script = folder / "bot.py"
    script.write_text(BOT, encoding="utf-8")
    return f"{shlex.quote(sys.executable)} {shlex.quote(str(script))} {mode} {{port}}"


def bot_of(folder: Path, mode: str, **changes: Any) -> CommandBot:
    """Return a bot of that kind, which runs in ``folder``."""
    return CommandBot("agent", bot_command(folder, mode), folder / "bot.log", cwd=folder, **changes)


async def ask(connection: Connection, text: str = "who") -> str:
    """Return the answer to ``text``; the reason if the connection breaks."""
    answer: asyncio.Future[str] = asyncio.get_running_loop().create_future()
    connection.listen(
        lambda message: answer.done() or answer.set_result(str(message)),
        lambda reason: answer.done() or answer.set_result(reason),
    )
    connection.send(text.encode())
    async with asyncio.timeout(10):
        return await answer


async def call(bot: CommandBot, text: str = "who") -> str:
    """Hold a call of one question; returns the answer, raises if the connection breaks."""
    async with bot.open(SCENARIO) as url:
        connection = await bot.connect(url, 5)
        try:
            answer = await ask(connection, text)
            if not answer.isdigit() and text != "where":
                raise RuntimeError(answer)
            return answer
        finally:
            await connection.close()


def pids(folder: Path) -> list[int]:
    """Return all processes that bots in ``folder`` have noted."""
    return [int(line) for line in (folder / "pids").read_text(encoding="utf-8").split()]


def alive(pid: int) -> bool:
    """Return whether a process runs."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"


def parent(pid: int) -> int:
    """Return the process that another one descends from."""
    return int(Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[1])


async def gone(*wanted: int) -> bool:
    """Return whether these processes end within a while."""
    for _ in range(200):
        if not any(alive(pid) for pid in wanted):
            return True
        await asyncio.sleep(0.05)
    return False
