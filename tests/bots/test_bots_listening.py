"""Listening sockets."""

from __future__ import annotations

import asyncio
import socket

from pytest_voiceeval.bots.listening import listening_socket


def test_a_connection_sends_small_messages_at_once() -> None:
    async def main() -> list[int]:
        found = []

        async def note(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            accepted = writer.get_extra_info("socket")
            found.append(accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY))
            writer.close()

        listening = listening_socket("127.0.0.1", 0)
        async with await asyncio.start_server(note, sock=listening):
            reader, writer = await asyncio.open_connection(*listening.getsockname())
            await reader.read()
            writer.close()
            await writer.wait_closed()
        return found

    assert asyncio.run(main()) == [1]
