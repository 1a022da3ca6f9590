"""Addresses of WebSockets."""

from __future__ import annotations

import re
from collections.abc import Mapping
from urllib.parse import urlsplit

from pytest_voiceeval.errors import DefinitionError

REDACTED = "<redacted>"

SECRET = r"(?:key|token|secret|password|passwd|credential|authorization|signature|auth)"
"""What the name of a secret ends with: of a part of an URL, a variable, a flag."""

SHORTEST_SECRET = 6
"""Length from which the value of a secret variable is looked for in texts: shorter ones are words."""

_SECRET_NAME = re.compile(rf"(?i){SECRET}$")
_FLAG = re.compile(rf"(?i)(--?[\w-]*{SECRET}(?:=|\s+))(?!-)(\"[^\"]*\"|'[^']*'|\S+)")
_ASSIGNED = re.compile(rf"(?i)\b(\w*{SECRET}=)(\"[^\"]*\"|'[^']*'|[^\s&]+)")
_BEARER = re.compile(r"(?i)\b(bearer\s+)\S+")
_USER_INFO = re.compile(r"(?<=://)(?:(?!://)\S)*@")
_QUERY = re.compile(rf"(?i)([?&;][\w.-]*{SECRET}[\w.-]*=)[^&;#\s'\"]+")


def shown(text: str) -> str:
    """Return ``text``, an URL or one with URLs in it, without the users, passwords and tokens of these.

    All that stands between ``://`` and the last ``@`` counts as such: a password in which ``/``, ``?`` or
    ``@`` is not encoded ends an URL's address too early.
    """
    return _QUERY.sub(rf"\1{REDACTED}", _USER_INFO.sub(f"{REDACTED}@", text))


def without_secrets(text: str) -> str:
    """Return ``text``, a command or a line with one in it, as ``shown``, and without the secrets it is given.

    These are what follows a flag, a variable or a part of an URL whose name says so, and bearers' tokens.
    """
    text = shown(text)
    for pattern in (_FLAG, _ASSIGNED, _BEARER):
        text = pattern.sub(rf"\1{REDACTED}", text)
    return text


def secret_values(environment: Mapping[str, str]) -> list[str]:
    """Return what variables hold whose names say that it is secret, the longest first."""
    found = {
        value
        for name, value in environment.items()
        if _SECRET_NAME.search(name) and len(value) >= SHORTEST_SECRET
    }
    return sorted(found, key=lambda value: (-len(value), value))


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
        raise DefinitionError(
            f"{shown(text)!r} is no WebSocket URL; write ws://host:port, or wss://host for TLS"
        )
    return text
