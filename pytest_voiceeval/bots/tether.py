"""Runs a command, and ends it with all that it started when its owner is gone or asks for it.

``python -m pytest_voiceeval.bots.tether OWNER COMMAND …`` ends as the command does: with its exit code, or by
the signal that ended it. The command is ended when standard input ends (the one who started us holds the
other end of it: however that goes, killed or not, it is closed), when the process ``OWNER`` is gone (0: there
is none to look after), and on SIGTERM.

What the command has started is found by its process group, and on Linux also by descent, which a daemon does
not escape. What they print goes to standard output, a file that is kept from growing without limit.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import re
import selectors
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

GRACE_SECONDS = 3.0
"""How long a command may take to end once it is asked to."""

LEFTOVER_SECONDS = 0.2
"""How long what a command has left behind may take, once it has ended itself."""

OUTPUT_SECONDS = 1.0
"""How long the last output may take when all is over: somebody who got away may hold its other end."""

MOST_BYTES = 16 * 2**20
"""Length from which on a log is shortened."""

KEPT_BYTES = 4 * 2**20
"""How much is kept then of its beginning, and of its end."""

_CUT = "\n[... {:15d} bytes were cut out here: no more is kept of so long a log ...]\n"
_CUT_BYTES = len(_CUT.format(0))
_CUT_PATTERN = re.compile(rb"\n\[\.\.\. +([0-9]+) bytes were cut out here: .*\n")

NOT_FOUND = 127
_POLL_SECONDS = 0.02
_SET_PDEATHSIG, _SET_CHILD_SUBREAPER = 1, 36


def main(arguments: list[str]) -> int:
    """Run the command; return its exit code, negative for a signal, 127 if it cannot be run."""
    owner, command = int(arguments[0]), arguments[1:]
    woken, waker = os.pipe()
    os.set_blocking(waker, False)
    signal.set_wakeup_fd(waker, warn_on_full_buffer=False)
    for sign in (signal.SIGCHLD, signal.SIGTERM):
        # Handlers, not SIG_IGN, which the command would inherit.
        signal.signal(sign, lambda *_: None)
    _control(_SET_CHILD_SUBREAPER, 1)
    try:
        child = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            process_group=0,
            preexec_fn=lambda: _control(_SET_PDEATHSIG, signal.SIGKILL),  # noqa: PLW1509 - no threads here
        )
    except OSError as exc:
        sys.stderr.write(f"{command[0]}: {exc.strerror}\n")
        return NOT_FOUND
    assert child.stdout is not None
    copying = threading.Thread(target=_copy, args=(child.stdout.fileno(), 1), daemon=True)
    copying.start()
    family = Family(child.pid)
    _wait(family, woken, owner)
    family.end(GRACE_SECONDS if family.code is None else LEFTOVER_SECONDS)
    copying.join(OUTPUT_SECONDS)
    child.returncode = family.code  # it is reaped already
    return family.code or 0


class Family:
    """A command and all that it has started.

    Attributes:
        code: the exit code of the command, negative for a signal; ``None`` while it runs.
    """

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self.code: int | None = None

    def reap(self) -> None:
        """Bury whoever has ended, and note the command's exit code."""
        with contextlib.suppress(ChildProcessError):
            while (found := os.waitpid(-1, os.WNOHANG))[0]:
                if found[0] == self.pid:
                    self.code = os.waitstatus_to_exitcode(found[1])

    def end(self, grace: float) -> None:
        """End them all: asked first, killed after ``grace`` seconds."""
        self._signal(signal.SIGTERM)
        deadline = time.monotonic() + grace
        while self._lives() and time.monotonic() < deadline:
            time.sleep(_POLL_SECONDS)
        while self._lives():
            self._signal(signal.SIGKILL)
            time.sleep(_POLL_SECONDS)

    def _lives(self) -> bool:
        self.reap()
        if any(descendants(os.getpid())):
            return True
        try:
            os.killpg(self.pid, 0)
        except ProcessLookupError:
            return False
        except PermissionError:  # of macOS, where all that is left are zombies of others
            return False
        return True

    def _signal(self, sign: signal.Signals) -> None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.pid, sign)
        for pid in descendants(os.getpid()):
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, sign)


def descendants(pid: int) -> Iterator[int]:
    """Yield the processes that descend from ``pid``; none where the system does not tell (all but Linux)."""
    parents: dict[int, list[int]] = {}
    for entry in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError, ValueError):
            parent = int(entry.read_text(errors="replace").rpartition(")")[2].split()[1])
            parents.setdefault(parent, []).append(int(entry.parent.name))
    generation = [pid]
    while generation:
        generation = [child for parent in generation for child in parents.get(parent, ())]
        yield from generation


def _wait(family: Family, woken: int, owner: int) -> None:
    """Return when the command has ended, or is to be ended."""
    with selectors.DefaultSelector() as selector:
        for descriptor in (0, woken, *_watched(owner)):
            selector.register(descriptor, selectors.EVENT_READ)
        while family.code is None:
            for key, _ in selector.select():
                if key.fd == woken:
                    if signal.SIGTERM in os.read(woken, 4096):
                        return
                    family.reap()
                elif key.fd != 0 or not os.read(0, 4096):
                    return


def _watched(owner: int) -> Iterator[int]:
    """Yield what becomes readable when ``owner`` is gone, if there is one and the system has such a thing."""
    if owner and hasattr(os, "pidfd_open"):
        with contextlib.suppress(OSError):
            yield os.pidfd_open(owner)


def printed_bytes(log: int) -> int:
    """Return how much was ever written into the log open as ``log``, with what was cut out of it."""
    size, cut = os.fstat(log).st_size, _bytes_cut(log)
    return size - _CUT_BYTES + cut if cut else size


def shorten(log: int) -> None:
    """Cut the middle out of a log that has become too long, and say so there."""
    size, printed = os.fstat(log).st_size, printed_bytes(log)
    if size <= MOST_BYTES:
        return
    end = os.pread(log, KEPT_BYTES, size - KEPT_BYTES)
    end = end[end.find(b"\n") + 1 :]
    os.ftruncate(log, KEPT_BYTES)
    _write(log, _CUT.format(printed - KEPT_BYTES - len(end)).encode() + end)


def _bytes_cut(log: int) -> int:
    found = _CUT_PATTERN.fullmatch(os.pread(log, _CUT_BYTES, KEPT_BYTES))
    return int(found[1]) if found else 0


def _copy(source: int, log: int) -> None:
    """Write into ``log`` what comes from ``source``; what a full disk does not take is lost."""
    while content := os.read(source, 64 * 1024):
        with contextlib.suppress(OSError):
            _write(log, content)
            shorten(log)


def _write(log: int, content: bytes) -> None:
    while content:
        content = content[os.write(log, content) :]


def _control(option: int, value: int) -> None:
    """Set an attribute of this process that only Linux has."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(option, value, 0, 0, 0)


def _end_alike(code: int) -> None:
    """End this process as the command has: of a signal, if that ended it; without a core file of ours."""
    if code < 0:
        import resource  # noqa: PLC0415 - not there on every system that has profiles and URLs

        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        with contextlib.suppress(OSError, ValueError):  # of signals that have no handler
            signal.signal(-code, signal.SIG_DFL)
        os.kill(os.getpid(), -code)
    sys.exit(code)


if __name__ == "__main__":
    _end_alike(main(sys.argv[1:]))
