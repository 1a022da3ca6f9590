"""The example of an agent of one's own, started by us and running elsewhere: real calls with it."""

from __future__ import annotations

import asyncio
import glob
import runpy
import shlex
import shutil
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

pytest.importorskip("piper", reason="the extra 'local' is not installed")

from pytest_voiceeval.bots.launch import CommandBot
from pytest_voiceeval.bots.rehearsal_server import Script, serve_scripts

pytestmark = pytest.mark.alone

ROOT = Path(__file__).parent.parent.parent
LIMIT_SECONDS = 300
COMMAND = f"{shlex.quote(sys.executable)} bot.py --port {{port}}"

BRIEF = """
from pytest_voiceeval import Actions, Persona, Rehearsal, Resources, Say, Scenario, SuccessSignal, Task
from pytest_voiceeval import Use, register_eval_scenario

@register_eval_scenario
class Brief(Scenario):
    name = "coffee__brief"
    domain = "coffee"
    max_duration = 150
    success_signals = (SuccessSignal.ACTION_MATCH, SuccessSignal.CLEAN_EXIT)
    reference_answer = {"actions": [{"name": "cancel_order", "arguments": {"order_id": "A123"}}]}
    user_persona = agent_persona = Persona(role="person")
    user_actions = agent_actions = Actions()
    user_task = Task(goal="Cancel an order.")
    agent_task = Task(goal="Help.")
    user_resources = Resources()
    agent_resources = Resources(tools={"CancelOrderTool": {}, "EndConversationTool": {}})
    rehearsal = Rehearsal(
        user=(Say("Cancel order A 1 2 3."),),
        agent=(Say("Which order?"), Use("CancelOrderTool", {"order_id": "A123"}), Use("EndConversationTool")),
    )

    def setup_shared_state(self, state, side):
        state["db"] = {"orders": {"A123": {"status": "open"}}}
"""


@pytest.fixture
def coffee(tmp_path: Path) -> Path:
    """The pack of the coffee shop, with the bot in it."""
    shutil.copytree(ROOT / "examples" / "coffee", tmp_path, dirs_exist_ok=True)
    shutil.copy(ROOT / "examples" / "bot" / "bot.py", tmp_path)
    (tmp_path / "scenarios" / "brief.py").write_text(BRIEF, encoding="utf-8")
    (tmp_path / "pytest.ini").write_text("[pytest]\n", encoding="utf-8")
    return tmp_path


@asynccontextmanager
async def model(pack: Path) -> AsyncIterator[dict[str, str]]:
    """Run what plays the bot's model; yields the variables that lead there."""
    scenario = runpy.run_path(str(pack / "scenarios" / "brief.py"))["Brief"]()
    script = Script(scenario.prompt("agent"), "agent", scenario.rehearsal)
    async with serve_scripts([script]) as url:
        yield {"OPENAI_BASE_URL": url, "OPENAI_MODEL": "gold", "OPENAI_API_KEY": "sk-canary"}


async def outcome(folder: Path, *options: str) -> str:
    """Run pytest in ``folder``; returns what it prints."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-v", "--voice-scenarios=coffee__brief"),
        *("--voice-start-timeout=120", *options),
        cwd=folder,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    async with asyncio.timeout(LIMIT_SECONDS):
        printed, _ = await process.communicate()
    return printed.decode()


def variables(given: Mapping[str, str]) -> list[str]:
    return [f"--voice-agent-env={name}={value}" for name, value in given.items()]


@pytest.mark.asyncio
async def test_a_bot_of_ones_own_is_tested_as_a_command(coffee: Path) -> None:
    async with model(coffee) as given:
        printed = await outcome(coffee, f"--voice-agent=cmd:{COMMAND}", *variables(given))
    assert "coffee__brief PASSED" in printed, printed
    assert "canary" not in printed
    (log,) = glob.glob(str(coffee / "eval_results" / "*" / "bot_agent_0.log"))
    assert "Traceback" not in await asyncio.to_thread(Path(log).read_text)


@pytest.mark.asyncio
async def test_a_bot_of_ones_own_is_tested_where_it_runs(coffee: Path) -> None:
    async with model(coffee) as given:
        bot = CommandBot("agent", COMMAND, coffee / "bot.log", cwd=coffee, env=given, packs=[coffee])
        try:
            async with bot.open(None) as url:  # type: ignore[arg-type]  # for no scenario in particular
                await (await bot.connect(url, 5)).close()
                printed = await outcome(coffee, f"--voice-agent={url}")
        finally:
            bot.close()
    assert "coffee__brief PASSED" in printed, printed
