from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from wire_client import WireClient

from pytest_voiceeval.bots.launch import LocalBot, RemoteBot
from pytest_voiceeval.bots.profile import Profile, load_profile
from pytest_voiceeval.bots.rehearsal_server import Script, serve_scripts
from pytest_voiceeval.errors import DefinitionError
from pytest_voiceeval.model.parts import Resources
from pytest_voiceeval.model.signals import SuccessSignal
from pytest_voiceeval.model.turns import Side
from pytest_voiceeval.scenarios.base import Scenario
from pytest_voiceeval.scenarios.rehearsal import Rehearsal, Say, Use


class Mystery(Scenario):
    """A scenario that nobody has rehearsed."""

    name = "shop__mystery"
    success_signals = (SuccessSignal.CLEAN_EXIT,)
    user_resources = agent_resources = Resources()

    def prompt(self, side: Side) -> str:
        return f"You are the {side}."


class Greet(Mystery):
    """A scenario of two lines."""

    name = "shop__greet"
    success_signals = (SuccessSignal.CLEAN_EXIT,)
    rehearsal = Rehearsal(user=(Say("Hi there."),), agent=(Say("Good day."),))


SCENARIO = Greet()


@pytest.mark.asyncio
async def test_a_local_bot_listens_and_leaves_nothing(profile: Profile) -> None:
    before = asyncio.all_tasks()
    bot = LocalBot("agent", profile)
    assert bot.label == "local bot (profile local)"
    for _ in range(2):
        async with bot.open(SCENARIO) as url, WireClient.connected(url) as client:
            assert await client.prepare("You are the agent.")
            await client.kick_off()
            assert (await client.wait_for("bot-tts-text"))["data"]["text"] == "Good day."
    bot.close()
    bot.close()
    assert asyncio.all_tasks() == before
    with pytest.raises(OSError):  # noqa: PT011 - the port is free again
        async with WireClient.connected(url):
            pass


@pytest.mark.asyncio
async def test_a_misspelt_tool_of_the_rehearsal_is_told_before_the_call(profile: Profile) -> None:
    class Misspelt(Greet):
        agent_resources = Resources(tools={"EndConversationTool": {}})
        rehearsal = Rehearsal(user=(), agent=(Use("EndConversatonTool"),))

    with pytest.raises(
        DefinitionError, match=r"test_bots_launch\.py:\d+: .*did you mean 'EndConversationTool'"
    ):
        async with LocalBot("agent", profile).open(Misspelt()):
            pass


@pytest.mark.asyncio
async def test_a_local_bot_is_gone_when_its_call_fails(profile: Profile) -> None:
    before = asyncio.all_tasks()
    with pytest.raises(RuntimeError, match="the call"):
        async with LocalBot("user", profile).open(SCENARIO):
            raise RuntimeError("the call")
    assert asyncio.all_tasks() == before


@pytest.mark.asyncio
async def test_a_local_bot_is_gone_when_its_call_is_cancelled(profile: Profile) -> None:
    before = asyncio.all_tasks()
    opened = asyncio.Event()

    async def call() -> None:
        async with LocalBot("user", profile).open(SCENARIO):
            opened.set()
            await asyncio.sleep(60)

    task = asyncio.create_task(call())
    await opened.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert asyncio.all_tasks() == before


@pytest.mark.asyncio
async def test_a_scenario_without_rehearsal_needs_a_model(profile: Profile) -> None:
    with pytest.raises(DefinitionError, match=r"shop__mystery: no rehearsal.*take a profile with a model"):
        async with LocalBot("agent", profile).open(Mystery()):
            pass


@pytest.mark.asyncio
async def test_a_sabotaged_agent_is_mute(profile: Profile) -> None:
    async with LocalBot("agent", profile, "mute").open(SCENARIO) as url, WireClient.connected(url) as client:
        await client.prepare("You are the agent.")
        await client.kick_off()
        await client.wait_for("bot-llm-stopped")
        await asyncio.sleep(0.3)
        assert not client.audio


@pytest.mark.asyncio
async def test_a_profile_with_a_model_needs_no_rehearsal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SHOP_KEY", "sk-secret")
    script = Script("You are the agent.", "agent", Greet.rehearsal)
    async with serve_scripts([script]) as url:
        file = tmp_path / "mine.yaml"
        file.write_text(
            f"stt: {{service: whisper}}\ntts: {{service: piper}}\n"
            f"llm: {{service: openai, base_url: '{url}', model: gold, api_key_env: SHOP_KEY}}\n",
            encoding="utf-8",
        )
        bot = LocalBot("agent", load_profile(str(file)))
        async with bot.open(Mystery()) as address, WireClient.connected(address) as client:
            await client.prepare("You are the agent.")
            await client.kick_off()
            assert (await client.wait_for("bot-tts-text"))["data"]["text"] == "Good day."


@pytest.mark.asyncio
async def test_a_remote_bot_is_its_url() -> None:
    bot = RemoteBot("agent", "wss://bots.example:8765/path")
    assert bot.label == "wss://bots.example:8765/path"
    async with bot.open(SCENARIO) as url:
        assert url == bot.url
    bot.close()


@pytest.mark.parametrize(
    "url", ["http://host:1", "localhost:8765", "ws://", "ws://host:port", "ws://h:99999", ""]
)
def test_what_is_no_websocket_url_is_told(url: str) -> None:
    with pytest.raises(DefinitionError, match="write ws://host:port"):
        RemoteBot("agent", url)


def test_profiles_carry_their_name() -> None:
    assert LocalBot("user", load_profile("openai")).label == "local bot (profile openai)"
