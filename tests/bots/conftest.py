"""Fixtures of the tests of the bots room."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

import pytest_voiceeval.bots.pipecat_import  # noqa: F401 - before anything of pipecat's

# isort: split
from process_bots import bot_of, gone, pids
from wire_client import PROMPT, WireClient

from pytest_voiceeval.bots.launch import CommandBot
from pytest_voiceeval.bots.model_access import ModelAccess
from pytest_voiceeval.bots.pipeline import EmbeddedBot, running_bot
from pytest_voiceeval.bots.profile import Profile, load_profile
from pytest_voiceeval.bots.rehearsal_server import Script, serve_scripts
from pytest_voiceeval.scenarios.rehearsal import Line, Rehearsal


@pytest.fixture
def profile() -> Profile:
    return load_profile("local")


@pytest.fixture
def rehearsed_agent(profile: Profile) -> Callable[..., AbstractAsyncContextManager[EmbeddedBot]]:
    """Runs an agent that plays the given lines after PROMPT."""

    @asynccontextmanager
    async def run(*lines: Line) -> AsyncIterator[EmbeddedBot]:
        script = Script(PROMPT, "agent", Rehearsal(user=(), agent=lines))
        async with (
            serve_scripts([script]) as base_url,
            running_bot(profile, "agent", ModelAccess(base_url, "gold")) as bot,
        ):
            yield bot

    return run


@pytest_asyncio.fixture
async def agent(
    rehearsed_agent: Callable[..., AbstractAsyncContextManager[EmbeddedBot]],
) -> AsyncIterator[Callable[..., object]]:
    """Starts an agent with the given lines and connects to it; both end with the test."""
    async with AsyncExitStack() as stack:

        async def start(*lines: Line) -> tuple[EmbeddedBot, WireClient]:
            bot = await stack.enter_async_context(rehearsed_agent(*lines))
            return bot, await stack.enter_async_context(WireClient.connected(bot.url))

        yield start


@pytest_asyncio.fixture
async def started(tmp_path: Path) -> AsyncIterator[Callable[..., CommandBot]]:
    """Makes bots that run in ``tmp_path``; all that they started is gone after the test."""
    bots: list[CommandBot] = []

    def make(mode: str, **changes: Any) -> CommandBot:
        bots.append(bot_of(tmp_path, mode, **changes))
        return bots[-1]

    yield make
    for bot in bots:
        bot.close()
    if (tmp_path / "pids").exists():
        assert await gone(*pids(tmp_path))
