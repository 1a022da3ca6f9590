from __future__ import annotations

import asyncio
from typing import Any

import pytest

from pytest_voiceeval.bridge.endpoint import Peer
from pytest_voiceeval.bridge.setup import prepare
from pytest_voiceeval.errors import BotRefusedError
from pytest_voiceeval.model.parts import Resources
from pytest_voiceeval.model.turns import SIDES, Side
from pytest_voiceeval.scenarios.base import Scenario


class Tea(Scenario):
    name = "setup__tea"
    success_signals = ("clean_exit",)
    user_resources = agent_resources = Resources(tools={"BrewTool": {}})

    def prompt(self, side: Side) -> str:
        return f"You are the {side}."


class RefusingParty:
    """A bot that can be reached and takes no prompt."""

    def __init__(self, side: Side) -> None:
        self.peer = Peer(side, f"mem://{side}", side)
        self.is_black_box = False

    async def open(self, limit: float) -> None: ...

    async def ask(self, request: str, arguments: Any, *, limit: float) -> bool:
        return request != "update_system_prompt"


def test_a_prompt_that_is_refused_tells_where_the_reason_stands() -> None:
    parties: Any = {side: RefusingParty(side) for side in SIDES}
    with pytest.raises(BotRefusedError) as caught:
        asyncio.run(prepare(Tea(), parties, limit=1))
    assert "refused update_system_prompt: false" in str(caught.value)
    assert "offered: BrewTool; the bot's log says why" in str(caught.value)
    assert "bot_log.txt in the scenario's folder" in str(caught.value)
