"""TCP ports for commands: chosen so that nobody else has them, as far as that can be had."""

from __future__ import annotations

import contextlib
import os
import socket
from collections.abc import Iterator
from pathlib import Path

_LISTENS = "0A"
_MOST_TRIES = 100
_PROBE_SECONDS = 0.5


class Port:
    """A free port of this machine's loopback addresses, kept for a command.

    Until ``release`` nobody can take it. After that, whoever chooses ports by this class still keeps off it:
    the UDP port of the same number, which no bot needs, is held until ``close``. That claim needs no file,
    and ends with the process.

    Attributes:
        number: the port.

    Raises:
        OSError: if there is none.
    """

    def __init__(self) -> None:
        self._held: list[socket.socket] = []
        for _ in range(_MOST_TRIES):
            try:
                self.number = self._hold()
                return
            except OSError:
                self.close()
        raise OSError("no free port was found")

    def _hold(self) -> int:
        first = self._bound(socket.AF_INET, socket.SOCK_STREAM, "127.0.0.1", 0)
        number = int(first.getsockname()[1])
        if _has_ipv6():
            self._bound(socket.AF_INET6, socket.SOCK_STREAM, "::1", number)
        self._claim = self._bound(socket.AF_INET, socket.SOCK_DGRAM, "127.0.0.1", number)
        return number

    def _bound(self, family: int, kind: int, host: str, port: int) -> socket.socket:
        made = socket.socket(family, kind)
        self._held.append(made)
        if family == socket.AF_INET6:
            made.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
        made.bind((host, port))
        return made

    def release(self) -> None:
        """Let the command have it; the claim stays."""
        for held in self._held:
            if held is not self._claim:
                held.close()
        self._held = [self._claim]

    def close(self) -> None:
        """Give it up altogether; may be called twice."""
        for held in self._held:
            held.close()
        self._held = []


def answers(port: int) -> bool:
    """Return whether somebody listens on ``port`` of a loopback address."""
    with contextlib.suppress(OSError), socket.create_connection(("localhost", port), _PROBE_SECONDS):
        return True
    return False


def listeners(port: int) -> set[int]:
    """Return the processes that listen on ``port``, as far as this one may know; none but on Linux."""
    wanted = {f"socket:[{inode}]" for inode in _listening_inodes(port)}
    if not wanted:
        return set()
    return {pid for pid, name in _open_sockets() if name in wanted}


def _listening_inodes(port: int) -> Iterator[str]:
    for table in ("/proc/net/tcp", "/proc/net/tcp6"):
        with contextlib.suppress(OSError):
            for line in Path(table).read_text(encoding="ascii").splitlines()[1:]:
                fields = line.split()
                if fields[3] == _LISTENS and int(fields[1].rpartition(":")[2], 16) == port:
                    yield fields[9]


def _open_sockets() -> Iterator[tuple[int, str]]:
    for folder in Path("/proc").glob("[0-9]*/fd"):
        with contextlib.suppress(OSError):  # of others, or gone meanwhile
            for entry in os.scandir(folder):
                with contextlib.suppress(OSError):
                    yield int(folder.parent.name), os.readlink(entry.path)


def _has_ipv6() -> bool:
    """Return whether there is a loopback address of IPv6."""
    if not socket.has_ipv6:
        return False
    with contextlib.suppress(OSError), socket.socket(socket.AF_INET6, socket.SOCK_STREAM) as probe:
        probe.bind(("::1", 0))
        return True
    return False
