"""What a process printed last, as a person can read it in a message."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from pathlib import Path

from pytest_voiceeval.bots.tether import printed_bytes
from pytest_voiceeval.wire.address import SHORTEST_SECRET

LAST_LINES = 15
LINE_CHARACTERS = 300
_READ_BYTES = 64 * 1024
_ESCAPES = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)?")


def last_words(log: Path, start: int, secrets: Iterable[str]) -> str:
    """Return the last lines of what was written into ``log`` after ``start`` bytes, and where they are.

    Only the end of the file is read, however long it is. What is no text, or would move the cursor, is
    replaced; long lines are cut; ``secrets`` of ``SHORTEST_SECRET`` characters or more are left out.
    """
    try:
        with log.open("rb") as file:
            since = printed_bytes(file.fileno()) - start
            size = file.seek(0, os.SEEK_END)
            file.seek(size - min(max(since, 0), size, _READ_BYTES))
            text = file.read(_READ_BYTES).decode(errors="replace")
    except OSError as exc:
        return f"Its output cannot be read: {log}: {exc.strerror}"
    for secret in sorted(secrets, key=len, reverse=True):
        if len(secret) >= SHORTEST_SECRET:
            text = text.replace(secret, "<redacted>")
    lines = [_readable(line) for line in re.split(r"\r\n|[\r\n]", _ESCAPES.sub("", text))]
    shown = [line for line in lines if line][-LAST_LINES:]
    return f"Last lines of {log}:\n" + "\n".join(shown) if shown else f"It printed nothing ({log})."


def _readable(line: str) -> str:
    clean = "".join(c if c.isprintable() or c == "\t" else "\N{REPLACEMENT CHARACTER}" for c in line.rstrip())
    return clean if len(clean) <= LINE_CHARACTERS else f"{clean[:LINE_CHARACTERS]} …"
