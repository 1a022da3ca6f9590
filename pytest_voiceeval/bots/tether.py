"""Runs a command and ends it when standard input ends: ``python -m pytest_voiceeval.bots.tether COMMAND …``.

The parent holds the other end of standard input. However the parent goes, killed or not, the end is
closed, and the command's process group, which must be this process's own, is ended.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time

GRACE_SECONDS = 2.0
NOT_FOUND = 127


def main(command: list[str]) -> int:
    """Run ``command``; return its exit code, or 127 if it cannot be run."""
    # A handler, not SIG_IGN, which the command would inherit: it ends, and then we do.
    signal.signal(signal.SIGTERM, lambda *_: None)
    try:
        child = subprocess.Popen(command, stdin=subprocess.DEVNULL)
    except OSError as exc:
        sys.stderr.write(f"{command[0]}: {exc.strerror}\n")
        return NOT_FOUND
    threading.Thread(target=_end_with_parent, daemon=True).start()
    return child.wait()


def _end_with_parent() -> None:
    while os.read(0, 4096):
        pass
    os.killpg(0, signal.SIGTERM)
    time.sleep(GRACE_SECONDS)
    os.killpg(0, signal.SIGKILL)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
