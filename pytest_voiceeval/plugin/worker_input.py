"""Keys under which a worker of xdist gets what it needs to know of the run."""

from __future__ import annotations

FOLDER_INPUT = "voice_run_folder"
WORKER_INPUT = "voice_worker"
INVOCATION_INPUT = "voice_invocation"

CHANNEL_INPUT = "voice_channel"
"""The channel on which it tells the controller of turns."""

FILES_INPUT = "voice_files"
"""The channel for the files of one that does not see the run's folder."""
