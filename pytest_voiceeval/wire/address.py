"""Addresses of WebSockets."""

from __future__ import annotations

from urllib.parse import urlsplit

from pytest_voiceeval.errors import DefinitionError


def websocket_url(text: str) -> str:
    """Return ``text`` if it is the URL of a WebSocket.

    Raises:
        DefinitionError: if it is not, saying what to write.
    """
    try:
        parts = urlsplit(text)
        complete = parts.scheme in {"ws", "wss"} and bool(parts.hostname) and (parts.port or 1) > 0
    except ValueError:  # a port that is no number, a broken IPv6 address
        complete = False
    if not complete:
        raise DefinitionError(f"{text!r} is no WebSocket URL; write ws://host:port, or wss://host for TLS")
    return text
