from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from pytest_voiceeval.scenarios.packs import builtin_pack
from pytest_voiceeval.tools import StandardSchemaTool

Journal = list[tuple[str, Any]]


class FakeRtvi:
    """Notes in the journal what is sent."""

    def __init__(self, journal: Journal) -> None:
        self.journal = journal
        self.broken = False

    async def send_server_message(self, data: Any) -> None:
        if self.broken:
            raise ConnectionError("the bridge is gone")
        self.journal.append(("message", data))


class FakeCall:
    """Notes in the journal what is delivered."""

    def __init__(self, journal: Journal, arguments: dict[str, Any] | None) -> None:
        self.journal = journal
        self.arguments = arguments

    async def result_callback(self, result: Any, *, properties: Any = None) -> None:
        self.journal.append(("result", result))
        if properties is not None:
            self.journal.append(("run_llm", properties.run_llm))


Call = Callable[..., Journal]


@pytest.fixture
def journal() -> Journal:
    return []


@pytest.fixture
def rtvi(journal: Journal) -> FakeRtvi:
    return FakeRtvi(journal)


@pytest.fixture
def call(journal: Journal) -> Call:
    """Call a tool the way a model does; returns what was sent and delivered, in order."""

    def call(tool: StandardSchemaTool, arguments: dict[str, Any] | None = None, /, **more: Any) -> Journal:
        async def once() -> None:
            await tool(FakeCall(journal, more or arguments))
            await asyncio.sleep(0)

        asyncio.run(once())
        return journal

    return call


@pytest.fixture
def builtin_tools() -> None:
    builtin_pack().load_tools()
