"""A project whose bots are scripted and know how many calls are held at once, as texts."""

from __future__ import annotations

SHOP = '''
"""Scenarios of a shop."""
import pytest
from pytest_voiceeval import Actions, Persona, Resources, Scenario, SuccessSignal, Task
from pytest_voiceeval import register_eval_scenario


class ShopScenario(Scenario):
    """Base of the shop."""

    success_signals = (SuccessSignal.CLEAN_EXIT,)
    max_duration = 20.0
    user_persona = agent_persona = Persona(role="person")
    user_task = agent_task = Task(goal="tea")
    user_actions = agent_actions = Actions()
    user_resources = agent_resources = Resources()


for name in ("a", "b", "c", "d"):
    register_eval_scenario(type(name, (ShopScenario,), {"name": f"shop__{name}"}))
'''

BOTS = '''
"""Bots that answer once, and note in a file whose calls begin and end."""
import asyncio
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from pytest_voiceeval.errors import BotProcessError
from pytest_voiceeval.testing import FakeBot, Utterance, exit_message

NOTES = Path(__file__).with_name("notes.txt")
GOOD = [Utterance("Here it is, bye.", 0.1, 300, late_sends=(exit_message(),))]
MUTE = [Utterance("Welcome.", 0.1, 300)]
SCRIPTS = {}
TOGETHER = 1
CLOCKS = ("real",)


def write(text):
    with NOTES.open("a") as notes:
        notes.write(text + "\\n")


class Bot:
    clocks = CLOCKS
    concurrent_calls = 8

    def __init__(self, side):
        self.side = side
        self.label = f"fake {side}"
        self.waiting = []

    @asynccontextmanager
    async def open(self, scenario):
        lines = SCRIPTS.get(scenario.name, GOOD) if self.side == "agent" else []
        if self.side == "agent":
            write(f"{scenario.name} begins")
            await self.meet(scenario.name)
        if isinstance(lines, Exception):
            raise lines
        try:
            async with FakeBot(self.side, lines, answer_after=0.1).serve() as url:
                yield url
        finally:
            if self.side == "agent":
                write(f"{scenario.name} ends")

    async def meet(self, name):
        """Wait until as many calls are here as are to be held at once."""
        self.waiting.append(asyncio.get_running_loop().create_future())
        if len(self.waiting) < TOGETHER:
            await self.waiting[-1]
        else:
            for future in self.waiting:
                future.done() or future.set_result(None)

    def close(self):
        write(f"{self.side} closed")


@pytest.fixture(scope="session")
def voice_agent():
    bot = Bot("agent")
    yield bot
    bot.close()


@pytest.fixture(scope="session")
def voice_user():
    return Bot("user")
'''
