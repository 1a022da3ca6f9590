"""What a command may do wrong: it is told as what it is, ends within its limit, and leaves nothing behind."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

import pytest
from process_bots import alive, call, gone, pids
from websockets.asyncio.server import ServerConnection, serve

from pytest_voiceeval.bots import tether
from pytest_voiceeval.bots.child import ending
from pytest_voiceeval.bots.last_words import LINE_CHARACTERS, last_words
from pytest_voiceeval.bots.launch import CommandBot
from pytest_voiceeval.bots.ports import Port, answers, listeners
from pytest_voiceeval.errors import BotProcessError

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")


async def obituary(bot: CommandBot) -> str:
    """Return the message about a bot that does not come up."""
    with pytest.raises(BotProcessError) as caught:
        await call(bot)
    return str(caught.value)


@pytest.mark.asyncio
async def test_a_grandchild_that_holds_port_and_output_is_ended(
    started: Callable[..., CommandBot], tmp_path: Path
) -> None:
    told = await obituary(started("heir"))
    assert "ended before it was ready, exit code 3; expected it to stay in the foreground" in told
    assert "I leave it to my heir." in told
    assert await gone(*pids(tmp_path))  # although the bot was not closed


@pytest.mark.asyncio
async def test_a_daemon_is_told_to_stay_and_is_ended(
    started: Callable[..., CommandBot], tmp_path: Path
) -> None:
    told = await obituary(started("daemon"))
    assert "ended before it was ready, exit code 0; expected it to stay in the foreground" in told
    assert await gone(*pids(tmp_path))


@pytest.mark.asyncio
async def test_of_much_output_only_the_end_is_told(
    started: Callable[..., CommandBot], tmp_path: Path
) -> None:
    megabytes = 100
    environment = {"BYTES": str(megabytes * 1024 * 1024), "TOKEN": "canary-in-a-mine"}
    told = await obituary(started("chatty", env=environment))
    log = tmp_path / "bot.log"
    assert 2 * tether.KEPT_BYTES < log.stat().st_size <= tether.MOST_BYTES
    with log.open("rb") as file:
        assert tether.printed_bytes(file.fileno()) > megabytes * 1024 * 1024
    log.unlink()
    assert len(told) < 16 * (LINE_CHARACTERS + 100)
    lines = told.splitlines()
    assert lines[-2] == "secret is <redacted>"
    assert lines[-1].startswith("last \N{REPLACEMENT CHARACTER}words x")
    assert all(character.isprintable() or character in "\n\t" for character in told)


@pytest.mark.asyncio
async def test_closing_standard_input_does_no_harm(started: Callable[..., CommandBot]) -> None:
    assert await call(started("closed"))


@pytest.mark.asyncio
async def test_one_that_is_deaf_to_requests_is_killed(
    started: Callable[..., CommandBot], tmp_path: Path
) -> None:
    bot = started("deaf")
    await call(bot)
    await asyncio.to_thread(bot.close)
    assert not any(alive(pid) for pid in pids(tmp_path))


class Thief:
    """Takes ports that commands have been given, before they do."""

    def __init__(self, folder: Path, most: int) -> None:
        self.folder = folder
        self.most = most
        self.taken: list[str] = []

    @asynccontextmanager
    async def at_work(self) -> AsyncIterator[None]:
        async with AsyncExitStack() as stack:
            task = asyncio.create_task(self._steal(stack))
            try:
                yield
            finally:
                task.cancel()
                await asyncio.wait([task])

    async def _steal(self, stack: AsyncExitStack) -> None:
        while True:
            for port in self._asked():
                if port not in self.taken:
                    await stack.enter_async_context(serve(self._answer, "127.0.0.1", int(port)))
                    self.taken.append(port)
                    if len(self.taken) == self.most:
                        (self.folder / "enough").touch()
                    (self.folder / "taken").write_text("".join(f"{p}\n" for p in self.taken))
            await asyncio.sleep(0.02)

    def _asked(self) -> list[str]:
        asked = self.folder / "asked"
        return asked.read_text().split() if asked.exists() else []

    async def _answer(self, connection: ServerConnection) -> None:
        async for _ in connection:
            await connection.send("0")


@pytest.mark.asyncio
@pytest.mark.parametrize("mode", ["robbed", "robbed-alive"])
async def test_a_port_that_others_take_first_is_given_up_for_another(
    started: Callable[..., CommandBot], tmp_path: Path, mode: str
) -> None:
    """Whether the command ends for it, or goes on while others answer in its place."""
    thief = Thief(tmp_path, most=1)
    async with thief.at_work():
        answer = await call(started(mode))
    assert answer == str(pids(tmp_path)[-1])
    assert len(thief.taken) == 1


@pytest.mark.asyncio
async def test_where_ports_are_always_taken_it_is_told(
    started: Callable[..., CommandBot], tmp_path: Path
) -> None:
    thief = Thief(tmp_path, most=99)
    async with thief.at_work():
        told = await obituary(started("robbed"))
    assert len(thief.taken) == 3
    assert "ended before it was ready, exit code 1" in told
    assert "Address already in use" in told


@pytest.mark.asyncio
async def test_others_who_listen_for_a_command_again_are_its_own(
    started: Callable[..., CommandBot], tmp_path: Path
) -> None:
    """As a container's runtime does."""
    thief = Thief(tmp_path, most=99)
    async with thief.at_work():
        bot = started("robbed-alive")
        assert await call(bot) == "0"
        assert await call(bot) == "0"
    assert len(thief.taken) == 2


