"""What other systems do not have: there, too, the plugin must come to calls with profiles and URLs."""

from __future__ import annotations

import subprocess
import sys

WITHOUT_POSIX = """
import os, signal, sys

for module in ("fcntl", "resource", "pwd", "grp", "termios"):
    sys.modules[module] = None
for name in ("SIGALRM", "SIGCHLD", "SIGHUP", "SIGKILL", "pthread_kill", "setitimer"):
    delattr(signal, name)
for name in ("O_NOFOLLOW", "fork", "geteuid", "getpgid", "getuid", "killpg", "pidfd_open", "setsid"):
    if hasattr(os, name):
        delattr(os, name)

import pytest_voiceeval.__main__
import pytest_voiceeval.bridge.call
import pytest_voiceeval.plugin.endpoints
import pytest_voiceeval.plugin.hooks
import pytest_voiceeval.run.evaluate
import pytest_voiceeval.run.merged_run
"""


def test_the_plugin_can_be_imported_without_what_only_posix_has() -> None:
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT_POSIX], capture_output=True, text=True, check=False, timeout=60
    )
    assert done.returncode == 0, done.stderr
