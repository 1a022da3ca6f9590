"""Where this project and the reference differ: knowingly, or because a part is not built yet."""

from __future__ import annotations

EXCEPTIONS: dict[str, str] = {}
"""Case id to the reason why it does not hold here, and should not."""

NOT_BUILT: dict[str, str] = {}
"""Functions and domains whose cases are skipped, and why. One that is there after all is not skipped."""
