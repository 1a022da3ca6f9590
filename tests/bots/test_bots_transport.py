from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import Any

import pytest
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosedError
from wire_client import PROMPT, WireClient

from pytest_voiceeval.scenarios.rehearsal import Say
from pytest_voiceeval.wire.limits import MAX_MESSAGE_BYTES
from pytest_voiceeval.world.hashing import get_dict_hash

pytestmark = pytest.mark.asyncio


async def test_a_database_above_a_mebibyte_travels_both_ways(agent: Callable[..., Any]) -> None:
    _, client = await agent()
    db = {"rows": ["x" * 1000] * 3000}
    assert (await client.ask("apply_initialization", shared_state_init=json.dumps({"db": db})))["success"]
    assert (await client.ask("get_scenario_summary", include_db=True))["db"] == db


async def test_a_database_above_the_limit_is_left_out_and_the_rest_comes(agent: Callable[..., Any]) -> None:
    bot, client = await agent()
    bot.state["db"] = {"text": "x" * MAX_MESSAGE_BYTES}
    bot.state["actions"] = [{"name": "write"}]
    summary = await client.ask("get_scenario_summary", include_db=True)
    assert summary["db"] is None
    assert f"a message at most {MAX_MESSAGE_BYTES}" in summary["db_error"]
    assert summary["db_hash"] == get_dict_hash(bot.state["db"])
    assert summary["actions"] == [{"name": "write"}]


async def test_a_bot_keeps_everything_when_its_client_comes_back(rehearsed_agent: Callable[..., Any]) -> None:
    async with rehearsed_agent(Say("Good day."), Say("Good evening.")) as bot:
        async with WireClient.connected(bot.url) as client:
            await client.handshake()
            await client.prepare(PROMPT, EndConversationTool={})
            await client.kick_off()
            await client.wait_for("bot-stopped-speaking")
        async with WireClient.connected(bot.url) as client:
            await client.handshake()
            assert bot.state["__tool_domain__"] == "bots_test"
            assert [t.name for t in bot.context.tools.standard_tools] == ["EndConversationTool"]
            assert [m["content"] for m in await client.history()] == [PROMPT, "Hello", "Good day."]
            await client.kick_off()
            assert (await client.wait_for("bot-tts-text"))["data"]["text"] == "Good evening."


async def test_a_bot_that_is_ready_says_nothing_of_its_own(agent: Callable[..., Any]) -> None:
    _, client = await agent(Say("Good day."))
    await client.prepare(PROMPT)
    await client.handshake()
    await asyncio.sleep(0.5)
    assert not client.audio
    assert await client.history() == [{"role": "system", "content": PROMPT}]


async def test_a_second_client_is_refused_and_the_first_stays(agent: Callable[..., Any]) -> None:
    bot, client = await agent()
    async with connect(bot.url) as second:
        with pytest.raises(ConnectionClosedError) as caught:
            await second.recv()
    assert caught.value.rcvd is not None
    assert caught.value.rcvd.code == 1013
    assert (await client.handshake())["type"] == "bot-ready"


async def test_bad_frames_are_counted_and_skipped(agent: Callable[..., Any]) -> None:
    bot, client = await agent()
    audio_in_stereo = bytes.fromhex("120d1a080100ff7f0100ff7f20807d2802")
    message_list = b"\x22\x05\x0a\x03[1]"
    for bad in ("text", b"", b"\xff\x00garbage", message_list, audio_in_stereo, b"\x22\x03\x0a\x01{"):
        await client.socket.send(bad)
    assert (await client.handshake())["type"] == "bot-ready"
    assert bot.transport.serializer.skipped_frames == 6
