"""Sockets that bots and their models listen on."""

from __future__ import annotations

import socket


def listening_socket(host: str, port: int) -> socket.socket:
    """Return a TCP socket that listens; ``port`` 0 takes a free one, and is so bound in one step.

    Its connections send small messages at once: asyncio switches Nagle's algorithm off only for
    sockets that say that they are TCP, which those of ``socket.create_server`` do not.

    Raises:
        OSError: if the address cannot be had.
    """
    family, kind, protocol, _, address = socket.getaddrinfo(
        host, port, type=socket.SOCK_STREAM, proto=socket.IPPROTO_TCP, flags=socket.AI_PASSIVE
    )[0]
    listening = socket.socket(family, kind, protocol)
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind(address)
        listening.listen()
    except BaseException:
        listening.close()
        raise
    return listening