@pytest.mark.asyncio
async def test_ports_are_kept_apart_and_held_until_they_are_released() -> None:
    ports = [Port() for _ in range(20)]
    try:
        assert len({port.number for port in ports}) == 20
        with pytest.raises(OSError, match=r"(?i)address already in use"):
            await asyncio.start_server(lambda *_: None, "127.0.0.1", ports[0].number)
        ports[0].release()
        async with await asyncio.start_server(lambda *_: None, "127.0.0.1", ports[0].number):
            assert answers(ports[0].number)
            assert listeners(ports[0].number) == {os.getpid()}
        assert not answers(ports[0].number)
        assert listeners(ports[0].number) == set()
    finally:
        for port in ports:
            port.close()
            port.close()


def test_the_tether_looks_after_a_second_owner() -> None:
    """A worker of pytest-xdist outlives its controller for seconds; its bots do not."""
    sleep = [sys.executable, "-c", "import time; print('up', flush=True); time.sleep(600)"]
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as owner:
        command = [sys.executable, "-I", "-S", tether.__file__, str(owner.pid), *sleep]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
            assert process.stdout is not None
            assert process.stdout.readline() == b"up\n"
            owner.kill()
            assert process.wait(10) == -signal.SIGTERM


def test_an_end_is_put_into_words() -> None:
    assert ending(0) == "exit code 0"
    assert ending(-9) == "killed by SIGKILL"
    assert ending(-40) == "killed by signal 40"


def test_last_words_are_those_since_the_start(tmp_path: Path) -> None:
    log = tmp_path / "bot.log"
    log.write_bytes(b"from before\n")
    start = log.stat().st_size
    assert last_words(log, start, []) == f"It printed nothing ({log})."
    with log.open("ab") as file:
        file.write(b"\xff one\r\n\n\x1b]0;title\x07two\tdots key=abcdef abc\n")
    shown = last_words(log, start, ["abcdef", "abc", ""]).splitlines()
    assert shown == [
        f"Last lines of {log}:",
        "\N{REPLACEMENT CHARACTER} one",
        "two\tdots key=<redacted> abc",
    ]
    assert last_words(tmp_path / "none", 0, []).startswith("Its output cannot be read: ")
