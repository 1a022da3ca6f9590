"""Limits of the wire, in one place."""

from __future__ import annotations

MAX_MESSAGE_BYTES = 16 * 1024 * 1024
"""Largest WebSocket message accepted, both ways."""

HANDSHAKE_SECONDS = 5.0
"""How long a bot may take to answer ``client-ready``."""

SETUP_SECONDS = 15.0
"""How long a bot may take to answer a set-up request."""

PULL_SECONDS = 15.0
"""How long a bot may take to answer a pull after the call."""

KEEPALIVE_SECONDS = 20.0
"""Time between keepalive pings; a missing pong never ends a call."""
