"""What a file descriptor is that a loop is to wait for: which ends it has, and its name for a person."""

from __future__ import annotations

import os
import socket
import stat
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol


class HasFileno(Protocol):
    """What the modules ``selectors`` and ``asyncio`` take in place of a number."""

    def fileno(self) -> int:
        """Return the number of the descriptor."""


@dataclass(frozen=True)
class Descriptor:
    """An open file descriptor.

    Attributes:
        number: it, in this process.
        name: what it is, for a person.
        here: the address of a socket's own end, as the module ``socket`` gives it; ``None`` for what is none.
        there: that of its other end; ``None`` where it has none (yet, or any more).
        listens: whether others connect to it.
        is_stream: whether it is a socket whose two ends stay the same.
    """

    number: int
    name: str
    here: Any = None
    there: Any = None
    listens: bool = False
    is_stream: bool = False

    def is_same_as(self, other: Descriptor | None) -> bool:
        """Whether this is the connection that ``other`` was; the far end of it may have gone since."""
        return (
            other is not None
            and self.is_stream
            and self.here == other.here
            and self.there in (other.there, None)
        )


def descriptor_of(fileobj: int | HasFileno) -> Descriptor:
    """Return what ``fileobj`` is; raises OSError if it is closed."""
    number = fileobj if isinstance(fileobj, int) else int(fileobj.fileno())
    mode = os.fstat(number).st_mode
    if not stat.S_ISSOCK(mode):
        kind = "a pipe" if stat.S_ISFIFO(mode) else "a device" if stat.S_ISCHR(mode) else "a file"
        return Descriptor(number, f"{kind} (file descriptor {number})")
    sock = socket.socket(fileno=number)
    try:
        return _of_socket(sock)
    finally:
        sock.detach()  # it is somebody else's


def _of_socket(sock: socket.socket) -> Descriptor:
    here, there = _address(sock.getsockname), _address(sock.getpeername)
    is_stream = sock.type == socket.SOCK_STREAM
    listens = is_stream and _listens(sock, here, there)
    if there:
        name = f"a socket to {shown_address(there)}"
    elif there is not None:
        name = f"a socket pair (file descriptor {sock.fileno()})"
    else:
        name = f"a socket at {shown_address(here)}" if here else f"a socket of {sock.family.name}"
    return Descriptor(sock.fileno(), name, here, there, listens, is_stream)


def _listens(sock: socket.socket, here: Any, there: Any) -> bool:
    """Whether others connect to a socket; macOS does not tell, so there it is what has no other end."""
    try:
        return bool(sock.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN))
    except OSError:
        return bool(here) and there is None


def _address(ask: Callable[[], Any]) -> Any:
    try:
        return ask()
    except OSError:  # it has none
        return None


def shown_address(address: Any) -> str:
    """Return the address of a socket for a person."""
    return f"{address[0]}:{address[1]}" if isinstance(address, tuple) else str(address)
